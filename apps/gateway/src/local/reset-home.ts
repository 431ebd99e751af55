import { readdir, realpath, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openHome } from './home.ts';
import { clearLeftovers } from './postgres-recovery.ts';

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
