import { isCausewayError } from '@causeway/sdk';
import { flag, type Invocation, type Run, text } from '../command.ts';
import { classOf, kindOf } from '../deployment.ts';
import { CommandError, EXIT } from '../exit.ts';
import {
  KEY_VARIABLES,
  type KeyClass,
  profileOf,
  readConfig,
  type StoredProfile,
  safeAddress,
  sandboxOf,
  writeConfig,
} from '../profile.ts';
import { createPrompt, type Prompt, readAll } from '../prompt.ts';

const PROFILE_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Saves an address with a key that the service has accepted, and makes it the current profile. */
export const login: Run = async (invocation) => {
  if (flag(invocation, 'sandbox')) return loginToSandbox(invocation);
  const { env, stdin, output, signal } = invocation;
  const config = await readConfig(env);
  const name = nameOf(invocation) ?? 'default';
  const before = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
  const prompt = stdin.isTTY === true ? createPrompt(stdin, output, signal) : undefined;
  let entered: Entered;
  try {
    entered = await enter(invocation, before, prompt);
  } finally {
    await prompt?.close();
  }
  const { baseUrl, key } = entered;
  if (before !== undefined && before.base_url !== baseUrl) {
    throw new CommandError(`The profile “${name}” is of ${before.base_url}.`, {
      exitCode: EXIT.refused,
      hint: `Give --name for another one, or run causeway logout ${name} first.`,
    });
  }
  output.progress(`Asking ${baseUrl} …`);
  const keyClass = await checkedClass(invocation, baseUrl, key);
  const kind = await kindOf(baseUrl, signal);
  const stored: StoredProfile = { base_url: baseUrl, kind, keys: { ...before?.keys, [keyClass]: key } };
  const file = await writeConfig(env, {
    current: name,
    profiles: { ...config.profiles, [name]: stored },
  });
  tell(invocation, { name, stored, file, saved: [keyClass] });
};

interface Entered {
  readonly baseUrl: string;
  readonly key: string;
}

async function enter(
  invocation: Invocation,
  before: StoredProfile | undefined,
  prompt: Prompt | undefined,
): Promise<Entered> {
  const { env, stdin, signal } = invocation;
  const address = text(invocation, 'base-url') ?? (env.CAUSEWAY_BASE_URL || undefined) ?? before?.base_url;
  const baseUrl = safeAddress(
    address ?? (await prompt?.ask('Address of the deployment: ')) ?? missing('--base-url'),
  );
  if (flag(invocation, 'key-stdin')) return { baseUrl, key: givenKey(await readAll(stdin, signal)) };
  const ofEnvironment = keyOfEnvironment(invocation, baseUrl);
  if (ofEnvironment !== undefined) return { baseUrl, key: ofEnvironment };
  return { baseUrl, key: givenKey((await prompt?.askHidden('Key: ')) ?? missing('--key-stdin')) };
}

/** A key of the environment goes to the address of the environment only, where it has one. */
function keyOfEnvironment(invocation: Invocation, baseUrl: string): string | undefined {
  const { env } = invocation;
  if (env.CAUSEWAY_BASE_URL && safeAddress(env.CAUSEWAY_BASE_URL) !== baseUrl) return undefined;
  return env[KEY_VARIABLES[(text(invocation, 'as') ?? 'partner') as KeyClass]] || undefined;
}

function givenKey(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new CommandError(key === '' ? 'No key was given.' : 'That is no key: it is one word.', {
    exitCode: EXIT.usage,
  });
}

function missing(option: string): never {
  throw new CommandError(`Without a terminal to ask at, causeway login needs ${option}.`, {
    exitCode: EXIT.usage,
    hint: 'causeway help login says how scripts give a key.',
  });
}

async function checkedClass(invocation: Invocation, baseUrl: string, key: string): Promise<KeyClass> {
  const wanted = text(invocation, 'as');
  let found: KeyClass;
  try {
    found = await classOf(baseUrl, key, invocation.signal);
  } catch (error) {
    if (isCausewayError(error) && error.status === 401) {
      throw new CommandError(`${baseUrl} does not accept this key; nothing was saved.`, {
        exitCode: EXIT.unauthorized,
        hint: 'It may be of another deployment, revoked, or a publishable one (cw_widget_…).',
      });
    }
    throw error;
  }
  if (wanted !== undefined && wanted !== found) {
    throw new CommandError(`This is the key of a ${found}, not of a ${wanted}; nothing was saved.`, {
      exitCode: EXIT.unauthorized,
      hint: `Leave --as out, or give --as ${found}.`,
    });
  }
  return found;
}

async function loginToSandbox(invocation: Invocation): Promise<void> {
  const { env, folder, signal } = invocation;
  const sandbox = await sandboxOf(folder, env);
  if (sandbox === undefined) {
    throw new CommandError('There is no sandbox in this folder.', {
      hint: 'npm start makes one; CAUSEWAY_HOME says where it is if it is elsewhere.',
    });
  }
  const { keys } = sandbox;
  const baseUrl = safeAddress(sandbox.baseUrl);
  if (keys.partner !== undefined) await classOf(baseUrl, keys.partner, signal);
  const config = await readConfig(env);
  const name = nameOf(invocation) ?? 'sandbox';
  const stored: StoredProfile = { base_url: baseUrl, kind: await kindOf(baseUrl, signal), keys };
  const file = await writeConfig(env, { current: name, profiles: { ...config.profiles, [name]: stored } });
  tell(invocation, { name, stored, file, saved: Object.keys(keys) });
}

function nameOf(invocation: Invocation): string | undefined {
  const name = text(invocation, 'name') ?? text(invocation, 'profile');
  if (name === undefined || PROFILE_NAME.test(name)) return name;
  throw new CommandError('A profile’s name has letters, digits, dots, dashes and underscores.', {
    exitCode: EXIT.usage,
  });
}

function tell(
  { output }: Invocation,
  {
    name,
    stored,
    file,
    saved,
  }: { name: string; stored: StoredProfile; file: string; saved: readonly string[] },
): void {
  const { baseUrl, kind } = profileOf(name, stored, file);
  output.result({ profile: name, base_url: baseUrl, kind, saved_keys: saved, file }, (paint) =>
    [
      `${paint('green', 'Logged in')} to ${baseUrl} (${kind}) as ${saved.join(', ')}: profile “${name}”.`,
      `Saved in ${file}, which only you can read.`,
    ].join('\n'),
  );
}
