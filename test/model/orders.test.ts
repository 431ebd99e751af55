import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { NO_ORDER_LIMITS, startGateway, type TestGateway } from '../harness/gateway.ts';
import { fillOffers, type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';
import { begin, beginnings, courses } from './order-commands.ts';
import type { Model } from './order-model.ts';
import { type Customer, realOrders } from './real-orders.ts';

/** `npm run model` is the long run. */
const RUNS = Number(process.env.MODEL_RUNS ?? 50);
/** A long run may end earlier; how far it came is then said. */
const MINUTES = Number(process.env.MODEL_MINUTES ?? 0);
const SEED = Number(process.env.MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** So many courses that never come this far would prove little. */
const ENOUGH_LIVES = 200;
const FAR_ENOUGH = ['completed', 'cancelled'];
const statusesMet = statement<[direction: string], { status: string }>(
  'test.statuses_met',
  `SELECT DISTINCT entry->>'status' AS status FROM orders, jsonb_array_elements(timeline) AS entry WHERE direction = $1`,
);

describe('orders against their model', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let customer: Customer;

  beforeAll(async () => {
    gateway = await startGateway({
      worker: false,
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '10000000', ...NO_ORDER_LIMITS },
    });
    driver = ordersDriver(gateway);
    await fillOffers(gateway);
    const userId = await driver.user();
    customer = { userId, detailsId: await driver.ownDetails(userId) };
  });
  afterAll(() => gateway?.stop());

  it(`${MINUTES > 0 ? 'up to ' : ''}${RUNS} random courses of orders keep to the tables and conserve money after each step (seed ${SEED})`, {
    timeout: 120_000 + RUNS * 3_000,
  }, async () => {
    let led = 0;
    await fc.assert(
      fc.asyncProperty(beginnings, courses, async (beginning, course) => {
        led += 1;
        const real = realOrders(gateway, customer);
        await real.setKyc(true);
        const model: Model = { orders: [], kycCleared: true };
        await begin(beginning, model, real);
        await fc.asyncModelRun(() => ({ model, real }), course);
      }),
      { numRuns: RUNS, seed: SEED, ...(MINUTES > 0 ? { interruptAfterTimeLimit: MINUTES * 60_000 } : {}) },
    );
    if (led < RUNS) process.stdout.write(`time is up after ${led} of ${RUNS} courses\n`);
    await driver.booksBalance();
    for (const direction of led < ENOUGH_LIVES ? [] : ['onramp', 'offramp']) {
      const rows = await gateway.deps.db.query(SYSTEM, statusesMet, [direction]);
      expect(rows.map(({ status }) => status)).toEqual(expect.arrayContaining(FAR_ENOUGH));
    }
  });
});
