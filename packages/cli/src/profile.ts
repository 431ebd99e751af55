import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { CommandError, EXIT } from './exit.ts';

export const KEY_CLASSES = ['partner', 'vendor', 'operator'] as const;
export type KeyClass = (typeof KEY_CLASSES)[number];

/** Whether real money moves there. */
export type DeploymentKind = 'live' | 'sandbox';

/** One deployment and the keys for it. */
export interface Profile {
  readonly name: string;
  readonly baseUrl: string;
  readonly keys: Readonly<Partial<Record<KeyClass, string>>>;
  /** Where it was found: told by `doctor` and in errors. */
  readonly source: string;
  /** As `causeway login` found it; not known of an address from the environment. */
  readonly kind?: DeploymentKind;
}

export interface StoredProfile {
  readonly base_url: string;
  readonly kind?: DeploymentKind;
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

/** The variable of the environment that has the key of a class. */
export const KEY_VARIABLES = {
  partner: 'CAUSEWAY_API_KEY',
  vendor: 'CAUSEWAY_VENDOR_KEY',
  operator: 'CAUSEWAY_OPERATOR_KEY',
} as const satisfies Record<KeyClass, string>;

/** The user's folder for configuration, as each system has it. */
export function configPath(env: Env): string {
  const folder =
    env.CAUSEWAY_CONFIG_DIR ||
    join(env.XDG_CONFIG_HOME || env.APPDATA || join(env.HOME || homedir(), '.config'), 'causeway');
  return join(folder, 'config.json');
}

export async function readConfig(env: Env): Promise<ConfigFile> {
  const path = configPath(env);
  const written = await readJson(path);
  if (written === undefined) return { current: 'default', profiles: {} };
  if (!isConfig(written)) {
    throw new CommandError(`${path} is not a configuration of causeway.`, {
      hint: 'Delete it and run causeway login.',
    });
  }
  return written;
}

function isConfig(written: unknown): written is ConfigFile {
  const { current, profiles } = (written ?? {}) as Partial<ConfigFile>;
  return (
    typeof current === 'string' &&
    typeof profiles === 'object' &&
    profiles !== null &&
    Object.values(profiles).every(
      (one) => typeof one?.base_url === 'string' && typeof one.keys === 'object' && one.keys !== null,
    )
  );
}

/** Written beside and renamed: a crash leaves the old one. Only its owner may read it. */
export async function writeConfig(env: Env, config: ConfigFile): Promise<string> {
  const path = configPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const beside = `${path}.${randomUUID()}`;
  try {
    await writeFile(beside, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await chmod(beside, 0o600);
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}`);
  }
  return path;
}

/** The address without a path, for a key to be sent to: over plain http to this machine only. */
export function safeAddress(address: string): string {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new CommandError(`“${address}” is no address.`, {
      exitCode: EXIT.usage,
      hint: 'It is that of the deployment, such as https://api.example.com.',
    });
  }
  const isPlain = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (!['http:', 'https:'].includes(url.protocol) || !isPlain || url.password !== '') {
    throw new CommandError(`“${address}” is no address of a deployment.`, {
      exitCode: EXIT.usage,
      hint: 'It has a scheme and a host, and no path: https://api.example.com.',
    });
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new CommandError(`A key is not sent to ${url.origin}: anybody on the way could read it.`, {
      exitCode: EXIT.refused,
      hint: 'Use https; plain http is for this machine only (localhost, 127.0.0.1).',
    });
  }
  return url.origin;
}

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
  );
}

/**
 * In this order: `--profile`, the environment, the profile that `causeway login` made current, a sandbox of this folder.
 * A key of the environment never goes to the address of another profile.
 */
export async function findProfile(env: Env, wanted: string | undefined, folder: string): Promise<Profile> {
  if (wanted === undefined && env.CAUSEWAY_BASE_URL) return environmentOf(env.CAUSEWAY_BASE_URL, env);
  const { current, profiles } = await readConfig(env);
  const name = wanted ?? current;
  const stored = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (stored !== undefined) return profileOf(name, stored, configPath(env));
  if (wanted === undefined || wanted === 'sandbox') {
    const sandbox = await sandboxOf(folder, env);
    if (sandbox !== undefined) return sandbox;
  }
  const lonely = KEY_CLASSES.map((one) => KEY_VARIABLES[one]).find((variable) => env[variable]);
  const hint =
    lonely === undefined
      ? 'Run causeway login, or start a sandbox in this folder with npm start.'
      : `${lonely} is set, but not CAUSEWAY_BASE_URL: a key is sent to its own address only.`;
  throw new CommandError(
    wanted === undefined ? 'No deployment is known.' : `There is no profile “${wanted}”.`,
    { exitCode: EXIT.unauthorized, hint },
  );
}

export function profileOf(name: string, stored: StoredProfile, source: string): Profile {
  const { base_url: baseUrl, keys, kind } = stored;
  return { name, baseUrl, keys, source, ...(kind === undefined ? {} : { kind }) };
}

function environmentOf(baseUrl: string, env: Env): Profile {
  const keys = Object.fromEntries(KEY_CLASSES.map((one) => [one, env[KEY_VARIABLES[one]]]));
  return { name: 'environment', baseUrl, keys: keysOf(keys), source: 'CAUSEWAY_BASE_URL' };
}

/** Where a sandbox that was started in a folder describes itself. */
export function sandboxPath(folder: string, env: Env): string {
  return resolve(folder, env.CAUSEWAY_HOME || '.causeway', 'sandbox.json');
}

/** The sandbox that runs from this folder, so that its first command needs no login. */
export async function sandboxOf(folder: string, env: Env = {}): Promise<Profile | undefined> {
  const path = sandboxPath(folder, env);
  const sandbox = (await readJson(path)) as SandboxFile | undefined;
  if (sandbox === undefined) return undefined;
  if (typeof sandbox?.base_url !== 'string' || !Array.isArray(sandbox.partners)) {
    throw new CommandError(`${path} does not describe a sandbox.`, { hint: 'npm start writes it anew.' });
  }
  return {
    name: 'sandbox',
    baseUrl: sandbox.base_url,
    keys: keysOf({
      partner: sandbox.partners[0]?.api_key,
      vendor: sandbox.vendors?.[0]?.api_key,
      operator: sandbox.operator_key,
    }),
    source: path,
    kind: 'sandbox',
  };
}

function keysOf(keys: Readonly<Partial<Record<KeyClass, string | undefined>>>): Profile['keys'] {
  return Object.fromEntries(Object.entries(keys).filter(([, key]) => key !== undefined && key !== ''));
}

async function readJson(path: string): Promise<unknown> {
  let written: string;
  try {
    written = await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(written);
  } catch {
    throw new CommandError(`${path} is no JSON.`);
  }
}
