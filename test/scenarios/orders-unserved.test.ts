import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { connect } from '../harness/database.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties } from './orders-parties.ts';
import { holderOf, type VendorClient, vendorClients } from './vendor-driver.ts';

/** Everybody would buy at the quoted rate. */
const matchAll = statement<[]>(
  'test.match_all_buyers',
  `UPDATE offers SET fixed_price = 2, margin_pct = NULL
    WHERE side = 'BUY' AND crypto_currency = 'USDC' AND fiat_currency = 'EUR'`,
);
const quotedVendor = statement<[quoteId: string], { vendor_id: string }>(
  'test.quoted_vendor',
  'SELECT vendor_id FROM quotes WHERE quote_id = $1',
);
/** As the release before wrote them: with the vendor of the quote, whether it served the order or not. */
const giveBack = statement<[orderId: string]>(
  'test.give_to_quoted_vendor',
  'UPDATE orders o SET vendor_id = q.vendor_id FROM quotes q WHERE q.quote_id = o.quote_id AND o.order_id = $1',
);
const insertAsBefore = statement<
  [like: string, orderId: string, quoteId: string],
  { vendor_id: string | null }
>(
  'test.insert_order_as_before',
  `INSERT INTO orders SELECT (jsonb_populate_record(o, jsonb_build_object(
       'order_id', $2::uuid, 'quote_id', q.quote_id, 'vendor_id', q.vendor_id))).*
     FROM orders o, quotes q WHERE o.order_id = $1 AND q.quote_id = $3 RETURNING vendor_id`,
);

describe('an off-ramp order that nobody can serve yet', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;
  let vendors: readonly VendorClient[];

  beforeAll(async () => {
    gateway = await startGateway({ worker: true });
    driver = ordersDriver(gateway);
    parties = orderParties(gateway);
    vendors = await vendorClients(gateway);
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
  });
  afterAll(() => gateway?.stop());
  beforeEach(() => goOnline(vendors, true));

  async function goOnline(some: readonly VendorClient[], online: boolean): Promise<void> {
    await Promise.all(some.map(({ api }) => api.setOnline({ online })));
    await until('the book to know', async () => {
      const { body } = await gateway.partner.liquidity.get();
      return body.data.pairs.length > 0 === online;
    });
  }

  /** Two quotes of one customer; the first of them is opened while no vendor is there. */
  async function openUnserved() {
    const userId = await driver.user();
    const payment_details_id = await driver.ownDetails(userId);
    // An amount that several vendors trade in.
    const fields = { user_uuid: userId, payment_details_id, fiat_amount: '1500.00' };
    const quote = async () => (await driver.offrampQuote(fields)).body.data.quote_id as string;
    const [quoteId, spare] = [await quote(), await quote()];
    await goOnline(vendors, false);
    const { status, order_id: orderId } = await driver.sdk.offramp.initiate({ quote_id: quoteId });
    expect(status).toBe('awaiting_liquidity_provider');
    await until('the first look to be over', async () => {
      const { effects } = (await gateway.operator.orders.get(orderId)).body.data;
      const offer = effects.find(({ kind }) => kind === 'vendor.offer-order');
      return (offer?.next_attempt_at ?? '') > (offer?.created_at ?? '');
    });
    const [row] = await gateway.deps.db.query(SYSTEM, quotedVendor, [quoteId]);
    const quoted = vendors.find(({ id }) => id === row?.vendor_id);
    if (quoted === undefined) throw new Error('the quote has no vendor');
    return { orderId, quoted, spare };
  }

  /** It is looked for every few seconds. */
  async function found(orderId: string): Promise<VendorClient> {
    await driver.sdk.sandbox.advanceClock({ seconds: 6 });
    return until('a vendor', () => holderOf(gateway, vendors, orderId).catch(() => undefined));
  }

  async function listed({ api }: VendorClient): Promise<string[]> {
    const { body } = await api.orders.list({ limit: 100 });
    return body.data.orders.map(({ order_id }: { order_id: string }) => order_id);
  }

  /** The vendor has nothing to do with the order, as far as it can learn. */
  async function expectStranger(vendor: VendorClient, orderId: string): Promise<void> {
    const body = { refund_signature: `0x${'0'.repeat(130)}` };
    const answers = [
      await vendor.get(orderId),
      await vendor.get(orderId, 'payment-instructions'),
      await vendor.act(orderId, 'accept', body),
      await vendor.act(orderId, 'decline'),
      await vendor.act(orderId, 'sign-refund', body),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.body.error?.code]).toEqual([404, 'ORDER_NOT_FOUND']);
    }
    expect(await listed(vendor)).not.toContain(orderId);
  }

  it('is nobody’s, the quoted vendor’s neither, until one is found, and is then that one’s', async () => {
    const { orderId, quoted } = await openUnserved();
    expect(await parties.vendorId(orderId)).toBeNull();
    await expectStranger(quoted, orderId);
    const asked = await driver.event(orderId, 'vendor_accepts');
    expect([asked.status, asked.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    const read = await gateway.operator.orders.get(orderId);
    expect(read.body.data.order).toMatchObject({ vendor_id: null, status: 'awaiting_liquidity_provider' });

    await gateway.deps.db.query(SYSTEM, matchAll, []);
    await goOnline(
      vendors.filter(({ id }) => id !== quoted.id),
      true,
    );
    const vendor = await found(orderId);
    expect(vendor.id).not.toBe(quoted.id);
    await expectStranger(quoted, orderId);
    expect(await listed(vendor)).toContain(orderId);
    const accepted = await vendor.act(orderId, 'accept', {
      refund_signature: await vendor.sign(orderId, 'refund'),
    });
    expect(accepted.body.data).toMatchObject({ status: 'awaiting_crypto_transfer_authorization' });
  });

  it('is the quoted vendor’s once that can serve it again, and is offered once', async () => {
    const { orderId, quoted } = await openUnserved();
    await goOnline([quoted], true);
    expect((await found(orderId)).id).toBe(quoted.id);
    expect((await quoted.get(orderId)).body.data.allowed_actions).toEqual(['accept', 'decline']);
    expect(await parties.openReservations(orderId)).toBe(1);
  });

  it('loses the vendor that the release before wrote; one that was found since keeps it', async () => {
    const { orderId: served } = await openUnserved();
    await goOnline(vendors, true);
    const holder = await found(served);
    const { orderId, quoted, spare } = await openUnserved();
    await gateway.deps.db.query(SYSTEM, giveBack, [orderId]);
    expect(await listed(quoted)).toContain(orderId);
    const file = new URL('../../apps/gateway/src/db/migrations/0044_orders_of_nobody.sql', import.meta.url);
    const [clearing = ''] = /SET LOCAL ROLE.*RESET ROLE;/s.exec(readFileSync(file, 'utf8')) ?? [];
    const owner = await connect(gateway.databaseUrl);
    await owner.query(`BEGIN; ${clearing} COMMIT`).finally(() => owner.end());
    await expectStranger(quoted, orderId);
    expect(await parties.vendorId(served)).toBe(holder.id);
    const copy = [orderId, crypto.randomUUID(), spare] as const;
    expect(await gateway.deps.db.query(SYSTEM, insertAsBefore, [...copy])).toEqual([{ vendor_id: null }]);

    await goOnline(vendors, true);
    const next = await found(orderId);
    expect((await next.get(orderId)).body.data.allowed_actions).toEqual(['accept', 'decline']);
    expect(await parties.openReservations(orderId)).toBe(1);
  });
});
