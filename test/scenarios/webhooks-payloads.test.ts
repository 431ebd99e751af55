import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type ReceivedWebhook, startWebhookSink, type WebhookSink } from '../harness/webhook-sink.ts';
import { opensslAccepts } from '../harness/webhook-sink-openssl.ts';
import { expiryOf } from './order-contract.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

describe('what events carry, field by field as C6 has it', () => {
  let gateway: TestGateway;
  let sink: WebhookSink;
  let driver: OrdersDriver;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    sink = await startWebhookSink({ tls: true });
    await gateway.partner.webhooks.set({ url: sink.url });
    driver = ordersDriver(gateway);
  });
  afterAll(async () => {
    // Every event of this file, whatever it is about.
    const wrong = sink?.received.filter((one) => !opensslAccepts(one, gateway.partners[0].webhookSecret));
    await gateway?.stop();
    await sink?.close();
    expect(wrong).toEqual([]);
  });

  const about = (id: string) =>
    sink.received.filter(
      ({ event, attempt }) => attempt === 1 && (event?.data.order_id === id || event?.data.user_id === id),
    );
  const ofOrder = (id: string) => about(id).filter(({ event }) => event?.data.order_id === id);
  const dataOf = (received: readonly ReceivedWebhook[]) => received.map(({ event }) => event?.data);

  /** D13: what an order that has not stopped and is not held says of itself. */
  const GOING_ON = { failure: null, cancelled_by: null, hold: null };

  // biome-ignore lint/suspicious/noExplicitAny: an order as the wire has it
  const enteredAt = (order: any, status: string) =>
    order.timeline.find((entry: { status: string }) => entry.status === status);

  /** By hand, so that it shares nothing with the code that writes it. */
  const shortest = (decimal: string) => (decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal);

  // biome-ignore lint/suspicious/noExplicitAny: an order as the wire has it
  function expectedData(order: any, userId: string, status: string, more: object): object {
    return {
      order_id: order.order_id,
      status,
      user_id: userId,
      crypto_amount: order.amounts.crypto_amount,
      crypto_currency: 'USDC',
      partner_fee: shortest(order.fee_breakdown.partner_fee),
      partner_fee_pct: order.fee_breakdown.partner_fee_pct,
      fiat_amount: order.amounts.fiat_amount,
      fiat_currency: 'EUR',
      ...more,
    };
  }

  // Proves C6 row 1, C6 rules 1 and 5, C2.8, C3.1 rule 1, D13.1.
  it('order.status.changed of an on-ramp order: the envelope and the data hold these fields and no other', async () => {
    const userId = await driver.user();
    const orderId = await driver.onrampOrder({
      user_uuid: userId,
      partner_fee_pct: '1.5',
      provider_scope: 'p2p',
    });
    await driver.reaches(orderId, 'awaiting_fiat_transfer');
    await driver.act(orderId, 'confirm-payment-sent');
    const order = await driver.reaches(orderId, 'completed');
    await until('the last event', () => ofOrder(orderId).length === 5);
    expect(dataOf(ofOrder(orderId))).toEqual(
      [
        ...['awaiting_liquidity_provider', 'awaiting_vendor_escrow_funding', 'awaiting_fiat_transfer'],
        ...['fiat_transfer_pending', 'completed'],
      ].map((status) =>
        expectedData(order, userId, status, {
          ...{ provider: 'p2p', payment_details_id: '', reference_id: null },
          ...GOING_ON,
          expires_at: expiryOf('onramp', enteredAt(order, status)),
        }),
      ),
    );
    expect(order.fee_breakdown.partner_fee_pct).toBe(1.5);
    for (const { event, headers, method } of ofOrder(orderId)) {
      expect(Object.keys(event ?? {})).toEqual(['event_id', 'event_type', 'created_at', 'data']);
      expect(event?.event_id).toMatch(new RegExp(`^evt_${UUID}$`));
      expect(event?.event_type).toBe('order.status.changed');
      expect(event?.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(headers['x-service-timestamp']).toMatch(/^[1-9][0-9]{9}$/);
      expect([method, headers['content-type']]).toEqual(['POST', 'application/json']);
    }
  });

  // Proves C6 row 2, C6 rule 1, D6.4, D13.1, trap 32.
  it('order.refund.required is the cancelled event plus action_required, once; a fee of nothing reads 0', async () => {
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
    const userId = await driver.user();
    const detailsId = await driver.ownDetails(userId);
    const orderId = await driver.offrampOrder({
      user_uuid: userId,
      payment_details_id: detailsId,
      partner_fee_pct: '0',
    });
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    expect((await driver.act(orderId, 'cancel')).status).toBe(200);
    expect((await driver.act(orderId, 'cancel')).status).toBe(409);
    const order = await driver.reaches(orderId, 'cancelled');
    await until('the refund request', () =>
      ofOrder(orderId).some(({ event }) => event?.event_type === 'order.refund.required'),
    );
    const more = {
      ...{ provider: 'p2p', payment_details_id: String(detailsId), reference_id: 'payout-1' },
      ...{ hold: null, expires_at: null, cancelled_by: 'partner' },
      failure: {
        code: 'CANCELLED_ON_REQUEST',
        message: 'The order was cancelled on request.',
        retryable: true,
      },
    };
    const changed = ofOrder(orderId).filter(({ event }) => event?.event_type === 'order.status.changed');
    expect(dataOf(changed).at(-1)).toEqual(expectedData(order, userId, 'cancelled', more));
    expect(dataOf(changed).at(-1)?.partner_fee).toBe('0');
    expect(dataOf(changed).at(-1)?.partner_fee_pct).toBe(0);
    const path = `/api/v1/partner/orders/${orderId}`;
    const required = ofOrder(orderId).filter(({ event }) => event?.event_type === 'order.refund.required');
    expect(dataOf(required)).toEqual([
      {
        ...expectedData(order, userId, 'cancelled', more),
        action_required: {
          method: 'POST',
          endpoint: `${path}/authorize-refund`,
          parameters_endpoint: `${path}/refund-authorization-parameters`,
        },
      },
    ]);
    // Refunding changes nothing that is published: the order has asked, and is not asked for again.
    expect((await driver.refund(orderId)).status).toBe(200);
    await until('the refund has moved', async () => (await driver.escrowBalance(orderId)) === 0n);
    expect((await driver.published(orderId)).filter((what) => what === 'order.refund.required')).toHaveLength(
      1,
    );
  });

  // Proves C3.4, C6 row 3, D10.1.
  it('user.kyc.updated comes for VERIFIED, REJECTED and UNDER_REVIEW only, with reasons only when rejected', async () => {
    const made = await gateway.partner.users.create({ email: 'kyc@example.com' });
    const userId = made.body.data.id as string;
    const set = (status: string, more: object = {}) =>
      gateway.partner.sandbox.kycStatus(userId, { status, ...more });
    for (const status of ['PENDING_DOCUMENTS', 'IN_PROGRESS', 'UNDER_REVIEW', 'VERIFIED']) {
      expect((await set(status)).status, status).toBe(200);
    }
    expect((await set('REJECTED', { rejection_reasons: ['document_expired'] })).status).toBe(200);
    await until('three events', () => about(userId).length === 3);
    expect(about(userId).map(({ event }) => [event?.event_type, event?.data])).toEqual([
      ['user.kyc.updated', { user_id: userId, kyc_status: 'UNDER_REVIEW' }],
      ['user.kyc.updated', { user_id: userId, kyc_status: 'VERIFIED' }],
      [
        'user.kyc.updated',
        { user_id: userId, kyc_status: 'REJECTED', rejection_reasons: ['document_expired'] },
      ],
    ]);
  });
});
