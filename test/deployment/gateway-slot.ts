import { setTimeout as sleep } from 'node:timers/promises';
import { type GatewayProcess, startProcess } from '../harness/process.ts';

/** A place in a deployment where one process of the gateway runs; whatever ends it, it is started again. */
export interface GatewaySlot {
  readonly name: string;
  readonly role: 'api' | 'worker';
  /** Ended after it was ready, without being told to: a crash of the program itself. */
  readonly crashes: readonly string[];
  /** The process that runs now says that it is ready. */
  ready(): Promise<void>;
  /** As a power cut does. Resolves when it has ended; it is started again at once. */
  kill(): Promise<void>;
  /** Ends it for good, in order: it finishes what it has begun. Answers with the exit code, or the signal. */
  stop(): Promise<number | string>;
}

const RESTART_PAUSE_MS = 100;
/** Of the output of a process that ended by itself. */
const TAIL_CHARACTERS = 2_000;

export function keepRunning(
  name: string,
  role: GatewaySlot['role'],
  env: Readonly<Record<string, string>>,
): GatewaySlot {
  const crashes: string[] = [];
  let isStopped = false;
  let isKilled = false;
  let current = startProcess(env, [role]);
  const running = keep();

  async function keep(): Promise<void> {
    for (;;) {
      const process = current;
      const end = await process.exited;
      if (isStopped) return;
      if (!isKilled && isReady(process)) crashes.push(`${name}: ${end}\n${tailOf(process)}`);
      // A start fails while the database or the chain is away; whatever runs it tries again.
      if (!isKilled) await sleep(RESTART_PAUSE_MS);
      if (isStopped) return;
      isKilled = false;
      current = startProcess(env, [role]);
    }
  }

  return {
    name,
    role,
    crashes,
    async ready() {
      for (;;) {
        const process = current;
        if (isReady(process)) return;
        await Promise.race([process.ready().catch(() => undefined), process.exited]);
        if (process === current && isReady(process)) return;
        await sleep(RESTART_PAUSE_MS);
      }
    },
    async kill() {
      const process = current;
      if (hasEnded(process)) return;
      isKilled = true;
      process.child.kill('SIGKILL');
      await process.exited;
    },
    async stop() {
      isStopped = true;
      if (!hasEnded(current)) current.child.kill('SIGTERM');
      await running;
      return current.exited;
    },
  };
}

function isReady(process: GatewayProcess): boolean {
  return process.output().includes('is ready.');
}

function hasEnded({ child }: GatewayProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function tailOf(process: GatewayProcess): string {
  return process.output().slice(-TAIL_CHARACTERS);
}
