import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzzCustomers } from '../fuzz/customers.fuzz.ts';
import { fuzzDescribed } from '../fuzz/described.fuzz.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

/** `npm run fuzz` asks for many more; FUZZ_SEED repeats a run. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 400);
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_115);

describe('malformed requests', () => {
  let gateway: TestGateway;
  const logged: string[] = [];
  beforeAll(async () => {
    gateway = await startGateway({
      worker: true,
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '10000000', RATE_LIMIT_PUBLIC_PER_MINUTE: '10000000' },
      onLog: (line) => {
        // The order that asks for its payer was put there by hand: a worker asked to return its crypto finds no escrow.
        if (line.includes('"level":"error"') && !line.includes('has no escrow yet')) logged.push(line);
      },
    });
  });
  afterAll(() => gateway?.stop());

  it(
    `mutated over the routes of customers, get no 5xx and always their envelope: ${REQUESTS} requests, seed ${SEED}`,
    async () => {
      const { statuses, problems } = await fuzzCustomers(gateway, { seed: SEED, requests: REQUESTS });
      expect({ problems, logged: logged.slice(0, 5) }).toEqual({ problems: [], logged: [] });
      // Deep enough: some got through, some were refused by form, by state and by key.
      for (const status of ['200', '400', '401', '404', '409', '422']) {
        expect([status, (statuses[status] ?? 0) > 0]).toEqual([status, true]);
      }
      expect((await gateway.call('GET', '/health', { key: null })).status).toBe(200);
    },
    30 * 60_000,
  );

  it(
    `at and beyond the edges of every described field, get no 5xx and only described statuses: ${REQUESTS} requests, seed ${SEED}`,
    async () => {
      const { cases, statuses, problems } = await fuzzDescribed(gateway, { seed: SEED, requests: REQUESTS });
      expect({ problems, logged: logged.slice(0, 5) }).toEqual({ problems: [], logged: [] });
      expect(cases).toBeGreaterThan(10_000);
      for (const status of ['200', '400', '404']) {
        expect([status, (statuses[status] ?? 0) > 0]).toEqual([status, true]);
      }
    },
    60 * 60_000,
  );
});
