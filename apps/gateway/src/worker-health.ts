import { Gauge, type Registry } from 'prom-client';
import type { Check } from './features/health/health.routes.ts';

/** Whether the worker's loops turn and its chains have been reached. */
export interface WorkerHealth {
  readonly checks: readonly Check[];
  /** Names a loop; what it answers is to be called whenever a turn has ended. */
  loop(name: string, everyMs: number): () => void;
  /** Names a chain; what it answers is to be called whenever the chain has been read to its end. */
  chain(slug: string): () => void;
}

interface Loop {
  readonly allowedMs: number;
  turnedAt: number;
}

/** Calls that leave the process give up before this; a loop that takes longer hangs, or has much to catch up on. */
const ALLOWED_MS = 30_000;
const ALLOWED_TURNS = 3;

export function createWorkerHealth(
  registry: Registry,
  now: () => number = () => performance.now(),
): WorkerHealth {
  const loops = new Map<string, Loop>();
  const chains = new Map<string, number | undefined>();
  const seconds = (since: number) => (now() - since) / 1_000;
  new Gauge({
    name: 'worker_loop_age_seconds',
    help: 'Time since the last turn of each of the worker’s loops ended.',
    labelNames: ['loop'],
    registers: [registry],
    collect() {
      for (const [loop, { turnedAt }] of loops) this.set({ loop }, seconds(turnedAt));
    },
  });
  new Gauge({
    name: 'chain_watch_age_seconds',
    help: 'Time since each chain was last read to its final end; absent until it was.',
    labelNames: ['chain'],
    registers: [registry],
    collect() {
      for (const [chain, readAt] of chains) if (readAt !== undefined) this.set({ chain }, seconds(readAt));
    },
  });

  const loopsCheck: Check = {
    name: 'loops',
    failure() {
      const hanging = [...loops].filter(([, { turnedAt, allowedMs }]) => now() - turnedAt > allowedMs);
      if (hanging.length === 0) return undefined;
      return `not turning: ${hanging.map(([name, { turnedAt }]) => `${name} for ${Math.round(seconds(turnedAt))} s`).join(', ')}`;
    },
  };
  // Once is enough: a chain that fails later fails for every worker, and none of them gets better by being replaced.
  const chainsCheck: Check = {
    name: 'chains',
    failure() {
      const unread = [...chains].flatMap(([slug, readAt]) => (readAt === undefined ? [slug] : []));
      return unread.length === 0 ? undefined : `not read since the start: ${unread.join(', ')}`;
    },
  };

  return {
    checks: [loopsCheck, chainsCheck],
    loop(name, everyMs) {
      const loop: Loop = { allowedMs: Math.max(ALLOWED_MS, ALLOWED_TURNS * everyMs), turnedAt: now() };
      loops.set(name, loop);
      return () => {
        loop.turnedAt = now();
      };
    },
    chain(slug) {
      chains.set(slug, undefined);
      return () => void chains.set(slug, now());
    },
  };
}
