import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixedMarket, startFixedMarket } from '../harness/fixed-market.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties } from './orders-parties.ts';

const QUOTED = '0.9';
/** The market at which the payout costs exactly 1.20 times what was expected. */
const AT_BOUND = '0.75';
const BEYOND_BOUND = '0.7499999999';

describe('the 1.20 bound, judged by the market', () => {
  let market: FixedMarket;
  let driver: OrdersDriver;
  let parties: OrderParties;

  beforeAll(async () => {
    market = await startFixedMarket({ chains: true });
    driver = ordersDriver(market.gateway);
    parties = orderParties(market.gateway);
    await driver.sdk.sandbox.setSettings({ auto_advance: false });
    await market.setRates({ EUR: QUOTED });
    await market.owner.query(
      `UPDATE offers SET fixed_price = $1, margin_pct = NULL
        WHERE side = 'BUY' AND crypto_currency = 'USDC' AND fiat_currency = 'EUR'`,
      [QUOTED],
    );
    const userId = await driver.user();
    const paymentDetailsId = await driver.ownDetails(userId);
    await until('the offers’ price', async () => {
      const quote = await driver.offrampQuote({ user_uuid: userId, payment_details_id: paymentDetailsId });
      return quote.body.data?.rate === QUOTED;
    });
  });
  afterAll(() => market?.stop());

  async function payoutRequested(orderId: string): Promise<void> {
    await until('the payout request', async () => {
      const { rows } = await market.owner.query(
        `SELECT 1 FROM intents WHERE kind = 'vendor.request-fiat-payment' AND status = 'confirmed'
            AND payload->>'order_id' = $1`,
        [orderId],
      );
      return rows.length === 1;
    });
  }

  async function funded(orderId: string): Promise<string> {
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    await payoutRequested(orderId);
    return orderId;
  }

  /** A vendor that has not signed the refund, as if it had only just heard of the order. */
  async function withoutVendorSignature(orderId: string): Promise<string> {
    const signed = () =>
      market.owner.query(`DELETE FROM escrow_signatures WHERE order_id = $1 AND purpose = 'refund'`, [
        orderId,
      ]);
    await until('the vendor’s signature', async () => (await signed()).rowCount === 1);
    return orderId;
  }

  // Proves C3.2 row 9, C8 row 3, D7.4, trap 11, trap 25.
  it('at exactly 1.20 the order goes on; a hair beyond, the deposit returns whole without the partner', async () => {
    const [within, beyond, crypto] = [
      await driver.offrampOrder(),
      await driver.offrampOrder(),
      await driver.offrampOrder({ fiat_amount: undefined, crypto_amount: '50' }),
    ];
    await market.setRates({ EUR: AT_BOUND });
    await funded(within);
    const vendor = await parties.vendorOf(within);
    await until('the instructions', async () => (await vendor.get('payment-instructions')).status === 200);

    await market.setRates({ EUR: BEYOND_BOUND });
    await funded(crypto);
    expect((await driver.read(crypto)).status).toBe('crypto_received');
    const before = await driver.balance(driver.wallet);
    await driver.fund(beyond);
    await driver.reaches(beyond, 'failed');
    await until('the refund', async () => (await driver.escrowBooks(beyond)) === 0n);
    expect(await driver.balance(driver.wallet)).toBe(before);
    expect(await driver.escrowBalance(beyond)).toBe(0n);
    const order = await driver.read(beyond);
    expect(order).toMatchObject({ allowed_actions: [], next_action: 'none' });
    expect(await driver.published(beyond)).toEqual([
      'awaiting_crypto_transfer_authorization',
      'crypto_received',
      'failed',
    ]);
    await market.setRates({ EUR: QUOTED });
    await driver.booksBalance();
  });

  it('a market that moves while the buyer hesitates stops the order as the buyer asks where to pay', async () => {
    const orderId = await funded(await driver.offrampOrder());
    const vendor = await parties.vendorOf(orderId);
    await market.setRates({ EUR: BEYOND_BOUND });
    const answer = await vendor.get('payment-instructions');
    expect([answer.status, answer.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    expect(answer.body.error.details.status).toBe('failed');
    await until('the refund', async () => (await driver.escrowBooks(orderId)) === 0n);
    await market.setRates({ EUR: QUOTED });
  });

  it('a buyer that knows where to pay may have paid: however far the market moves then, nothing goes back by itself', async () => {
    const orderId = await funded(await driver.offrampOrder());
    const vendor = await parties.vendorOf(orderId);
    const told = await until('the instructions', async () => {
      const answer = await vendor.get('payment-instructions');
      return answer.status === 200 && answer;
    });
    const deposit = await driver.escrowBalance(orderId);
    await market.setRates({ EUR: BEYOND_BOUND });
    const again = await vendor.get('payment-instructions');
    expect([again.status, again.body.data]).toEqual([200, told.body.data]);
    const repriced = await driver.event(orderId, 'reprice', { cost_multiplier: 2 });
    expect([repriced.status, repriced.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    expect((await driver.read(orderId)).status).toBe('crypto_received');
    expect(await driver.escrowBalance(orderId)).toBe(deposit);
    await market.setRates({ EUR: QUOTED });
  });

  it('without the vendor’s signature the partner may sign, and a late signature of the vendor does as well', async () => {
    const orders = [await driver.offrampOrder(), await driver.offrampOrder()];
    for (const orderId of orders) await withoutVendorSignature(await funded(orderId));
    const [bySelf, byVendor] = orders as [string, string];
    await market.setRates({ EUR: BEYOND_BOUND });
    for (const orderId of orders) {
      await (await parties.vendorOf(orderId)).get('payment-instructions');
      await until('the partner to be asked', async () => {
        const order = await driver.read(orderId);
        return order.status === 'failed' && order.next_action === 'authorize_refund';
      });
      expect(await driver.escrowBalance(orderId)).toBeGreaterThan(0n);
    }
    const refunded = await driver.refund(bySelf);
    expect(refunded.body.data.tx_hash).toMatch(/^0x[0-9a-f]{64}$/);

    const vendor = await parties.vendorOf(byVendor);
    const refund_signature = await vendor.sign('refund');
    expect((await vendor.post('sign-refund', { refund_signature })).status).toBe(200);
    await until('the automatic refund', async () => (await driver.escrowBooks(byVendor)) === 0n);
    expect(await driver.escrowBalance(byVendor)).toBe(0n);
    await market.setRates({ EUR: QUOTED });
    await driver.booksBalance();
  });
});
