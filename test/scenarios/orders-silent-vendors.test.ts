import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { passOverSilentVendors } from '../../apps/gateway/src/features/orders/lifecycle/offer-order.effect.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { holdRow } from '../harness/held-row.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties } from './orders-parties.ts';

const RESPONSE_SECONDS = 200;

/** Everybody would sell at the quoted rate. */
const cheapenAll = statement<[]>(
  'test.cheapen_all_offers',
  `UPDATE offers SET fixed_price = 0.5, margin_pct = NULL
    WHERE side = 'SELL' AND crypto_currency = 'USDC' AND fiat_currency = 'EUR'`,
);

describe('vendors that do not answer', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;

  beforeAll(async () => {
    gateway = await startGateway({
      worker: true,
      env: { ORDER_VENDOR_RESPONSE_SECONDS: `${RESPONSE_SECONDS}` },
    });
    driver = ordersDriver(gateway);
    parties = orderParties(gateway);
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
  });
  afterAll(() => gateway?.stop());

  const advance = (seconds: number) => gateway.partner.sandbox.advanceClock({ seconds });

  it('are passed over one after the other by the business clock, until the order’s own 15 minutes are up', async () => {
    const orderId = await driver.onrampOrder();
    await gateway.deps.db.query(SYSTEM, cheapenAll, []);
    const first = await parties.vendorId(orderId);
    const firstDriver = await parties.vendorOf(orderId);
    // Once only: time that goes on while this test waits would end the order itself.
    await advance(RESPONSE_SECONDS + 1);
    const second = await until('the second vendor', async () => {
      const vendorId = await parties.vendorId(orderId);
      return vendorId !== null && vendorId !== first && vendorId;
    });
    expect(second).not.toBe(first);
    const late = await firstDriver.post('accept', { refund_signature: '0x', payment_details: { iban: 'X' } });
    expect(late.body.error.code).toBe('ORDER_NOT_FOUND');
    expect((await driver.read(orderId)).timeline).toHaveLength(1);

    await advance(900);
    const cancelled = await driver.reaches(orderId, 'cancelled');
    expect(cancelled.allowed_actions).toEqual([]);
    expect(await driver.published(orderId)).toEqual(['awaiting_liquidity_provider', 'cancelled']);
  });

  it('leave the whole time to the vendor that is asked after them, though the list of the silent is older', async () => {
    await gateway.deps.db.query(SYSTEM, cheapenAll, []);
    const [held, orderId] = [await driver.onrampOrder(), await driver.onrampOrder()];
    const first = await parties.vendorOf(orderId);
    const row = await holdRow(gateway, held);
    // Both are listed, by the worker and by us, and the first cannot be passed over yet.
    await advance(RESPONSE_SECONDS + 1);
    const passed = passOverSilentVendors(gateway.deps, RESPONSE_SECONDS);
    await row.waiters(2);
    expect((await first.post('decline')).status).toBe(200);
    const second = await until('the second vendor', async () => (await parties.vendorId(orderId)) ?? false);
    await row.letGo();
    expect(await passed).toBe(2);
    expect(await parties.vendorId(orderId)).toBe(second);
  });

  it('keep the order as long as they have time, and for good once they have accepted', async () => {
    const orderId = await driver.onrampOrder();
    const first = await parties.vendorId(orderId);
    await advance(RESPONSE_SECONDS - 10);
    const accepted = await driver.event(orderId, 'vendor_accepts');
    expect(accepted.body.data.status).toBe('awaiting_vendor_escrow_funding');
    await advance(RESPONSE_SECONDS * 2);
    expect(await parties.vendorId(orderId)).toBe(first);
  });
});
