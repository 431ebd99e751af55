import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { actOnOrder } from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { type CallOptions, startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { chainDriver } from './chain-driver.ts';
import { openOrderBook } from './order-book.ts';
import type { RowName, Situation } from './order-contract.ts';
import { atomic, type OrdersDriver, ordersDriver } from './orders-driver.ts';

const casesOf = statement<[orderId: string], { relationship: string; purpose: string }>(
  'test.compliance_cases',
  'SELECT relationship, purpose FROM compliance_cases WHERE order_id = $1',
);

const FORWARD_REQUEST = { from: '', to: '', value: '', gas: '', nonce: '', deadline: '', data: '' };
const SIGNED = {
  signature: '0x',
  destination_chain: 'arbitrum-one',
  destination_address: '0x',
  forward_request: FORWARD_REQUEST,
};
/** One that fits, and every way not to: the order is looked for before the body is judged. */
const ANY_BODY: readonly CallOptions[] = [
  { body: SIGNED },
  { body: [] },
  { body: { signature: 7, reason: 7 } },
  { rawBody: '{' },
  { rawBody: 'x', headers: { 'content-type': 'text/plain' } },
  { rawBody: JSON.stringify({ reason: 'x'.repeat(1_100_000) }) },
  {},
];
/** C4.6 rule 5. */
const UNTOUCHABLE = [
  ['POST', 'authorize-crypto-transfer'],
  ['POST', 'confirm-fiat-received'],
  ['POST', 'cancel'],
  ['POST', 'submit-payer-details'],
  ['POST', 'confirm-payment-sent'],
  ['POST', 'authorize-bridge'],
  ['POST', 'authorize-refund'],
  ['POST', 'authorize-release'],
  ['GET', 'release-authorization-parameters'],
  ['GET', `bridge-authorization-parameters?destination_chain=${'x'.repeat(101)}`],
  ['GET', 'transfer-authorization-parameters'],
  ['GET', 'refund-authorization-parameters'],
  ['GET', 'bridge-authorization-parameters'],
] as const;

describe('orders of a sandbox that acts on its own', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    driver = ordersDriver(gateway);
  });
  afterAll(() => gateway?.stop());

  it('an off-ramp order needs the partner’s signature and nothing else where the provider notifies', async () => {
    const orderId = await driver.offrampOrder({
      provider_scope: 'all',
      has_fiat_settlement_notification: true,
    });
    await driver.fund(orderId);
    const order = await driver.reaches(orderId, 'completed');
    expect(order.has_fiat_settlement_notification).toBe(true);
    expect(await driver.escrowBalance(orderId)).toBe(0n);
    await driver.booksBalance();
  });

  /** Every action and every parameter read answers as for an order that does not exist. */
  async function expectUntouchable(orderId: string): Promise<void> {
    const { apiKey: key } = widgetPartner();
    for (const [method, what] of UNTOUCHABLE) {
      const path = (id: string) => `/api/v1/partner/orders/${id}/${what}`;
      for (const given of method === 'POST' ? ANY_BODY : [{}]) {
        const [answer, unknown] = await Promise.all([
          gateway.call(method, path(orderId), { key, ...given }),
          gateway.call(method, path(randomUUID()), { key, ...given }),
        ]);
        expect([what, given, answer.status, answer.text]).toEqual([what, given, 404, unknown.text]);
        expect(answer.body.error.code).toBe('ORDER_NOT_FOUND');
      }
    }
  }

  const widgetPartner = () => gateway.partners[1];

  /** Opened as the embedded widget would; simulated actors are off. */
  async function openWidgetOrder(direction: 'onramp' | 'offramp') {
    const { apiKey: key } = widgetPartner();
    const widgetDriver = ordersDriver(gateway, widgetPartner());
    await gateway.as(key).sandbox.setSettings({ auto_advance: false });
    const made = await gateway.as(key).sandbox.widgetOrder({ order_type: direction });
    expect(made.body).toMatchObject({ success: true, data: { allowed_actions: [] } });
    const order = (await openOrderBook(gateway, widgetDriver)).follow(direction, made.body.data.order_id);
    const isNotified = async (row: RowName, situation: Situation = {}) => {
      await order.took(row, { ...situation, widget: true });
      await expectUntouchable(order.id);
    };
    return {
      ...order,
      isNotified,
      tell: (event: string) => widgetDriver.event(order.id, event),
      driver: widgetDriver,
    };
  }

  // Proves C4.6 rule 5, C6 row 1, trap 8, C7 ORDER_NOT_FOUND.
  it('a widget’s on-ramp order is notified at every status and never acted on', async () => {
    const order = await openWidgetOrder('onramp');
    await order.isNotified('3.1 initiate');
    await order.tell('vendor_accepts');
    await order.isNotified('3.1 vendor accepts');
    await order.tell('escrow_funded');
    await order.isNotified('3.1 crypto locked');
    await unitOfWork(gateway.deps, SYSTEM, (unit) =>
      actOnOrder(unit, gateway.deps.orderAdapters, order.id, 'payment_sent_confirmed', 'customer'),
    );
    await order.isNotified('3.1 confirm-payment-sent');
    await order.tell('vendor_confirms_fiat');
    await order.isNotified('3.1 vendor confirms fiat');
    await order.ended('released');
  });

  // Proves C4.6 rule 5, C6 row 1, trap 8.
  it('a widget’s off-ramp order is notified at every status and never acted on', async () => {
    const [paid, stopped] = await Promise.all([openWidgetOrder('offramp'), openWidgetOrder('offramp')]);
    for (const order of [paid, stopped]) {
      await order.isNotified('3.2 initiate');
      const { escrow } = await until('the escrow', async () => {
        const funds = await order.driver.funds(order.id);
        return funds.escrow !== null && funds;
      });
      const amount = atomic(escrow.expected_amount);
      await chainDriver(gateway).pay(widgetPartner(), escrow.address, amount);
      await order.isNotified('3.2 wallet pays by itself');
    }
    await paid.tell('buyer_submits_proof');
    await paid.isNotified('3.2 buyer submits proof');
    await paid.tell('admin_reviews_proof');
    await paid.isNotified('3.2 admin reviews proof');
    await paid.tell('proof_accepted');
    await paid.isNotified('3.2 proof accepted', { providerConfirms: true });
    await paid.tell('provider_confirms_fiat');
    await paid.isNotified('3.2 automatic confirmation');
    await paid.ended('released');
    await stopped.tell('order_expires');
    await stopped.isNotified('3.2 no proof in time', { refundOwed: true });
    await stopped.ended('locked');
  });

  async function thirdParty(
    rail: string,
    details: Record<string, string>,
    place: { country_code: string; currency: string },
  ) {
    const made = await gateway.partner.recipients.create({
      recipient_name: 'Wang Wei',
      recipient_country: place.country_code,
    });
    const recipientId = made.body.data.recipient_id as string;
    await until('the screening', async () => {
      const { body } = await gateway.partner.recipients.get(recipientId);
      return body.data.screening_status === 'clear';
    });
    const destination = await gateway.partner.recipients.createDestination(recipientId, {
      rail,
      details,
      ...place,
    });
    expect(destination.body).toMatchObject({ success: true });
    const { recipient_destination_id } = destination.body.data;
    return { recipient_id: recipientId, recipient_destination_id };
  }

  // Proves C4.7 rules 2 and 4, C2.11 rule 3, trap 26.
  it('a third party’s order keeps the recipient as quoted, and opens a compliance case', async () => {
    const payee = await thirdParty(
      'iban-sepa',
      { full_name: 'Wang Wei', iban: 'DE89370400440532013000' },
      { country_code: 'DE', currency: 'EUR' },
    );
    const quote = await driver.offrampQuote({
      sender_id: await driver.user(),
      ...payee,
      sender_recipient_relationship: 'family',
      purpose_of_payment: 'gift',
    });
    expect(quote.body).toMatchObject({ success: true });
    await gateway.partner.recipients.update(payee.recipient_id, { recipient_name: 'Somebody Else' });
    const initiated = await gateway.partner.offramp.initiate({ quote_id: quote.body.data.quote_id });
    const orderId = initiated.body.data.order_id;
    const order = await driver.read(orderId);
    expect(initiated.body.data.recipient_context).toEqual(order.recipient_context);
    expect(order.recipient_context).toMatchObject({
      recipient: { recipient_id: payee.recipient_id, recipient_name: 'Wang Wei', version: 1 },
    });
    expect(JSON.stringify(order)).not.toContain('DE89370400440532013000');
    const [kept] = await gateway.deps.db.query(SYSTEM, casesOf, [orderId]);
    expect(kept).toEqual({ relationship: 'family', purpose: 'gift' });
  });

  // Proves C4.6 rule 6, C7 rule 2, trap 3.
  it('a wallet that must name the sender is refused by field, with ceilings, and the quote is unharmed', async () => {
    const payee = await thirdParty(
      'alipay-china',
      { full_name: 'Wang Wei', account_number: '13800138000', mobile_number: '+8613800138000' },
      { country_code: 'CN', currency: 'CNY' },
    );
    const senderId = await driver.user('李'.repeat(61));
    const quote = await driver.offrampQuote({
      sender_id: senderId,
      ...payee,
      fiat_currency: 'CNY',
      fiat_amount: '700.00',
      provider_scope: 'all',
      sender_recipient_relationship: 'family',
    });
    expect(quote.body).toMatchObject({ success: true });
    const initiate = () => gateway.partner.offramp.initiate({ quote_id: quote.body.data.quote_id });
    for (const _ of [1, 2]) {
      const refused = await initiate();
      expect([refused.status, refused.body.error.code]).toEqual([422, 'SENDER_IDENTITY_REQUIRED']);
      const { missing_fields, kyc_fields, field_limits } = refused.body.error.details;
      expect(missing_fields).toContain('last_name');
      expect(missing_fields).not.toContain('first_name');
      expect(kyc_fields).toEqual(expect.arrayContaining(['address', 'city', 'postal_code']));
      expect(field_limits).toMatchObject({ last_name: 60, address: 70 });
    }
  });
});
