import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const POLL_MS = 20;

/** A process told apart from any later one that gets the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; equal only for the same life of the same pid. */
  readonly startedAt: string;
}

export interface RunningProcess extends ProcessIdentity {
  /** Arguments as started; one element where the platform only shows the joined line, or a process renamed itself. */
  readonly argv: readonly string[];
}

/** Undefined when no live process has this pid. A zombie counts as dead: it holds nothing any more. */
async function startOfProcess(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
}

export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  return (await startOfProcess(identity.pid)) === identity.startedAt;
}

export async function ownIdentity(): Promise<ProcessIdentity> {
  const startedAt = await startOfProcess(process.pid);
  if (startedAt === undefined) {
    throw new Error('Cannot tell when this process started: neither /proc nor ps shows it.');
  }
  return { pid: process.pid, startedAt };
}

/** Every process whose command line holds `text`; command lines are readable where /proc/<pid>/cwd and exe are not. */
export async function findProcessesByCommand(text: string): Promise<RunningProcess[]> {
  const commands = process.platform === 'linux' ? await commandsFromProc() : await commandsFromPs();
  const found: RunningProcess[] = [];
  for (const { pid, argv } of commands) {
    if (pid === process.pid || !argv.some((argument) => argument.includes(text))) continue;
    const startedAt = await startOfProcess(pid);
    if (startedAt !== undefined) found.push({ pid, startedAt, argv });
  }
  return found;
}

/** Signals only the very process that was identified, never another process that inherited its pid. */
export async function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<void> {
  if (!(await isRunning(identity))) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** True when all of them are gone within the time. */
export async function waitUntilGone(
  identities: readonly ProcessIdentity[],
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const alive = await Promise.all(identities.map(isRunning));
    if (!alive.includes(true)) return true;
    if (performance.now() >= deadline) return false;
    await delay(POLL_MS);
  }
}

let bootId: Promise<string> | undefined;

async function startFromProc(pid: number): Promise<string | undefined> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The second field is the program's name in brackets and may hold anything, so fields are counted after the last one.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticksSinceBoot = rest[18];
  if (state === 'Z' || state === 'X' || ticksSinceBoot === undefined) return undefined;
  bootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => 'unknown-boot',
  );
  return `${await bootId}:${ticksSinceBoot}`;
}

async function startFromPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
    const [state = '', ...started] = stdout.trim().split(/\s+/);
    return state === '' || state.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined;
  }
}

interface Command {
  readonly pid: number;
  readonly argv: readonly string[];
}

async function commandsFromProc(): Promise<Command[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    pids.map(async (pid) => {
      // A process may end while the list is read.
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return { pid: Number(pid), argv: line.split('\0').filter((argument) => argument !== '') };
    }),
  );
  return commands.filter(({ argv }) => argv.length > 0);
}

async function commandsFromPs(): Promise<Command[]> {
  const { stdout } = await run('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(.*)$/.exec(line);
    return match ? [{ pid: Number(match[1]), argv: [match[2] ?? ''] }] : [];
  });
}
