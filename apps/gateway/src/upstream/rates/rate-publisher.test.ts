import type { PolledSource } from '@causeway/currencies';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import {
  startTestDatabase,
  type TestDatabase,
  testLogger,
} from '../../features/discovery/testing/discovery-gateway.ts';
import { machineNow } from '../../lib/clock.ts';
import { createInProcessCurrencies } from '../currencies/currencies-in-process.ts';
import { createRateHistory, readBook, readRateHistory } from './rate.store.ts';
import { createRatePublisher, type RateLeadership } from './rate-publisher.ts';
import { backfillSimulatedHistory } from './rate-sources.ts';

let database: TestDatabase;
const running: RateLeadership[] = [];
const emptyBook = statement<[]>(
  'testing.empty_book',
  `UPDATE rate_book SET legs = '[]', published_at = NULL, holder = NULL, held_until = NULL`,
);
const emptyHistory = statement<[]>('testing.empty_history', 'DELETE FROM rate_points');

beforeAll(async () => {
  database = await startTestDatabase();
  await database.listener.start();
});
afterEach(async () => {
  for (const leadership of running.splice(0)) await leadership.stop();
  await database.db.query(SYSTEM, emptyBook, []);
  await database.db.query(SYSTEM, emptyHistory, []);
});
afterAll(() => database.stop());

function market(rate: string, seen: { polls: number } = { polls: 0 }): PolledSource {
  return {
    source: {
      name: 'test',
      kind: 'ticker',
      async fetch() {
        seen.polls += 1;
        return [{ base: 'USDC', quote: 'USD', rate, observedAt: machineNow() }];
      },
    },
    intervalMs: 30,
  };
}

function publisher(number: number, source: PolledSource, leaseMs = 300): RateLeadership {
  const made = createRatePublisher({
    db: database.db,
    logger: testLogger,
    wall: machineNow,
    history: createRateHistory(database.db),
    sources: [source],
    holder: `00000000-0000-7000-8000-00000000000${number}`,
    leaseMs,
  });
  running.push(made);
  return made;
}

async function publishedRate(): Promise<unknown> {
  const [row] = await database.db.query(SYSTEM, readBook, []);
  const legs = (row?.legs ?? []) as { rate: string }[];
  return legs[0]?.rate;
}

async function until(what: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!(await what())) {
    if (performance.now() > deadline) throw new Error('it did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('of two workers one reads the feeds and publishes; when it stops, the other takes over', async () => {
  const [seenByFirst, seenBySecond] = [{ polls: 0 }, { polls: 0 }];
  const first = publisher(1, market('1.001', seenByFirst));
  const second = publisher(2, market('1.002', seenBySecond));
  await first.start();
  await second.start();
  expect(await publishedRate()).toBe('1.001');
  await until(() => seenByFirst.polls > 3);
  expect(seenBySecond.polls).toBe(0);
  await first.stop();
  await until(async () => (await publishedRate()) === '1.002');
});

test('a worker that died without a word is replaced when its lease has run out', async () => {
  const silent = statement<[]>(
    'testing.silent_holder',
    `UPDATE rate_book SET holder = '00000000-0000-7000-8000-000000000009',
       held_until = clock_timestamp() + interval '200 milliseconds'`,
  );
  await database.db.query(SYSTEM, silent, []);
  const heir = publisher(3, market('1.003'));
  await heir.start();
  expect(await publishedRate()).toBeUndefined();
  await until(async () => (await publishedRate()) === '1.003');
});

test('what was published and is not renewed blocks pricing', async () => {
  let now = machineNow();
  const currencies = createInProcessCurrencies({
    db: database.db,
    listener: database.listener,
    logger: testLogger,
    wall: () => now,
  });
  await publisher(4, market('1.004')).start();
  await currencies.start();
  expect(currencies.current().rates.requireRate('USDC', 'USD').ok).toBe(true);
  const fresh = currencies.current().rates;
  now += 120_000;
  expect(currencies.current().rates).not.toBe(fresh);
  expect(currencies.current().rates.requireRate('USDC', 'USD')).toMatchObject({
    ok: false,
    refusal: { code: 'RATE_STALE' },
  });
});

test('after a restart the first observation is judged by the history: a wild one is held back', async () => {
  const history = createRateHistory(database.db);
  await history.append([{ base: 'USDC', quote: 'USD', rate: '1', at: machineNow() - 60_000 }]);
  await publisher(5, { ...market('7'), intervalMs: 60_000 }).start();
  const [row] = await database.db.query(SYSTEM, readBook, []);
  expect(row?.legs).toMatchObject([{ base: 'USDC', rate: '1', status: 'stale' }]);
});

test('history is kept once a minute and pair, read in order, turned round and crossed', async () => {
  const history = createRateHistory(database.db);
  const minute = 60_000;
  const at = Math.floor(machineNow() / minute) * minute;
  const points = [3, 2, 1].flatMap((back) => [
    { base: 'USDC', quote: 'USD', rate: '1', at: at - back * minute },
    { base: 'USD', quote: 'KES', rate: `${128 + back}.5`, at: at - back * minute },
  ]);
  await history.append(points);
  await history.append(points.map((point) => ({ ...point, rate: '9' })));
  const read = (base: string, quote: string, limit = 10) =>
    readRateHistory(history, base, quote, at - 10 * minute, at, limit);
  expect((await read('USDC', 'KES')).map(({ rate }) => rate)).toEqual(['131.5', '130.5', '129.5']);
  expect((await read('USD', 'KES', 2)).map(({ rate }) => rate)).toEqual(['130.5', '129.5']);
  expect((await read('USD', 'USDC')).map(({ rate }) => rate)).toEqual(['1', '1', '1']);
  await history.purge(at - 2 * minute);
  expect(await read('USD', 'KES')).toHaveLength(2);
});

test('a simulated market has a past from the first minute on', async () => {
  const history = createRateHistory(database.db);
  await backfillSimulatedHistory(history, machineNow);
  const day = 86_400_000;
  const points = await readRateHistory(history, 'USDC', 'NGN', machineNow() - day, machineNow(), 100);
  expect(points.length).toBeGreaterThanOrEqual(22);
});
