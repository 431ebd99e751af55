import { fork } from 'node:child_process';
import { once } from 'node:events';
import { endedWithTheRun } from './interruption.ts';
import type { LoadRequest } from './load.ts';

export interface RunningServer {
  readonly url: string;
  readonly request?: LoadRequest;
  stop(): Promise<void>;
}

export interface ServerProcess extends RunningServer {
  readonly pid: number | undefined;
}

export interface ServerProcessOptions {
  /** A script that calls `process.send({ url })` once it listens, and ends on SIGTERM. */
  readonly script: URL;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly request?: LoadRequest;
}

const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;

/** Starts a server as a child process, for contenders that should share neither heap nor event loop. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const child = fork(options.script, [...(options.args ?? [])], {
    execArgv: [],
    env: { ...process.env, ...options.env },
  });
  const exited = once(child, 'exit');
  const stop = endedWithTheRun(async () => {
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(force);
  });
  try {
    const timeout = AbortSignal.timeout(READY_TIMEOUT_MS);
    const endedEarly = exited.then(([code]) => {
      throw new Error(`server process ended early with code ${code}`);
    });
    // Once it is ready, its end is no longer an error.
    endedEarly.catch(() => {});
    const [ready] = await Promise.race([once(child, 'message', { signal: timeout }), endedEarly]);
    const { url } = ready as { url: string };
    return { url, pid: child.pid, stop, ...(options.request && { request: options.request }) };
  } catch (error) {
    await stop();
    throw error;
  }
}
