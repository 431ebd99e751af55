import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MeasuredOrders, type RunningCheckout, startCheckout } from '../load/checkout.ts';

/** A second of what `npm run order-cost` measures for minutes in two checkouts: that it counts, not how much. */
describe('a checkout whose orders are counted', () => {
  let checkout: RunningCheckout;
  let measured: MeasuredOrders;

  beforeAll(async () => {
    checkout = await startCheckout(resolve(import.meta.dirname, '../..'));
    measured = await checkout.measure({ seconds: 1, ordersASecond: 20, seed: 7, settleMs: 300 });
  });
  afterAll(() => checkout?.stop());

  it('opens every order that it quotes', () => {
    expect(measured.orders).toBeGreaterThan(5);
  });

  it.runIf(existsSync('/proc/self/stat'))('tells the database from the program', () => {
    expect(measured.busy.database).toBeGreaterThan(0);
    expect(measured.busy.gateway).toBeGreaterThan(0);
    expect(measured.idle.database).toBeGreaterThanOrEqual(0);
  });
});
