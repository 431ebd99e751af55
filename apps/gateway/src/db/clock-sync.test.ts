import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { until } from '../../../../test/harness/until.ts';
import { createClock, type MovableClock } from '../lib/clock.ts';
import { followDeploymentClock } from './clock-sync.ts';
import { createListener, type Listener } from './listener.ts';

describe('the business clock', () => {
  let database: TestDatabase;
  const listeners: Listener[] = [];

  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
    await database?.close();
  });

  async function startProcess(): Promise<{ clock: MovableClock; moves: () => number }> {
    const clock = createClock();
    const listener = createListener(database.url, () => {});
    listeners.push(listener);
    let moves = 0;
    await listener.start();
    await followDeploymentClock(
      database.db,
      listener,
      clock,
      () => {
        moves++;
      },
      () => {},
    );
    return { clock, moves: () => moves };
  }
  const advanceTo = (offsetMs: number) =>
    database.owner.query('UPDATE business_clock SET offset_ms = $1', [offsetMs]);

  it('moves in every process at once, also in one that starts later or was cut off meanwhile', async () => {
    const [first, second] = await Promise.all([startProcess(), startProcess()]);
    await advanceTo(5_000);
    for (const { clock } of [first, second]) await until('moved', () => clock.offsetMs === 5_000, 1_000);
    expect((await startProcess()).clock.offsetMs).toBe(5_000);
    await database.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'causeway-listener' AND datname = current_database()`,
    );
    await advanceTo(9_000);
    for (const { clock, moves } of [first, second]) {
      await until('moved after the cut', () => clock.offsetMs === 9_000);
      expect(moves()).toBeGreaterThanOrEqual(2);
    }
  });

  it('never runs backwards for anyone who has seen it', async () => {
    const { clock, moves } = await startProcess();
    const before = clock.offsetMs;
    const seen = moves();
    await advanceTo(before - 1_000);
    await until('noticed', () => moves() > seen);
    expect(clock.offsetMs).toBe(before);
  });

  it('goes back once it was reset, in every process, and an older reading does not bring it forward again', async () => {
    const [first, second] = await Promise.all([startProcess(), startProcess()]);
    await advanceTo(60_000_000);
    for (const { clock } of [first, second]) await until('moved', () => clock.offsetMs === 60_000_000);
    await database.owner.query('UPDATE business_clock SET offset_ms = 0, resets = resets + 1');
    for (const { clock } of [first, second]) await until('reset', () => clock.offsetMs === 0, 1_000);
    first.clock.follow({ offsetMs: 60_000_000, resets: 0 });
    expect(first.clock.offsetMs).toBe(0);
    await advanceTo(7_000);
    for (const { clock } of [first, second])
      await until('moved again', () => clock.offsetMs === 7_000, 1_000);
    expect((await startProcess()).clock.offsetMs).toBe(7_000);
  });
});
