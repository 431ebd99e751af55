import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expireOrders } from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { holdRow } from '../harness/held-row.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties } from './orders-parties.ts';

/** How long the tests themselves may take. */
const GRACE_SECONDS = 120;

describe('a hold stops the clock of an order', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;

  beforeAll(async () => {
    gateway = await startGateway({ worker: true });
    driver = ordersDriver(gateway);
    parties = orderParties(gateway);
    await driver.sdk.sandbox.setSettings({ auto_advance: false });
  });
  afterAll(() => gateway?.stop());
  beforeEach(() => driver.sdk.sandbox.resetClock());

  const advance = (seconds: number) => driver.sdk.sandbox.advanceClock({ seconds });

  async function decide(orderId: string, decision: 'place' | 'release'): Promise<void> {
    const { status, text } = await parties.operate(orderId, 'hold', { decision, reason: 'ticket 7' });
    expect(status, text).toBe(200);
  }

  /** What is left of the present wait, the same to everybody who is told of it. */
  async function expectLeft(orderId: string, seconds: number): Promise<void> {
    const { expires_at: expiresAt } = await driver.read(orderId);
    const { now } = await driver.sdk.sandbox.clock();
    const left = (Date.parse(expiresAt) - Date.parse(now)) / 1_000;
    expect(left).toBeLessThanOrEqual(seconds);
    expect(left).toBeGreaterThan(seconds - GRACE_SECONDS);
    const seen = await deadlinesOf(orderId);
    expect(seen).toEqual(seen.map(() => expiresAt));
  }

  async function deadlinesOf(orderId: string): Promise<(string | null)[]> {
    const { body } = await (await parties.vendorOf(orderId)).get('order');
    const operators = await gateway.operator.orders.get(orderId);
    return [body.data.deadline_at, operators.body.data.order.deadline_at];
  }

  async function expectStopped(orderId: string, status: string): Promise<void> {
    expect(await driver.read(orderId)).toMatchObject({ status, expires_at: null });
    expect(await deadlinesOf(orderId)).toEqual([null, null]);
  }

  // Proves D6.11.
  it('what was left of the wait before it is left after it, and no less', async () => {
    const [orderId, other] = [await driver.offrampOrder(), await driver.offrampOrder()];
    await advance(600);
    await decide(orderId, 'place');
    await advance(3_000);
    // The sweep has been here.
    await driver.reaches(other, 'cancelled');
    await expectStopped(orderId, 'awaiting_crypto_transfer_authorization');
    await decide(orderId, 'release');
    await expectLeft(orderId, 1_200);
    await decide(orderId, 'place');
    await advance(7_000);
    await decide(orderId, 'release');
    await expectLeft(orderId, 1_200);
    await advance(1_200);
    expect(await driver.reaches(orderId, 'cancelled')).toMatchObject({ failure: { retryable: true } });
  });

  it('a wait that begins during it begins with its end', async () => {
    const orderId = await driver.onrampOrder();
    await until('the offer', async () => (await parties.vendorId(orderId)) !== null);
    await decide(orderId, 'place');
    await advance(5_000);
    expect((await driver.event(orderId, 'vendor_accepts')).status).toBe(200);
    await expectStopped(orderId, 'awaiting_vendor_escrow_funding');
    await advance(5_000);
    await decide(orderId, 'release');
    await expectLeft(orderId, 1_800);
    await advance(1_801);
    await driver.reaches(orderId, 'cancelled');
  });

  it('the same where the clock of the sandbox is put back meanwhile', async () => {
    await advance(4_000);
    const orderId = await driver.offrampOrder();
    await decide(orderId, 'place');
    await driver.sdk.sandbox.resetClock();
    await advance(3_000);
    await decide(orderId, 'release');
    await expectLeft(orderId, 1_800);
    expect((await driver.read(orderId)).status).toBe('awaiting_crypto_transfer_authorization');
  });
});

describe('a hold that comes as the time of an order is up', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway?.stop());

  it('stops it, although the sweep had found the order overdue before', async () => {
    const [driver, parties] = [ordersDriver(gateway), orderParties(gateway)];
    const orderId = await driver.onrampOrder();
    const row = await holdRow(gateway, orderId);
    const placed = parties.operate(orderId, 'hold', { decision: 'place', reason: 'ticket 7' });
    await row.waiters(1);
    await driver.sdk.sandbox.advanceClock({ seconds: 901 });
    const swept = expireOrders(gateway.deps);
    await row.waiters(2);
    await row.letGo();
    expect((await placed).status).toBe(200);
    expect(await swept).toBe(1);
    const read = await driver.read(orderId);
    expect(read).toMatchObject({ status: 'awaiting_liquidity_provider', expires_at: null });
  });
});
