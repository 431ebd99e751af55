import { randomBytes } from 'node:crypto';
import { link, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clearLeftovers } from './postgres-recovery.ts';
import { isRunning, ownIdentity, type ProcessIdentity } from './processes.ts';

/** A folder that holds one sandbox, locked by this process. */
export interface SandboxHome {
  /** Absolute, links resolved. */
  readonly path: string;
  release(): Promise<void>;
}

interface LockHolder extends ProcessIdentity {
  readonly url: string | null;
}

const MAX_ATTEMPTS = 100;
const RETRY_MS = 10;

/** Creates the folder if need be and takes it for this process; a lock left by a dead process does not count. */
export async function openHome(folder: string, options: { url?: string } = {}): Promise<SandboxHome> {
  await mkdir(resolve(folder), { recursive: true, mode: 0o700 });
  const path = await realpath(folder);
  const lock = join(path, 'sandbox.lock');
  const holder: LockHolder = { ...(await ownIdentity()), url: options.url ?? null };
  await acquire(lock, holder, path).catch((error: unknown) => {
    if (!hasCode(error, 'EACCES') && !hasCode(error, 'EROFS')) throw error;
    throw new Error(
      `Cannot write to ${path}. Start as the user it belongs to, or set CAUSEWAY_HOME to another folder.`,
    );
  });
  return {
    path,
    async release() {
      const current = await readHolder(lock);
      if (current !== undefined && isSame(current, holder)) await rm(lock, { force: true });
    },
  };
}

/** Ready content is linked into place, so a lock is never seen half written and only one linker can win. */
async function acquire(lock: string, holder: LockHolder, home: string): Promise<void> {
  const own = `${lock}.${randomBytes(6).toString('hex')}`;
  await writeFile(own, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (await linked(own, lock)) return;
      const current = await readHolder(lock);
      if (current !== undefined && (await isRunning(current))) throw alreadyRuns(home, current);
      if (await replaceStale(lock, own)) return;
      await delay(RETRY_MS);
    }
  } finally {
    await rm(own, { force: true });
  }
  throw new Error(`Cannot lock ${home}: other starts keep taking it. Try again.`);
}

/**
 * Two starters may find the same dead lock, and the slower one must not throw away the lock that the faster one has
 * put there since. So only one at a time may remove a lock, and it looks again before it does.
 */
async function replaceStale(lock: string, own: string): Promise<boolean> {
  const turn = `${lock}.turn`;
  if (!(await linked(own, turn))) {
    const other = await readHolder(turn);
    if (other === undefined || !(await isRunning(other))) await rm(turn, { force: true });
    return false;
  }
  try {
    const current = await readHolder(lock);
    if (current !== undefined && (await isRunning(current))) return false;
    await rm(lock, { force: true });
    return await linked(own, lock);
  } finally {
    await rm(turn, { force: true });
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Undefined when there is no lock, or one that no start of ours could have written. */
async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    const value: Partial<LockHolder> | null = JSON.parse(await readFile(path, 'utf8'));
    if (typeof value?.pid !== 'number' || typeof value.startedAt !== 'string') return undefined;
    return { pid: value.pid, startedAt: value.startedAt, url: value.url ?? null };
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt;
}

function alreadyRuns(home: string, holder: LockHolder): Error {
  const where = holder.url === null ? `pid ${holder.pid}` : `pid ${holder.pid}, ${holder.url}`;
  return new Error(
    `A sandbox already runs in ${home} (${where}). Stop it, or set CAUSEWAY_HOME to another folder.`,
  );
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

export interface ResetHome {
  readonly path: string;
  readonly removed: readonly string[];
  /** Whatever no sandbox writes: the folder may be more than a sandbox's. */
  readonly kept: readonly string[];
}

const WRITTEN_BY_SANDBOX =
  /^(chains|documents|postgres(\.new)?|postgres-port|postgres-secrets\.json|postgres\.log(\.previous)?|sandbox-secrets\.json|sandbox\.json)$/;

/** Removes a sandbox that does not run; a database that a crash left running in it is ended first. */
export async function resetHome(folder: string): Promise<ResetHome> {
  const exists = await realpath(folder).then(
    () => true,
    () => false,
  );
  if (!exists) return { path: resolve(folder), removed: [], kept: [] };
  const home = await openHome(folder);
  try {
    await clearLeftovers(join(home.path, 'postgres'));
    const names = (await readdir(home.path)).filter((name) => !name.startsWith('sandbox.lock'));
    const removed = names.filter((name) => WRITTEN_BY_SANDBOX.test(name));
    for (const name of removed) await rm(join(home.path, name), { recursive: true, force: true });
    return { path: home.path, removed, kept: names.filter((name) => !removed.includes(name)) };
  } finally {
    await home.release();
  }
}
