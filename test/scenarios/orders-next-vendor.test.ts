import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { connect } from '../harness/database.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { holderOf, type VendorClient, vendorClients } from './vendor-driver.ts';
import { widgetPeople } from './widget-customer.ts';

const RESPONSE_SECONDS = 200;
const DETAILS = { full_name: 'Vendor', iban: 'DE02120300000000202051' };

/** Everybody would trade at the quoted rate. */
const matchAll = statement<[]>(
  'test.match_all_offers',
  `UPDATE offers SET fixed_price = CASE side WHEN 'SELL' THEN 0.5 ELSE 2 END, margin_pct = NULL
    WHERE crypto_currency = 'USDC' AND fiat_currency = 'EUR'`,
);
/** As the release before wrote them when a vendor that was only asked signed the refund. */
const planFor = statement<[orderId: string, escrow: string]>(
  'test.plan_escrow',
  'UPDATE orders SET escrow = $2::jsonb WHERE order_id = $1',
);
const signFor = statement<[orderId: string, signer: string, signature: string]>(
  'test.sign_refund',
  `INSERT INTO escrow_signatures (order_id, partner_id, purpose, signer, signature, created_at)
   SELECT order_id, partner_id, 'refund', $2, $3, created_at FROM orders WHERE order_id = $1`,
);
const signersOf = statement<[orderId: string], { signer: string }>(
  'test.refund_signers',
  `SELECT signer FROM escrow_signatures WHERE order_id = $1 AND purpose = 'refund'`,
);

describe('an order that passes to the next vendor', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let vendors: readonly VendorClient[];

  beforeAll(async () => {
    gateway = await startGateway({
      worker: true,
      env: {
        ORDER_VENDOR_RESPONSE_SECONDS: `${RESPONSE_SECONDS}`,
        RATE_LIMIT_PARTNER_PER_MINUTE: '100000',
      },
    });
    driver = ordersDriver(gateway);
    vendors = await vendorClients(gateway);
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
  });
  afterAll(() => gateway?.stop());

  async function offered(orderId: string): Promise<VendorClient> {
    await gateway.deps.db.query(SYSTEM, matchAll, []);
    return holderOf(gateway, vendors, orderId);
  }

  const nextAfter = (former: VendorClient, orderId: string) =>
    until('the next vendor', async () => {
      const next = await holderOf(gateway, vendors, orderId).catch(() => undefined);
      return next !== undefined && next.id !== former.id && next;
    });

  const escrowShown = async (vendor: VendorClient, orderId: string) =>
    (await vendor.get(orderId)).body.data.escrow_address;

  /** What the API shows is what the vendor signs, and what it is accepted with. */
  async function accepts(vendor: VendorClient, orderId: string): Promise<void> {
    const parameters = (await vendor.api.orders.signingParameters(orderId, { purpose: 'refund' })).body.data;
    const { wallet_address: wallet } = (await vendor.api.profile()).body.data;
    expect(parameters.owners.seller).toBe(wallet);
    const refund_signature = await vendor.sign(orderId, 'refund');
    const accepted = await vendor.act(orderId, 'accept', { refund_signature, payment_details: DETAILS });
    expect(accepted.body).toMatchObject({ data: { status: 'awaiting_vendor_escrow_funding' } });
    expect(await escrowShown(vendor, orderId)).toBe(parameters.escrow_address);
    const signers = await gateway.deps.db.query(SYSTEM, signersOf, [orderId]);
    expect(signers).toEqual([{ signer: wallet }]);
  }

  it('can be accepted by it: the one before signs nothing until it accepts itself', async () => {
    const orderId = await driver.onrampOrder();
    const first = await offered(orderId);
    const refund_signature = await first.sign(orderId, 'refund');
    const early = await first.act(orderId, 'sign-refund', { refund_signature });
    expect([early.status, early.body.error]).toEqual([
      409,
      expect.objectContaining({
        code: 'INVALID_STATUS',
        details: { status: 'awaiting_liquidity_provider', allowed_actions: ['accept', 'decline'] },
      }),
    ]);
    expect(await escrowShown(first, orderId)).toBeNull();
    expect((await first.act(orderId, 'decline')).status).toBe(200);
    await accepts(await nextAfter(first, orderId), orderId);
  });

  /** The address that the release before has written down for it. */
  async function fixedEarly(vendor: VendorClient, orderId: string): Promise<string> {
    const { owners, escrow_address: address } = (
      await vendor.api.orders.signingParameters(orderId, { purpose: 'refund' })
    ).body.data;
    await gateway.deps.db.query(SYSTEM, planFor, [orderId, JSON.stringify({ address, ...owners })]);
    const signature = await vendor.sign(orderId, 'refund');
    await gateway.deps.db.query(SYSTEM, signFor, [orderId, owners.seller, signature]);
    return address;
  }

  it.each([
    ['declines', async (first: VendorClient, orderId: string) => first.act(orderId, 'decline')],
    ['stays silent', async () => gateway.partner.sandbox.advanceClock({ seconds: RESPONSE_SECONDS + 1 })],
  ])('has no escrow of one before that %s, whatever was written for it', async (_how, passes) => {
    const orderId = await driver.onrampOrder();
    const first = await offered(orderId);
    const address = await fixedEarly(first, orderId);
    expect(await escrowShown(first, orderId)).toBe(address);

    expect((await passes(first, orderId)).status).toBe(200);
    const next = await nextAfter(first, orderId);
    expect(await escrowShown(next, orderId)).toBeNull();
    expect(await gateway.deps.db.query(SYSTEM, signersOf, [orderId])).toEqual([]);
    await accepts(next, orderId);
  });

  it('loses what was written before the migration, which leaves accepted orders alone', async () => {
    const [waiting, taken] = [await driver.onrampOrder(), await driver.onrampOrder()];
    const first = await offered(waiting);
    await fixedEarly(first, waiting);
    const other = await offered(taken);
    await accepts(other, taken);
    const file = new URL(
      '../../apps/gateway/src/db/migrations/0035_escrow_of_one_vendor.sql',
      import.meta.url,
    );
    const [clearing = ''] = /SET LOCAL ROLE.*RESET ROLE;/s.exec(readFileSync(file, 'utf8')) ?? [];
    const owner = await connect(gateway.databaseUrl);
    await owner.query(`BEGIN; ${clearing} COMMIT`).finally(() => owner.end());
    expect(await escrowShown(first, waiting)).toBeNull();
    expect(await gateway.deps.db.query(SYSTEM, signersOf, [waiting])).toEqual([]);
    expect(await escrowShown(other, taken)).toMatch(/^0x/);
    expect(await gateway.deps.db.query(SYSTEM, signersOf, [taken])).toHaveLength(1);
    await accepts(first, waiting);
  });

  it('of the widget has no escrow by being looked at', async () => {
    const customer = await widgetPeople(gateway, gateway.partners[0]).arrive();
    const { order_id: orderId } = await customer.open('onramp');
    const first = await offered(orderId);
    const funding = await customer.ask('GET', `/orders/${orderId}/funding`);
    expect([funding.status, funding.body.error?.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    expect(await escrowShown(first, orderId)).toBeNull();
    expect((await first.act(orderId, 'decline')).status).toBe(200);
    await accepts(await nextAfter(first, orderId), orderId);
  });

  it('off-ramp is accepted with the refund’s signature, and one that is served as quoted is signed for apart', async () => {
    const quoted = await driver.offrampOrder();
    const server = await holderOf(gateway, vendors, quoted);
    const early = await server.act(quoted, 'sign-refund', {
      refund_signature: await server.sign(quoted, 'refund'),
    });
    expect(early.body.data.status).toBe('awaiting_crypto_transfer_authorization');
    expect((await server.get(quoted)).body.data.signed).toEqual({ refund: true, release: false });

    const userId = await driver.user();
    const payment_details_id = await driver.ownDetails(userId);
    const quote = await driver.offrampQuote({ user_uuid: userId, payment_details_id });
    const goOnline = async (online: boolean) => {
      await Promise.all(vendors.map(({ api }) => api.setOnline({ online })));
      await until('the book to know', async () => {
        const { body } = await gateway.partner.liquidity.get();
        return body.data.pairs.length > 0 === online;
      });
    };
    await goOnline(false);
    const opened = await driver.sdk.offramp.initiate({ quote_id: quote.body.data.quote_id });
    expect(opened.status).toBe('awaiting_liquidity_provider');
    const { order_id: orderId } = opened;
    await goOnline(true);
    await gateway.partner.sandbox.advanceClock({ seconds: 6 });
    const vendor = await until('a vendor', () => holderOf(gateway, vendors, orderId).catch(() => undefined));
    const refund_signature = await vendor.sign(orderId, 'refund');
    expect((await vendor.act(orderId, 'sign-refund', { refund_signature })).status).toBe(409);
    const accepted = await vendor.act(orderId, 'accept', { refund_signature });
    expect(accepted.body.data.status).toBe('awaiting_crypto_transfer_authorization');
    expect((await vendor.get(orderId)).body.data.signed.refund).toBe(true);
  });
});
