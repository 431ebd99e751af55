import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OrderCost, type RunningCheckout, startCheckout } from '../load/checkout.ts';

/** A second of what `npm run order-cost` measures for minutes in two checkouts: that it counts, not how much. */
describe('a checkout whose orders are counted', () => {
  let checkout: RunningCheckout;
  let cost: OrderCost;

  beforeAll(async () => {
    checkout = await startCheckout(resolve(import.meta.dirname, '../..'));
    cost = await checkout.measure({ seconds: 1, ordersASecond: 40, seed: 7, settleMs: 300 });
  });
  afterAll(() => checkout?.stop());

  it('opens every order that it quotes', () => {
    expect(cost.orders).toBeGreaterThan(10);
  });

  it.runIf(existsSync('/proc/self/stat'))('tells the database from the program', () => {
    expect(cost.database).toBeGreaterThan(0);
    expect(cost.gateway).toBeGreaterThan(0);
  });
});
