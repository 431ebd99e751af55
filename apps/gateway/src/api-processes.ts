import cluster, { type Worker as ClusterWorker } from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChainSettings } from './chain/chain-settings.ts';
import { type Config, FEWEST_CONNECTIONS } from './config.ts';
import type { Check } from './features/health/health.routes.ts';
import type { Logger } from './lib/logger.ts';

/**
 * Several processes that serve the API on one port (`API_PROCESSES`). This one accepts connections and hands them out in
 * turn; each of them is an api as any other, with a pool of its own. One that dies is replaced.
 */
export interface ApiProcesses {
  /** Whether any of them serves: one that is being replaced takes nothing from the others. */
  readonly check: Check;
  /** Each ends as it does by itself on SIGTERM; what has not ended in time is killed. */
  stop(): Promise<void>;
}

/** What a process of the API cannot know by itself. */
export interface ApiBrief {
  readonly port: number;
  /** Its place among the others, from 1. */
  readonly place: number;
  /** A sandbox's ground, which its first process has laid. */
  readonly sandbox?: {
    readonly home: string;
    readonly databaseUrl: string;
    readonly chains: readonly ChainSettings[];
  };
}

export interface ApiProcessesOptions {
  readonly count: number;
  readonly brief: Omit<ApiBrief, 'place'>;
  /** Nothing has put the first rows into the database yet: the first of them does, before the others start. */
  readonly firstAlone: boolean;
  readonly logger: Logger;
  readonly graceSeconds: number;
  readonly signal: AbortSignal;
}

const ASKS_FOR_BRIEF = 'brief?';
/** One that lived for so long died of something that may not come again, and is replaced at once. */
const LIVED_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Resolves when all of them listen. */
export async function startApiProcesses(options: ApiProcessesOptions): Promise<ApiProcesses> {
  const { count, brief, firstAlone, logger, graceSeconds, signal } = options;
  cluster.setupPrimary({ exec: fileURLToPath(new URL('./main.ts', import.meta.url)), args: ['api'] });
  const running = new Set<ClusterWorker>();
  const serving = new Set<ClusterWorker>();
  let stopping = false;

  function start(place: number, pauseMs: number): Promise<void> {
    const child = cluster.fork();
    const startedAt = performance.now();
    running.add(child);
    child.on('message', (message) => {
      if (message === ASKS_FOR_BRIEF) child.send({ ...brief, place } satisfies ApiBrief);
    });
    const listening = Promise.withResolvers<void>();
    child.once('listening', () => {
      serving.add(child);
      listening.resolve();
    });
    child.once('exit', (code, killedBy) => {
      running.delete(child);
      const listened = serving.delete(child);
      const how = killedBy ?? `code ${code}`;
      listening.reject(new Error(`a process of the API ended with ${how} before it served`));
      if (stopping) return;
      const lived = listened && performance.now() - startedAt > LIVED_MS;
      const pause = lived ? 0 : pauseMs;
      logger.error({ place, ended_with: how, restart_in_ms: pause }, 'a process of the API ended');
      setTimeout(() => {
        const longer = Math.min(LONGEST_PAUSE_MS, lived ? FIRST_PAUSE_MS : pauseMs * 2);
        // What goes wrong with it is told by its own end.
        if (!stopping) start(place, longer).catch(() => undefined);
      }, pause).unref();
    });
    return listening.promise;
  }

  async function stop(): Promise<void> {
    stopping = true;
    const ends = [...running].map((child) => once(child, 'exit'));
    for (const child of running) child.process.kill('SIGTERM');
    const force = setTimeout(() => {
      for (const child of running) child.process.kill('SIGKILL');
    }, graceSeconds * 1_000);
    await Promise.all(ends);
    clearTimeout(force);
  }

  try {
    const first = start(1, FIRST_PAUSE_MS);
    if (firstAlone) await first;
    signal.throwIfAborted();
    const others = Array.from({ length: count - 1 }, (_, n) => start(n + 2, FIRST_PAUSE_MS));
    await Promise.all([first, ...others]);
  } catch (error) {
    await stop();
    throw error;
  }
  const check: Check = {
    name: 'processes',
    failure: () => (serving.size > 0 ? undefined : `none of ${count} processes of the API serves`),
  };
  return { check, stop };
}

/** Whether this process is one of several that serve the API for another. */
export function isApiProcess(): boolean {
  return cluster.isWorker;
}

export async function receiveBrief(): Promise<ApiBrief> {
  const answer = once(process, 'message');
  process.send?.(ASKS_FOR_BRIEF);
  const [brief] = await answer;
  return brief as ApiBrief;
}

/** The configuration of one of several: connections are shared between them, and each has a port for its metrics. */
export function configOfApiProcess(config: Config, place: number): Config {
  const { databasePoolSize, apiProcesses, metricsPort } = config;
  return {
    ...config,
    apiProcesses: 1,
    databasePoolSize: Math.max(FEWEST_CONNECTIONS, Math.floor(databasePoolSize / apiProcesses)),
    // 0 takes any free one, and none is none.
    ...(metricsPort ? { metricsPort: metricsPort + place } : {}),
  };
}
