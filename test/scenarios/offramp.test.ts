import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { atomic, type OrdersDesk, ordersDesk } from './orders-desk.ts';

describe('off-ramp orders', () => {
  let gateway: TestGateway;
  let desk: OrdersDesk;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    desk = ordersDesk(gateway);
    await gateway.call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
  });
  afterAll(() => gateway?.stop());

  async function funded(fields: Record<string, unknown> = {}): Promise<string> {
    const orderId = await desk.offrampOrder(fields);
    const answer = await desk.fund(orderId);
    expect(answer.body.data).toEqual({
      order_id: orderId,
      status: 'crypto_transfer_authorization_pending',
    });
    await desk.reaches(orderId, 'crypto_received');
    return orderId;
  }

  async function proved(orderId: string): Promise<void> {
    expect((await desk.event(orderId, 'buyer_submits_proof')).body.data.status).toBe('fiat_payment_started');
    expect((await desk.event(orderId, 'admin_reviews_proof')).body.data.status).toBe(
      'fiat_payment_review_started',
    );
  }

  it('goes from deposit to completed: buyer, treasury and partner are paid in one transaction', async () => {
    const before = { wallet: await desk.balance(desk.wallet) };
    const orderId = await desk.offrampOrder();
    const opened = await desk.read(orderId);
    expect(opened).toMatchObject({
      order_type: 'offramp',
      anchor_type: 'fiat',
      has_fiat_settlement_notification: false,
      allowed_actions: ['authorize-crypto-transfer', 'cancel'],
      next_action: 'authorize_crypto_transfer',
      payment_details_id: expect.any(Number),
    });
    await desk.fund(orderId);
    const received = await desk.reaches(orderId, 'crypto_received');
    expect(received.tx_hash).toMatch(/^0x[0-9a-f]{64}$/);
    const fees = opened.fee_breakdown;
    const deposit = atomic(opened.amounts.crypto_amount) + atomic(fees.partner_fee);
    expect(await desk.balance(desk.wallet)).toBe(before.wallet - deposit);
    expect(await desk.escrowBalance(orderId)).toBe(deposit);
    expect(await desk.escrowBooks(orderId)).toBe(deposit);

    const treasury = gateway.deps.chains.get('base-mainnet').settings.treasury;
    const treasuryBefore = await desk.balance(treasury);
    await proved(orderId);
    const accepted = await desk.event(orderId, 'proof_accepted');
    expect(accepted.body.data).toMatchObject({
      status: 'awaiting_fiat_received_confirmation',
      next_action: 'confirm_fiat_received',
      allowed_actions: ['confirm-fiat-received'],
    });
    const confirmed = await desk.act(orderId, 'confirm-fiat-received');
    expect(confirmed.status).toBe(200);
    expect(confirmed.body.data).not.toHaveProperty('fee_breakdown');
    const completed = await desk.reaches(orderId, 'completed');
    expect(completed).toMatchObject({ allowed_actions: [], next_action: 'none', action_required: null });
    expect(await desk.balance(desk.wallet)).toBe(before.wallet - deposit + atomic(fees.partner_fee));
    expect(await desk.balance(treasury)).toBe(treasuryBefore + atomic(fees.platform_fee));
    expect(await desk.escrowBalance(orderId)).toBe(0n);
    expect(await desk.escrowBooks(orderId)).toBe(0n);
    expect(await desk.published(orderId)).toEqual([
      'awaiting_crypto_transfer_authorization',
      'crypto_received',
      'fiat_payment_started',
      'fiat_payment_review_started',
      'awaiting_fiat_received_confirmation',
      'completed',
    ]);
    expect(completed.timeline.map(({ status }: { status: string }) => status)).toContain(
      'crypto_release_pending',
    );
    expect((await desk.act(orderId, 'confirm-fiat-received')).body.data.status).toBe('completed');
    await desk.booksBalance();
  });

  it('the provider’s confirmation completes the order and the partner’s is then a no-op', async () => {
    const orderId = await funded();
    await proved(orderId);
    await desk.event(orderId, 'proof_accepted');
    const completed = await desk.event(orderId, 'provider_confirms_fiat');
    expect(completed.body.data.status).toBe('completed');
    expect((await desk.event(orderId, 'provider_confirms_fiat')).status).toBe(200);
    expect((await desk.act(orderId, 'confirm-fiat-received')).status).toBe(200);
  });

  it('a cancelled deposit is asked back once and comes back whole with the partner’s signature', async () => {
    const before = await desk.balance(desk.wallet);
    const orderId = await funded();
    const cancelled = await desk.act(orderId, 'cancel', { reason: 'changed my mind' });
    expect(cancelled.body.data).toEqual({ order_id: orderId, status: 'cancelled' });
    expect(await desk.read(orderId)).toMatchObject({
      allowed_actions: ['authorize-refund'],
      next_action: 'authorize_refund',
      action_required: { method: 'POST', endpoint: `/api/v1/partner/orders/${orderId}/authorize-refund` },
    });
    expect((await desk.published(orderId)).filter((type) => type === 'order.refund.required')).toHaveLength(
      1,
    );

    const wrong = await desk.refund(orderId, generatePrivateKey());
    expect([wrong.status, wrong.body.error.code]).toEqual([502, 'ESCROW_SIGNER_MISMATCH']);
    expect((await desk.event(orderId, 'hold_for_review')).status).toBe(200);
    const held = await desk.act(orderId, 'authorize-refund', { signature: `0x${'11'.repeat(65)}` });
    expect([held.status, held.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    await desk.event(orderId, 'release_hold');

    const answer = await desk.refund(orderId);
    expect(answer.status).toBe(200);
    await until('the refund', async () => (await desk.balance(desk.wallet)) === before);
    await until('the books', async () => (await desk.escrowBooks(orderId)) === 0n);
    expect(await desk.read(orderId)).toMatchObject({ status: 'cancelled', allowed_actions: [] });
    const again = await desk.act(orderId, 'authorize-refund', { signature: `0x${'11'.repeat(65)}` });
    expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    await desk.booksBalance();
  });

  it('the third refused proof cancels and asks for the refund', async () => {
    const orderId = await funded();
    for (const last of [false, false, true]) {
      await proved(orderId).catch(async () => {
        throw new Error(JSON.stringify(await desk.read(orderId)));
      });
      const answer = await desk.event(orderId, 'proof_rejected');
      expect(answer.body.data.status).toBe(last ? 'cancelled' : 'fiat_payment_started');
    }
    expect(await desk.read(orderId)).toMatchObject({ allowed_actions: ['authorize-refund'] });
  });

  it('at exactly 1.20 the order goes on; beyond it fails and the deposit returns without the partner', async () => {
    const before = await desk.balance(desk.wallet);
    const orderId = await funded();
    const within = await desk.event(orderId, 'reprice', { cost_multiplier: '1.20' });
    expect(within.body.data.status).toBe('crypto_received');
    const beyond = await desk.event(orderId, 'reprice', { cost_multiplier: '1.200001' });
    expect(beyond.body.data).toMatchObject({ status: 'failed', allowed_actions: [] });
    expect(await desk.balance(desk.wallet)).toBe(before);
    expect(await desk.escrowBooks(orderId)).toBe(0n);
    expect(await desk.published(orderId)).not.toContain('order.refund.required');
  });

  it('a crypto-anchored deposit is exactly what was asked, and has no cost bound', async () => {
    const before = await desk.balance(desk.wallet);
    const orderId = await funded({ fiat_amount: undefined, crypto_amount: '120.000001' });
    expect(before - (await desk.balance(desk.wallet))).toBe(120_000_001n);
    const answer = await desk.event(orderId, 'reprice', { cost_multiplier: 2 });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    const disputed = await desk.event(orderId, 'dispute_opened');
    expect(disputed.body.data).toMatchObject({ status: 'dispute_started', allowed_actions: [] });
  });

  it('an order that is not funded in time is cancelled and owes nothing', async () => {
    const orderId = await desk.offrampOrder();
    const expired = await desk.event(orderId, 'order_expires');
    expect(expired.body.data).toMatchObject({ status: 'cancelled', allowed_actions: [] });
    const answer = await gateway.call(
      'GET',
      `/api/v1/partner/orders/${orderId}/refund-authorization-parameters`,
    );
    expect(answer.body.error.code).toBe('INVALID_STATUS');
  });
});
