import { loadReferenceFiles, type PolledSource } from '@causeway/currencies';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCurrenciesServer } from '../../../../../backends/currencies/src/server.ts';
import {
  startTestDatabase,
  TEST_LOCAL_CHAIN,
  type TestDatabase,
  testLogger,
} from '../../features/discovery/testing/discovery-gateway.ts';
import { machineNow } from '../../lib/clock.ts';
import type { Currencies } from '../../ports/currencies.ts';
import { createRateHistory } from '../rates/rate.store.ts';
import { createRatePublisher } from '../rates/rate-publisher.ts';
import { createHttpCurrencies } from './currencies-http.ts';
import { createInProcessCurrencies } from './currencies-in-process.ts';

/** A market of one pair whose price the test sets. */
let price = '1.25';
const source: PolledSource = {
  source: {
    name: 'test',
    kind: 'ticker',
    fetch: async () => [
      { base: 'USDC', quote: 'USD', rate: '1', observedAt: machineNow() },
      { base: 'EUR', quote: 'USD', rate: price, observedAt: machineNow() },
    ],
  },
  intervalMs: 50,
};

interface Running {
  readonly currencies: Currencies;
  stop(): Promise<void>;
}

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  await database.listener.start();
});
afterAll(() => database.stop());

const ADAPTERS: Record<string, () => Promise<Running>> = {
  'in-process': async () => {
    const { db, listener } = database;
    const publisher = createRatePublisher({
      db,
      logger: testLogger,
      wall: machineNow,
      history: createRateHistory(db),
      sources: [source],
      holder: '00000000-0000-7000-8000-000000000001',
    });
    await publisher.start();
    const currencies = createInProcessCurrencies({
      db,
      listener,
      logger: testLogger,
      wall: machineNow,
      catalogue: { localChains: [TEST_LOCAL_CHAIN] },
    });
    await currencies.start();
    return {
      currencies,
      async stop() {
        await currencies.stop();
        await publisher.stop();
      },
    };
  },
  http: async () => {
    const server = await startCurrenciesServer({
      host: '127.0.0.1',
      port: 0,
      sources: [source],
      clock: { now: machineNow },
    });
    const currencies = createHttpCurrencies({
      baseUrl: server.url,
      logger: testLogger,
      wall: machineNow,
      pollMs: 50,
      catalogue: { localChains: [TEST_LOCAL_CHAIN] },
    });
    await currencies.start();
    return {
      currencies,
      async stop() {
        await currencies.stop();
        await server.close();
      },
    };
  },
};

// Proves C1 rule 6.
describe.each(Object.keys(ADAPTERS))('the %s adapter', (name) => {
  let running: Running;
  beforeAll(async () => {
    price = '1.25';
    running = await (ADAPTERS[name] as () => Promise<Running>)();
  });
  afterAll(() => running.stop());

  test('lists exactly what the data files hold', () => {
    const { catalogue } = running.currencies.current().reference;
    expect(catalogue.data).toEqual(loadReferenceFiles());
  });

  test('shows local chains in place of those they stand for', () => {
    const { catalogue } = running.currencies.current().reference;
    expect(catalogue.chain(TEST_LOCAL_CHAIN.slug)).toMatchObject({ chainId: TEST_LOCAL_CHAIN.chainId });
  });

  test('prices pairs and their crossings', () => {
    const { rates } = running.currencies.current();
    expect(rates.requireRate('EUR', 'USD')).toMatchObject({
      ok: true,
      rate: { rate: '1.25', status: 'fresh' },
    });
    expect(rates.requireRate('USDC', 'EUR')).toMatchObject({ ok: true, rate: { rate: '0.8' } });
    expect(rates.requireRate('USDC', 'NGN')).toMatchObject({ ok: false, refusal: { code: 'RATE_MISSING' } });
  });

  test('is of the present', () => {
    expect(running.currencies.current().ageSeconds).toBe(0);
  });

  test('hands out the same objects until something changes', () => {
    const [first, second] = [running.currencies.current(), running.currencies.current()];
    expect(second.reference).toBe(first.reference);
    expect(second.rates).toBe(first.rates);
  });

  test('follows the market within seconds, and says so', async () => {
    const { reference } = running.currencies.current();
    const heard = new Promise<void>((resolve) => running.currencies.onChange(resolve));
    price = '1.26';
    const changedAt = performance.now();
    await heard;
    while (running.currencies.current().rates.rate('EUR', 'USD').rate !== '1.26') {
      expect(performance.now() - changedAt).toBeLessThan(10_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(running.currencies.current().reference).toBe(reference);
  });
});
