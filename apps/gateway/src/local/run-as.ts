import { access, chmod, chown, constants, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** How to start a program that refuses to run as root. Empty for an ordinary user: it runs as itself. */
export interface RunAs {
  readonly owner?: Account;
  /** Passed to spawn. */
  readonly spawn: { readonly uid?: number; readonly gid?: number };
  /** Command to put in front, with its arguments. */
  readonly prefix: readonly string[];
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Accounts that a machine has anyway. None is created: a sandbox does not change the machine's users. */
const CANDIDATES = ['postgres', 'nobody'];
const SETPRIV_PLACES = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/sbin/setpriv'];

/**
 * Chooses the account and makes sure that it can reach `program` and everything below `home`.
 * `dataFolder`, when it exists, keeps the owner that it was created with.
 */
export async function chooseRunAs(home: string, dataFolder: string, program: string): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { spawn: {}, prefix: [] };
  const account = (await ownerOf(dataFolder)) ?? (await findAccount());
  // Only that account's group may pass through, and it may still not list: the secrets inside stay private.
  if (!(await mayEnter(home, account))) {
    await chown(home, 0, account.gid);
    await chmod(home, 0o710);
  }
  if ((await mayReach(home, account)) && (await mayReach(dirname(program), account))) {
    return { owner: account, spawn: { uid: account.uid, gid: account.gid }, prefix: [] };
  }
  return { owner: account, spawn: {}, prefix: await setprivPrefix(account, home, dirname(program)) };
}

async function ownerOf(path: string): Promise<Account | undefined> {
  const info = await stat(path).catch(() => undefined);
  return info === undefined || info.uid === 0 ? undefined : { uid: info.uid, gid: info.gid };
}

async function findAccount(): Promise<Account> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n');
  for (const name of CANDIDATES) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    // Unsigned, because macOS writes nobody as -2.
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
  }
  throw new Error(
    'PostgreSQL refuses to run as root and this machine has neither a "postgres" nor a "nobody" account. ' +
      'Start the sandbox as an ordinary user, or set DATABASE_URL.',
  );
}

async function mayEnter(folder: string, account: Account): Promise<boolean> {
  const { mode, uid, gid } = await stat(folder);
  if (uid === account.uid) return (mode & 0o100) !== 0;
  if (gid === account.gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
}

async function mayReach(folder: string, account: Account): Promise<boolean> {
  const parent = dirname(folder);
  if (!(await mayEnter(folder, account))) return false;
  return parent === folder || (await mayReach(parent, account));
}

/**
 * A checkout below /root cannot be entered by another account, and opening /root is not ours to do. Root may
 * hand on the one right that is missing: the process is not root, which is all that PostgreSQL asks.
 */
async function setprivPrefix(account: Account, home: string, programs: string): Promise<string[]> {
  for (const setpriv of SETPRIV_PLACES) {
    try {
      await access(setpriv, constants.X_OK);
    } catch {
      continue;
    }
    return [
      setpriv,
      `--reuid=${account.uid}`,
      `--regid=${account.gid}`,
      '--clear-groups',
      '--inh-caps=+dac_override',
      '--ambient-caps=+dac_override',
      '--',
    ];
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and the account it would use (uid ${account.uid}) may not enter ${home} or ${programs}. ` +
      'Start the sandbox as an ordinary user, move it out of a private folder, or set DATABASE_URL.',
  );
}
