import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { atomic, type OrdersDesk, ordersDesk } from './orders-desk.ts';

const STRANGER = '0x00000000000000000000000000000000000000A1';

describe('on-ramp orders', () => {
  let gateway: TestGateway;
  let desk: OrdersDesk;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    desk = ordersDesk(gateway);
    await gateway.call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
  });
  afterAll(() => gateway?.stop());

  async function locked(fields: Record<string, unknown> = {}): Promise<string> {
    const orderId = await desk.onrampOrder(fields);
    const accepted = await desk.event(orderId, 'vendor_accepts');
    expect(accepted.body.data.status).toBe('awaiting_vendor_escrow_funding');
    expect(accepted.body.data).not.toHaveProperty('vendor_payment_details');
    const funded = await desk.event(orderId, 'escrow_funded');
    expect(funded.body.data.status).toBe('awaiting_fiat_transfer');
    return orderId;
  }

  async function completed(): Promise<string> {
    const orderId = await locked();
    await desk.act(orderId, 'confirm-payment-sent');
    const released = await desk.event(orderId, 'vendor_confirms_fiat');
    expect(released.body.data.status).toBe('completed');
    return orderId;
  }

  it('shows the vendor’s payment details once crypto is locked, and releases to the master wallet', async () => {
    const before = await desk.balance(desk.wallet);
    const orderId = await locked();
    const order = await desk.read(orderId);
    expect(order).toMatchObject({
      fiat_funding_source: 'vendor_details',
      next_action: 'confirm_payment_sent',
      allowed_actions: ['confirm-payment-sent', 'cancel'],
      vendor_payment_details: { reference: expect.any(String) },
    });
    expect(await desk.escrowBalance(orderId)).toBe(atomic(order.amounts.crypto_amount));
    await desk.act(orderId, 'confirm-payment-sent');
    expect((await desk.act(orderId, 'confirm-payment-sent')).body.error).toMatchObject({
      code: 'INVALID_STATUS',
      details: { status: 'fiat_transfer_pending', allowed_actions: [] },
    });
    await desk.event(orderId, 'vendor_confirms_fiat');
    const received = atomic(order.amounts.crypto_amount) - atomic(order.fee_breakdown.platform_fee);
    expect(await desk.balance(desk.wallet)).toBe(before + received);
    expect(await desk.escrowBooks(orderId)).toBe(0n);
    await desk.booksBalance();
  });

  it('sends out to another network and shows the transaction there', async () => {
    const orderId = await completed();
    const order = await desk.read(orderId);
    expect(order.allowed_actions).toEqual(['authorize-bridge']);
    const answer = await desk.sendOut(orderId, STRANGER);
    expect(answer.body.data).toEqual({ order_id: orderId, status: 'send_out_pending' });
    const again = await gateway.call(
      'GET',
      `/api/v1/partner/orders/${orderId}/bridge-authorization-parameters?destination_chain=arbitrum-one&destination_address=${STRANGER}`,
    );
    expect([again.status, again.body.error.code]).toEqual([409, 'SEND_OUT_IN_PROGRESS']);
    const settled = await desk.event(orderId, 'bridge_settles');
    expect(settled.body.data.status).toBe('send_out_completed');
    const { send_out_tx_hash: hash } = await desk.read(orderId);
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await desk.balance(STRANGER, 'arbitrum-one')).toBeGreaterThan(0n);
    expect((await desk.published(orderId)).slice(-2)).toEqual(['send_out_pending', 'send_out_completed']);
    await desk.booksBalance();
  });

  it('a failed send-out can be authorized again, for its first request is spent', async () => {
    const orderId = await completed();
    await desk.sendOut(orderId, STRANGER);
    const failed = await desk.event(orderId, 'bridge_fails');
    expect(failed.body.data).toMatchObject({
      status: 'send_out_failed',
      allowed_actions: ['authorize-bridge'],
    });
    expect((await desk.sendOut(orderId, STRANGER)).status).toBe(200);
    expect((await desk.event(orderId, 'bridge_settles')).body.data.status).toBe('send_out_completed');
  });

  it.each([
    ['a chain that is not supported', 'moon-mainnet', STRANGER],
    ['its own chain', 'base-mainnet', STRANGER],
    ['an address that is none', 'arbitrum-one', '0x12'],
  ])('refuses a send-out to %s', async (_what, chain, address) => {
    const orderId = await completed();
    const path = `/api/v1/partner/orders/${orderId}/bridge-authorization-parameters`;
    const answer = await gateway.call(
      'GET',
      `${path}?destination_chain=${chain}&destination_address=${address}`,
    );
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_DESTINATION']);
  });

  it.each([
    ['cancelled by the partner', 'cancelled', (id: string) => desk.act(id, 'cancel')],
    ['out of time', 'cancelled', (id: string) => desk.event(id, 'order_expires')],
    ['stopped by an escrow error', 'failed', (id: string) => desk.event(id, 'escrow_error')],
  ])('vendor crypto goes back when a funded order is %s', async (_what, status, stop) => {
    const orderId = await locked();
    expect(await desk.escrowBalance(orderId)).toBeGreaterThan(0n);
    expect((await stop(orderId)).body.data.status).toBe(status);
    await until('the crypto is back', async () => (await desk.escrowBalance(orderId)) === 0n);
    await until('it is booked', async () => (await desk.escrowBooks(orderId)) === 0n);
    expect(await desk.read(orderId)).toMatchObject({ status, allowed_actions: [], next_action: 'none' });
    await desk.booksBalance();
  });

  it('a payment_request order wants its payer first, in exactly one form', async () => {
    const orderId = await locked({
      fiat_currency: 'CAD',
      payment_network_slug: 'interac-canada',
      country_code: 'CA',
    });
    expect(await desk.read(orderId)).toMatchObject({
      order_type: 'payment_request',
      payment_request: true,
      next_action: 'submit_payer_details',
    });
    const early = await desk.act(orderId, 'confirm-payment-sent');
    expect([early.status, early.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    for (const body of [{}, { payment_details_id: 1, payment_details: { email: 'a@b.ca' } }]) {
      const refused = await desk.act(orderId, 'submit-payer-details', body);
      expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_PAYER_DETAILS']);
    }
    const given = await desk.act(orderId, 'submit-payer-details', {
      payment_details: { email: 'ada@example.ca' },
    });
    expect(given.body.data).toEqual({ message: expect.any(String) });
    expect((await desk.act(orderId, 'confirm-payment-sent')).body.data.status).toBe('fiat_transfer_pending');
  });

  it('a dispute stops a pending payment, and a held order is not released', async () => {
    const disputed = await locked();
    await desk.act(disputed, 'confirm-payment-sent');
    expect((await desk.event(disputed, 'dispute_opened')).body.data.status).toBe('dispute_started');

    const held = await locked();
    await desk.act(held, 'confirm-payment-sent');
    await desk.event(held, 'hold_for_review');
    expect((await desk.event(held, 'vendor_confirms_fiat')).body.data.status).toBe('fiat_received_confirmed');
    expect(await desk.escrowBalance(held)).toBeGreaterThan(0n);
    expect((await desk.event(held, 'release_hold')).body.data.status).toBe('completed');
  });

  it('says where the money is at every step', async () => {
    const orderId = await locked();
    const funds = async () =>
      (await gateway.call('GET', `/api/v1/partner/orders/${orderId}/funds`)).body.data;
    const during = await funds();
    expect(during).toMatchObject({
      escrow: { state: 'funded' },
      waiting_for: { actor: 'partner', fact: 'payment_sent_confirmed' },
      movements: [{ kind: 'vendor_escrow_funded' }],
    });
    expect(during.escrow.balance_on_chain).toBe(during.escrow.booked_amount);
    expect(during.who_can_move_it).toContainEqual({ actor: 'partner', fact: 'cancelled_by_partner' });
    await desk.act(orderId, 'confirm-payment-sent');
    await desk.event(orderId, 'vendor_confirms_fiat');
    expect(await funds()).toMatchObject({
      escrow: { state: 'emptied', booked_amount: '0.000000', balance_on_chain: '0.000000' },
      who_can_move_it: [],
    });
  });
});
