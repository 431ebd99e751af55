import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { createWorkerHealth, type WorkerHealth } from './worker-health.ts';

describe('health of a worker', () => {
  let now: number;
  let registry: Registry;
  let health: WorkerHealth;
  beforeEach(() => {
    now = 1_000_000;
    registry = new Registry();
    health = createWorkerHealth(registry, () => now);
  });

  const failureOf = (name: string) => health.checks.find((check) => check.name === name)?.failure();

  it('names each loop that has not turned for long, until it turns again', () => {
    const often = health.loop('expiring orders', 500);
    const seldom = health.loop('purging old events', 60_000);
    now += 29_000;
    expect(failureOf('loops')).toBeUndefined();
    now += 2_000;
    expect(failureOf('loops')).toBe('not turning: expiring orders for 31 s');
    often();
    expect(failureOf('loops')).toBeUndefined();
    // One that turns once a minute may be that old.
    now += 150_000;
    often();
    expect(failureOf('loops')).toBe('not turning: purging old events for 181 s');
    seldom();
    expect(failureOf('loops')).toBeUndefined();
  });

  it('wants each chain to have been read once, and shows by its figures how long ago', async () => {
    const base = health.chain('base-mainnet');
    const arbitrum = health.chain('arbitrum-one');
    expect(failureOf('chains')).toBe('not read since the start: base-mainnet, arbitrum-one');
    base();
    expect(failureOf('chains')).toBe('not read since the start: arbitrum-one');
    arbitrum();
    now += 3_600_000;
    base();
    expect(failureOf('chains')).toBeUndefined();
    const lines = (await registry.metrics()).split('\n');
    expect(lines).toContain('chain_watch_age_seconds{chain="base-mainnet"} 0');
    expect(lines).toContain('chain_watch_age_seconds{chain="arbitrum-one"} 3600');
  });
});
