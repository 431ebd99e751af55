import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { CommandError, EXIT } from './exit.ts';

export type KeyClass = 'partner' | 'vendor' | 'operator';

/** One deployment and the keys for it. */
export interface Profile {
  readonly name: string;
  readonly baseUrl: string;
  readonly keys: Readonly<Partial<Record<KeyClass, string>>>;
  /** Where it was found: told by `doctor` and in errors. */
  readonly source: string;
}

export interface StoredProfile {
  readonly base_url: string;
  readonly keys: Readonly<Partial<Record<KeyClass, string>>>;
}

export interface ConfigFile {
  readonly current: string;
  readonly profiles: Readonly<Record<string, StoredProfile>>;
}

/** `sandbox.json` of a sandbox started here, as far as the command line needs it. */
interface SandboxFile {
  readonly base_url: string;
  readonly operator_key: string;
  readonly partners: readonly { readonly api_key: string }[];
  readonly vendors: readonly { readonly api_key: string }[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** The user's folder for configuration, as each system has it. */
export function configPath(env: Env): string {
  const folder =
    env.CAUSEWAY_CONFIG_DIR ??
    join(env.XDG_CONFIG_HOME ?? env.APPDATA ?? join(homedir(), '.config'), 'causeway');
  return join(folder, 'config.json');
}

export async function readConfig(env: Env): Promise<ConfigFile> {
  const path = configPath(env);
  const written = await readJson(path);
  if (written === undefined) return { current: 'default', profiles: {} };
  const { current, profiles } = written as Partial<ConfigFile>;
  if (typeof current !== 'string' || typeof profiles !== 'object' || profiles === null) {
    throw new CommandError(`${path} is not a configuration of causeway.`, {
      hint: 'Delete it and run causeway login.',
    });
  }
  return { current, profiles };
}

/** Written beside and renamed: a crash leaves the old one. Only its owner may read it. */
export async function writeConfig(env: Env, config: ConfigFile): Promise<string> {
  const path = configPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const beside = `${path}.${process.pid}`;
  await writeFile(beside, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  await chmod(beside, 0o600);
  await rename(beside, path);
  return path;
}

/**
 * In this order: `--profile`, the environment, the profile that `causeway login` made current, a sandbox of this folder.
 * A key of the environment never goes to the address of another profile.
 */
export async function findProfile(env: Env, wanted: string | undefined, folder: string): Promise<Profile> {
  if (wanted === undefined && env.CAUSEWAY_BASE_URL !== undefined) {
    return {
      name: 'environment',
      baseUrl: env.CAUSEWAY_BASE_URL,
      keys: keysOf({
        partner: env.CAUSEWAY_API_KEY,
        vendor: env.CAUSEWAY_VENDOR_KEY,
        operator: env.CAUSEWAY_OPERATOR_KEY,
      }),
      source: 'CAUSEWAY_BASE_URL',
    };
  }
  const { current, profiles } = await readConfig(env);
  const name = wanted ?? current;
  const stored = profiles[name];
  if (stored !== undefined) {
    return { name, baseUrl: stored.base_url, keys: stored.keys, source: configPath(env) };
  }
  if (wanted === undefined || wanted === 'sandbox') {
    const sandbox = await sandboxOf(folder);
    if (sandbox !== undefined) return sandbox;
  }
  throw new CommandError(
    wanted === undefined ? 'No deployment is known.' : `There is no profile “${wanted}”.`,
    {
      exitCode: EXIT.unauthorized,
      hint: 'Run causeway login, or start a sandbox in this folder with npm start.',
    },
  );
}

/** The sandbox that runs from this folder, so that its first command needs no login. */
export async function sandboxOf(folder: string): Promise<Profile | undefined> {
  const path = resolve(folder, '.causeway/sandbox.json');
  const sandbox = (await readJson(path)) as SandboxFile | undefined;
  if (sandbox === undefined) return undefined;
  return {
    name: 'sandbox',
    baseUrl: sandbox.base_url,
    keys: keysOf({
      partner: sandbox.partners[0]?.api_key,
      vendor: sandbox.vendors[0]?.api_key,
      operator: sandbox.operator_key,
    }),
    source: path,
  };
}

function keysOf(keys: Readonly<Record<KeyClass, string | undefined>>): Profile['keys'] {
  return Object.fromEntries(Object.entries(keys).filter(([, key]) => key !== undefined && key !== ''));
}

async function readJson(path: string): Promise<unknown> {
  let written: string;
  try {
    written = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(written);
  } catch {
    throw new CommandError(`${path} is no JSON.`);
  }
}
