import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findProcessesByCommand, type RunningProcess, signalProcess, waitUntilGone } from './processes.ts';

/**
 * Given to the server as cluster_name, which PostgreSQL shows in the command line of the postmaster and in the title
 * of each of its processes: that is how processes of this data folder are told from any other server's.
 */
export function clusterMarker(dataFolder: string): string {
  return `causeway-${createHash('sha256').update(dataFolder).digest('hex').slice(0, 16)}`;
}

/**
 * After a kill -9 of the sandbox its postmaster goes on running; after a kill -9 of the postmaster its backends may, and they
 * hold the shared memory. Both are ended, then the pid file left behind is certainly stale.
 * Only to be called by the holder of the home's lock.
 */
export async function clearLeftovers(dataFolder: string): Promise<{ readonly stopped: number }> {
  const marker = clusterMarker(dataFolder);
  const found = await findPostgres(dataFolder);
  const postmasters = found.filter(({ argv }) => isPostmaster(argv, marker));
  if (postmasters.length > 0) await endPostmasters(postmasters, marker);
  await endOthers(dataFolder);
  await rm(join(dataFolder, 'postmaster.pid'), { force: true });
  return { stopped: found.length };
}

const PROGRAMS = /(^|\/)(postgres|initdb)(\s|$)/;

/** By marker the server and its backends; by folder also an initdb or a single-user server cut off half-way. */
async function findPostgres(dataFolder: string): Promise<RunningProcess[]> {
  const marker = clusterMarker(dataFolder);
  const folders = [dataFolder, `${dataFolder}.new`];
  const found = [...(await findProcessesByCommand(marker)), ...(await findProcessesByCommand(dataFolder))];
  const ours = found.filter(({ argv }) => {
    const [program = ''] = argv;
    if (program.startsWith(`postgres: ${marker}:`)) return true;
    // Padded, so that a folder whose name only begins like ours does not match.
    const line = `${argv.join(' ')} `;
    const isOurFolder = folders.some(
      (folder) => line.includes(` ${folder} `) || line.includes(`=${folder} `),
    );
    return PROGRAMS.test(program) && (line.includes(`cluster_name=${marker} `) || isOurFolder);
  });
  return [...new Map(ours.map((each) => [each.pid, each])).values()];
}

function isPostmaster(argv: readonly string[], marker: string): boolean {
  return argv.join(' ').includes(`cluster_name=${marker}`);
}

/** Fast shutdown first, which writes a checkpoint; immediate shutdown if that takes too long. */
async function endPostmasters(postmasters: readonly RunningProcess[], marker: string): Promise<void> {
  for (const [signal, timeoutMs] of [
    ['SIGINT', 8_000],
    ['SIGQUIT', 6_000],
    ['SIGKILL', 2_000],
  ] as const) {
    for (const postmaster of postmasters) await signalProcess(postmaster, signal);
    if (await waitUntilGone(postmasters, timeoutMs)) return;
  }
  throw new Error(`An earlier PostgreSQL of this sandbox (${marker}) does not stop.`);
}

/** Backends leave by themselves when they notice that the postmaster is gone; a busy one may need a push. */
async function endOthers(dataFolder: string): Promise<void> {
  const others = await findPostgres(dataFolder);
  if (others.length === 0 || (await waitUntilGone(others, 1_000))) return;
  for (const [signal, timeoutMs] of [
    ['SIGTERM', 1_000],
    ['SIGQUIT', 1_000],
    ['SIGKILL', 2_000],
  ] as const) {
    for (const other of others) await signalProcess(other, signal);
    if (await waitUntilGone(others, timeoutMs)) return;
  }
  throw new Error(`Processes of an earlier PostgreSQL in ${dataFolder} do not stop.`);
}
