import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError } from '../exit.ts';
import { configPath, type Profile } from '../profile.ts';

type Env = Readonly<Record<string, string | undefined>>;

const SECRET_VARIABLE = 'CAUSEWAY_WEBHOOK_SECRET';

function folderOf(env: Env): string {
  return join(dirname(configPath(env)), 'listen');
}

/** The profile's own, made at its first use: a receiver that knows it works tomorrow as well. The environment's comes first. */
export async function webhookSecret(env: Env, profile: Profile): Promise<string> {
  const given = env[SECRET_VARIABLE];
  if (given !== undefined && given !== '') return given;
  const path = join(folderOf(env), `${encodeURIComponent(profile.name)}.secret`);
  const known = await readText(path);
  if (known !== undefined) return known.trim();
  const secret = `whsec_${randomBytes(32).toString('base64url')}`;
  try {
    // A link, because it takes nobody's place and is there with all of its text.
    await putInPlace(path, `${secret}\n`, 0o600, link);
    return secret;
  } catch (error) {
    // Another one was quicker: both use its secret.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return webhookSecret(env, profile);
    throw cannotWrite(path, error);
  }
}

/** Sets the secret in a file of variables and leaves its other lines as they are. */
export async function writeEnvFile(path: string, secret: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const before = (await readText(target)) ?? '';
  const line = `${SECRET_VARIABLE}=${secret}`;
  const pattern = new RegExp(`^([ \\t]*(?:export[ \\t]+)?)${SECRET_VARIABLE}[ \\t]*=.*$`, 'gm');
  const ending = before === '' || before.endsWith('\n') ? '' : '\n';
  const after = pattern.test(before)
    ? before.replace(pattern, (_whole, lead: string) => lead + line)
    : `${before}${ending}${line}\n`;
  if (after === before) return;
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  await replaceFile(target, after, mode);
}

/** How far the events of one partner have been forwarded to one address. */
export interface SavedCursor {
  read(): Promise<string | undefined>;
  save(cursor: string): Promise<void>;
}

/**
 * One file a deployment, key and address, so that listeners beside each other do not overwrite each other. The key belongs
 * to it because a cursor counts the events of one partner only.
 */
export function savedCursor(env: Env, profile: Profile, forwardTo: string): SavedCursor {
  const key = profile.keys.partner ?? '';
  const parts = [profile.name, profile.baseUrl, sha256(key).slice(0, 16), forwardTo];
  const path = join(folderOf(env), `${sha256(JSON.stringify(parts)).slice(0, 32)}.json`);
  return {
    async read() {
      const written = await readText(path);
      if (written === undefined) return undefined;
      const cursor = cursorOf(written);
      if (cursor !== undefined) return cursor;
      throw new CommandError(`${path} is not a saved cursor.`, { hint: 'Delete it, or give --from.' });
    },
    async save(cursor) {
      const state = { profile: profile.name, base_url: profile.baseUrl, forward_to: forwardTo, cursor };
      await replaceFile(path, `${JSON.stringify(state)}\n`, 0o600);
    },
  };
}

function cursorOf(written: string): string | undefined {
  try {
    const { cursor } = JSON.parse(written) as { cursor?: unknown };
    return typeof cursor === 'string' && /^\d{1,18}$/.test(cursor) ? cursor : undefined;
  } catch {
    return undefined;
  }
}

/** A kill leaves the old one or the new one, never half of it. */
async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  await putInPlace(path, text, mode, rename).catch((error: unknown) => {
    throw cannotWrite(path, error);
  });
}

/** Written beside first. What holds a secret is nobody else's to read at any moment, and is not left behind. */
async function putInPlace(
  path: string,
  text: string,
  mode: number,
  put: (beside: string, path: string) => Promise<void>,
): Promise<void> {
  // A name of its own: two containers that share the folder may have the same pid.
  const beside = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(beside, text, { mode: 0o600, flag: 'wx' });
    await chmod(beside, mode);
    await put(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}

function cannotWrite(path: string, error: unknown): CommandError {
  return new CommandError(`${path} cannot be written: ${(error as Error).message}`);
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
