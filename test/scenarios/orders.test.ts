import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type OrdersDesk, ordersDesk } from './orders-desk.ts';

const casesOf = statement<[orderId: string], { relationship: string; purpose: string }>(
  'test.compliance_cases',
  'SELECT relationship, purpose FROM compliance_cases WHERE order_id = $1',
);

describe('orders of a sandbox that acts on its own', () => {
  let gateway: TestGateway;
  let desk: OrdersDesk;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    desk = ordersDesk(gateway);
  });
  afterAll(() => gateway?.stop());

  it('an off-ramp order needs the partner’s signature and nothing else where the provider notifies', async () => {
    const orderId = await desk.offrampOrder({
      provider_scope: 'all',
      has_fiat_settlement_notification: true,
    });
    await desk.fund(orderId);
    const order = await desk.reaches(orderId, 'completed');
    expect(order.has_fiat_settlement_notification).toBe(true);
    expect(await desk.escrowBalance(orderId)).toBe(0n);
    await desk.booksBalance();
  });

  it('a widget order is notified and never acted on', async () => {
    for (const orderType of ['onramp', 'offramp']) {
      const opened = await gateway.call('POST', '/api/v1/sandbox/widget-orders', {
        body: { order_type: orderType },
      });
      expect(opened.body).toMatchObject({ success: true, data: { allowed_actions: [] } });
      const orderId = opened.body.data.order_id;
      for (const action of [
        'cancel',
        'confirm-payment-sent',
        'confirm-fiat-received',
        'submit-payer-details',
        'authorize-refund',
        'authorize-bridge',
        'authorize-crypto-transfer',
      ]) {
        const signed = {
          signature: '0x',
          destination_chain: 'arbitrum-one',
          destination_address: '0x',
          forward_request: { from: '', to: '', value: '', gas: '', nonce: '', deadline: '', data: '' },
        };
        const answer = await desk.act(orderId, action, signed);
        expect([action, answer.status, answer.body.error?.code]).toEqual([action, 404, 'ORDER_NOT_FOUND']);
      }
      for (const read of ['transfer', 'refund', 'bridge']) {
        const path = `/api/v1/partner/orders/${orderId}/${read}-authorization-parameters`;
        expect((await gateway.call('GET', path)).body.error.code).toBe('ORDER_NOT_FOUND');
      }
      if (orderType === 'onramp') {
        const order = await desk.reaches(orderId, 'completed');
        expect(order.allowed_actions).toEqual([]);
        expect(await desk.published(orderId)).toContain('completed');
      }
    }
  });

  async function thirdParty(rail: string, details: Record<string, string>, place: Record<string, string>) {
    const made = await gateway.call('POST', '/api/v1/partner/recipients', {
      body: { recipient_name: 'Wang Wei', recipient_country: place.country_code },
    });
    const recipientId = made.body.data.recipient_id as string;
    await until('the screening', async () => {
      const { body } = await gateway.call('GET', `/api/v1/partner/recipients/${recipientId}`);
      return body.data.screening_status === 'clear';
    });
    const destination = await gateway.call('POST', `/api/v1/partner/recipients/${recipientId}/destinations`, {
      body: { rail, details, ...place },
    });
    expect(destination.body).toMatchObject({ success: true });
    const { recipient_destination_id } = destination.body.data;
    return { recipient_id: recipientId, recipient_destination_id };
  }

  it('a third party’s order keeps the recipient as quoted, and opens a compliance case', async () => {
    const payee = await thirdParty(
      'iban-sepa',
      { full_name: 'Wang Wei', iban: 'DE89370400440532013000' },
      { country_code: 'DE', currency: 'EUR' },
    );
    const quote = await desk.offrampQuote({
      sender_id: await desk.user(),
      ...payee,
      sender_recipient_relationship: 'family',
      purpose_of_payment: 'gift',
    });
    expect(quote.body).toMatchObject({ success: true });
    await gateway.call('PATCH', `/api/v1/partner/recipients/${payee.recipient_id}`, {
      body: { recipient_name: 'Somebody Else' },
    });
    const initiated = await gateway.call('POST', '/api/v1/partner/offramp/initiate', {
      body: { quote_id: quote.body.data.quote_id },
    });
    const orderId = initiated.body.data.order_id;
    const order = await desk.read(orderId);
    expect(initiated.body.data.recipient_context).toEqual(order.recipient_context);
    expect(order.recipient_context).toMatchObject({
      recipient: { recipient_id: payee.recipient_id, recipient_name: 'Wang Wei', version: 1 },
    });
    expect(JSON.stringify(order)).not.toContain('DE89370400440532013000');
    const [kept] = await gateway.deps.db.query(SYSTEM, casesOf, [orderId]);
    expect(kept).toEqual({ relationship: 'family', purpose: 'gift' });
  });

  it('a wallet that must name the sender is refused by field, with ceilings, and the quote is unharmed', async () => {
    const payee = await thirdParty(
      'alipay-china',
      { full_name: 'Wang Wei', account_number: '13800138000', mobile_number: '+8613800138000' },
      { country_code: 'CN', currency: 'CNY' },
    );
    const senderId = await desk.user('李'.repeat(61));
    const quote = await desk.offrampQuote({
      sender_id: senderId,
      ...payee,
      fiat_currency: 'CNY',
      fiat_amount: '700.00',
      provider_scope: 'all',
      sender_recipient_relationship: 'family',
    });
    expect(quote.body).toMatchObject({ success: true });
    const initiate = () =>
      gateway.call('POST', '/api/v1/partner/offramp/initiate', {
        body: { quote_id: quote.body.data.quote_id },
      });
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
