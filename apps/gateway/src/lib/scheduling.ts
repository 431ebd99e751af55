import { spawnSync } from 'node:child_process';

/** The lowest of Linux's real-time priorities comes before everything that has none. */
const LOWEST = '1';

/**
 * Has the main thread of a process run as soon as it has something to do, ahead of everything ordinary on the machine. A
 * scheduler that is fair to all has an event loop, which sleeps and wakes thousands of times a second, wait behind whatever
 * runs just then, such as the database. Its other threads and the programs that it starts stay ordinary, and Linux keeps a
 * twentieth of the time for them.
 */
export function takePrecedence(pid = process.pid): void {
  const args = ['--rr', '--reset-on-fork', '--pid', LOWEST, String(pid)];
  const { error, status, stderr } = spawnSync('chrt', args, { encoding: 'utf8' });
  if (error === undefined && status === 0) return;
  const why = error === undefined ? stderr.trim() : 'there is no chrt, of util-linux';
  throw new Error(
    `real-time scheduling (API_SCHEDULING) is not to be had here: ${why}. It needs Linux and the right to it, LimitRTPRIO=1 of systemd or CAP_SYS_NICE.`,
  );
}
