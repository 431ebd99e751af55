import { spawn } from 'node:child_process';
import { open, readFile, rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

export interface ChildCommand {
  /** For messages: "PostgreSQL". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited, so that a user's PG… settings cannot leak in. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly logFile: string;
}

export interface Child {
  readonly pid: number;
  readonly logFile: string;
  /** Resolves, never rejects, with a sentence about the end. */
  readonly exited: Promise<string>;
  hasExited(): boolean;
  /** Signals in turn, each with its timeout, until the process has ended. */
  stop(ladder: readonly StopStep[]): Promise<void>;
}

interface StopStep {
  readonly signal: NodeJS.Signals;
  readonly timeoutMs: number;
}

/**
 * Starts a process in its own session, so that a Ctrl-C at the terminal reaches only us and we stop it in order.
 * Its output goes to a file, not to a pipe: a pipe would break under it if we were killed.
 */
export async function startChild(spec: ChildCommand): Promise<Child> {
  await rename(spec.logFile, `${spec.logFile}.previous`).catch(() => undefined);
  const log = await open(spec.logFile, 'w', 0o600);
  try {
    const child = spawn(spec.command, [...spec.args], {
      cwd: spec.cwd,
      env: { ...spec.env },
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
      ...(spec.uid === undefined ? {} : { uid: spec.uid }),
      ...(spec.gid === undefined ? {} : { gid: spec.gid }),
    });
    let ended = false;
    const exited = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`${spec.name} could not be started: ${error.message}`));
      child.once('exit', (code, signal) =>
        resolve(`${spec.name} ended (${signal === null ? `exit code ${code}` : `signal ${signal}`})`),
      );
    }).then((sentence) => {
      ended = true;
      return sentence;
    });
    if (child.pid === undefined) throw new Error(await exited);
    return {
      pid: child.pid,
      logFile: spec.logFile,
      exited,
      hasExited: () => ended,
      stop: async (ladder) => {
        for (const { signal, timeoutMs } of ladder) {
          if (ended) return;
          child.kill(signal);
          await Promise.race([exited, delay(timeoutMs, undefined, { ref: false })]);
        }
        if (!ended) throw new Error(`${spec.name} (pid ${child.pid}) does not stop.`);
      },
    };
  } finally {
    await log.close();
  }
}

const TAIL_LINES = 6;

/** What the process said last, for an error message. */
export async function lastLogLines(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}
