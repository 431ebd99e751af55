import type { RequestOptions } from '@causeway/sdk';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partnerScope, SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { refundDeposit } from '../../apps/gateway/src/features/orders/escrow/authorize.ts';
import { actOnOrder } from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { UNREMEMBERED } from '../../apps/gateway/src/http/idempotency.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { atomic, type OrdersDriver } from './orders-driver.ts';
import { startOrdersFixture } from './orders-fixture.ts';
import { type OrderParties, signSafeTransaction } from './orders-parties.ts';

type Hex = `0x${string}`;

const partnerOf = statement<[orderId: string], { partner_id: string }>(
  'test.partner_of_order',
  'SELECT partner_id FROM orders WHERE order_id = $1',
);
const releaseAsked = statement<[orderId: string], { body: string }>(
  'test.release_asked',
  `SELECT body FROM events WHERE subject_id = $1 AND event_type = 'order.release.required'`,
);

describe('disputes', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;

  beforeAll(async () => {
    ({ gateway, driver, parties } = await startOrdersFixture());
  });
  afterAll(() => gateway?.stop());

  const key = () => gateway.partners[0].walletPrivateKey as Hex;
  const decide = (orderId: string, decision: string) => parties.operate(orderId, 'dispute', { decision });

  async function fundedOnramp(orderId: string): Promise<string> {
    await driver.event(orderId, 'vendor_accepts');
    await driver.event(orderId, 'escrow_funded');
    return orderId;
  }

  /** The vendor disputes a payment it never confirmed, so it has signed nothing but the refund. */
  async function sentAndDisputed(orderId: string): Promise<string> {
    expect((await driver.act(orderId, 'confirm-payment-sent')).status).toBe(200);
    expect((await (await parties.vendorOf(orderId)).post('dispute')).body.data.status).toBe(
      'dispute_started',
    );
    return orderId;
  }

  /** Disputed before the buyer has proved anything. */
  async function disputedOfframp(): Promise<string> {
    const orderId = await driver.offrampOrder();
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    expect((await (await parties.vendorOf(orderId)).post('dispute')).body.data.status).toBe(
      'dispute_started',
    );
    return orderId;
  }

  async function foreignRelease(orderId: string): Promise<Hex> {
    const parameters = await driver.sdk.orders.releaseParameters(orderId);
    expect(parameters).toMatchObject({ signer_address: driver.wallet, recipient_address: driver.wallet });
    return signSafeTransaction(generatePrivateKey(), parameters.typed_data);
  }

  // Proves D12.4.
  it('on-ramp for the partner: it is asked once, signs the release itself and is paid to the unit', async () => {
    const orderId = await sentAndDisputed(await fundedOnramp(await driver.onrampOrder()));
    const order = await driver.read(orderId);
    const { amounts, fee_breakdown: fees } = order;
    expect(order.allowed_actions).toEqual([]);
    const early = await gateway.partner.orders.releaseParameters(orderId);
    expect(early.body.error.code).toBe('INVALID_STATUS');

    expect((await decide(orderId, 'for_buyer')).body.data.status).toBe('dispute_started');
    // The operator is told what an operator can do.
    expect((await decide(orderId, 'for_buyer')).body.error).toMatchObject({
      code: 'INVALID_STATUS',
      details: {
        status: 'dispute_started',
        allowed_actions: ['hold:place', 'dispute:for_seller', 'escrow-signature:release'],
      },
    });
    const path = `/api/v1/partner/orders/${orderId}`;
    expect(await driver.read(orderId)).toMatchObject({
      status: 'dispute_started',
      allowed_actions: ['authorize-release'],
      next_action: 'authorize_release',
      action_required: {
        method: 'POST',
        endpoint: `${path}/authorize-release`,
        parameters_endpoint: `${path}/release-authorization-parameters`,
      },
    });
    expect(
      (await driver.published(orderId)).filter((type) => type === 'order.release.required'),
    ).toHaveLength(1);

    const [asked] = await gateway.deps.db.query(SYSTEM, releaseAsked, [orderId]);
    expect(JSON.parse(asked!.body).data).toEqual({
      order_id: orderId,
      status: 'dispute_started',
      user_id: order.user_id,
      crypto_amount: amounts.crypto_amount,
      crypto_currency: 'USDC',
      partner_fee: fees.partner_fee.replace(/\.?0+$/, ''),
      partner_fee_pct: 1,
      fiat_amount: '100.00',
      fiat_currency: 'EUR',
      provider: expect.stringMatching(/^(p2p|direct)$/),
      payment_details_id: '',
      ...{ reference_id: null, failure: null, cancelled_by: null, hold: null, expires_at: null },
      action_required: {
        method: 'POST',
        endpoint: `${path}/authorize-release`,
        parameters_endpoint: `${path}/release-authorization-parameters`,
      },
    });

    const foreignSignature = await foreignRelease(orderId);
    const refused = await driver.act(orderId, 'authorize-release', { signature: foreignSignature });
    expect([refused.status, refused.body.error.code]).toEqual([502, 'ESCROW_SIGNER_MISMATCH']);
    const treasury = gateway.deps.chains.get('base-mainnet').settings.treasury;
    const held = { partner: await driver.balance(driver.wallet), treasury: await driver.balance(treasury) };
    const signed = await driver.signedRelease(orderId);
    expect((await driver.act(orderId, 'authorize-release', signed)).body.data.status).toBe(
      'crypto_release_pending',
    );
    await driver.reaches(orderId, 'completed');
    const platformFee = atomic(fees.platform_fee);
    expect(await driver.balance(driver.wallet)).toBe(
      held.partner + atomic(amounts.crypto_amount) - platformFee,
    );
    expect(await driver.balance(treasury)).toBe(held.treasury + platformFee);
    expect([await driver.escrowBalance(orderId), await driver.escrowBooks(orderId)]).toEqual([0n, 0n]);
    await until(
      'the offer’s reservation to end',
      async () => (await parties.openReservations(orderId)) === 0,
    );
    await driver.booksBalance();
  });

  it('on-ramp for the vendor: even after a decision for the partner that was not signed, its crypto goes back', async () => {
    const orderId = await fundedOnramp(await driver.onrampOrder());
    const deposit = await driver.escrowBalance(orderId);
    await sentAndDisputed(orderId);
    expect(await parties.openReservations(orderId)).toBe(1);
    await decide(orderId, 'for_buyer');
    const vendor = await parties.vendorOf(orderId);
    const before = await driver.balance(vendor.wallet);
    expect((await decide(orderId, 'for_seller')).body.data.status).toBe('cancelled');
    await until('the return', async () => (await driver.escrowBooks(orderId)) === 0n);
    expect(await driver.balance(vendor.wallet)).toBe(before + deposit);
    expect((await driver.read(orderId)).allowed_actions).toEqual([]);
    await until(
      'the offer’s reservation to end',
      async () => (await parties.openReservations(orderId)) === 0,
    );
  });

  it('off-ramp for a buyer that has proved nothing: it signs the release and is paid', async () => {
    const orderId = await disputedOfframp();
    const { amounts, fee_breakdown: fees } = await driver.read(orderId);
    const vendor = await parties.vendorOf(orderId);
    const release_signature = await vendor.sign('release');
    expect((await vendor.post('sign-release', { release_signature })).body.error.code).toBe('INVALID_STATUS');
    expect((await decide(orderId, 'for_buyer')).body.data.status).toBe('dispute_started');
    expect(await driver.read(orderId)).toMatchObject({ allowed_actions: [], next_action: 'none' });
    const wrong = await vendor.post('sign-release', { release_signature: await vendor.sign('refund') });
    expect(wrong.body.error.code).toBe('INVALID_SIGNATURE');
    const before = await driver.balance(vendor.wallet);
    expect((await vendor.post('sign-release', { release_signature })).body.data.status).toBe(
      'crypto_release_pending',
    );
    await driver.reaches(orderId, 'completed');
    expect(await driver.balance(vendor.wallet)).toBe(
      before + atomic(amounts.crypto_amount) - atomic(fees.platform_fee),
    );
    await until(
      'the offer’s reservation to end',
      async () => (await parties.openReservations(orderId)) === 0,
    );
    await driver.booksBalance();
  });

  /** Its buyer knows where to pay, and may be paying. */
  async function toldWhereToPay(): Promise<string> {
    const orderId = await driver.offrampOrder();
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    const vendor = await parties.vendorOf(orderId);
    await until('the instructions', async () => (await vendor.get('payment-instructions')).status === 200);
    return orderId;
  }

  async function cancelledAsItIsPaid(): Promise<string> {
    const orderId = await toldWhereToPay();
    expect((await driver.act(orderId, 'cancel')).body.data.status).toBe('cancelled');
    return orderId;
  }

  it('off-ramp that fails once the buyer knows where to pay: nothing goes back until the operator says so', async () => {
    const orderId = await toldWhereToPay();
    expect((await driver.event(orderId, 'escrow_error')).status).toBe(200);
    expect(await driver.read(orderId)).toMatchObject({
      status: 'failed',
      hold: { reason: 'SETTLEMENT_REVIEW' },
      allowed_actions: [],
    });
    const refused = await driver.act(orderId, 'authorize-refund', { signature: `0x${'11'.repeat(65)}` });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    expect(await driver.published(orderId)).not.toContain('order.refund.required');
    await parties.operate(orderId, 'hold', { decision: 'release' });
    expect((await driver.read(orderId)).allowed_actions).toEqual(['authorize-refund']);
    expect(await driver.published(orderId)).toContain('order.refund.required');
  });

  // Proves C7 OPERATION_NOT_ALLOWED, C3.2 row 7.
  it('off-ramp cancelled once the buyer knows where to pay: nothing goes back until the operator says that it has not', async () => {
    const orderId = await cancelledAsItIsPaid();
    const deposit = await driver.escrowBalance(orderId);
    expect(await driver.read(orderId)).toMatchObject({
      hold: { reason: 'CANCELLATION_REVIEW' },
      cancelled_by: 'partner',
      allowed_actions: [],
    });
    const refused = await driver.act(orderId, 'authorize-refund', { signature: `0x${'11'.repeat(65)}` });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    expect(await driver.published(orderId)).not.toContain('order.refund.required');

    await parties.operate(orderId, 'hold', { decision: 'release' });
    expect((await driver.read(orderId)).allowed_actions).toEqual(['authorize-refund']);
    expect((await driver.published(orderId)).filter((type) => type === 'order.refund.required')).toHaveLength(
      1,
    );
    // Whoever says so later is too late.
    const late = await (await parties.vendorOf(orderId)).post('dispute');
    expect([late.status, late.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    const before = await driver.balance(driver.wallet);
    expect((await driver.refund(orderId)).status).toBe(200);
    await until('the refund', async () => (await driver.escrowBooks(orderId)) === 0n);
    expect(await driver.balance(driver.wallet)).toBe(before + deposit);
  });

  it('off-ramp cancelled after the buyer has paid: the buyer disputes it and has its crypto', async () => {
    const orderId = await cancelledAsItIsPaid();
    const { amounts, fee_breakdown: fees } = await driver.read(orderId);
    const vendor = await parties.vendorOf(orderId);
    expect((await vendor.post('dispute')).body.data.status).toBe('dispute_started');
    // It has not stopped any more.
    expect(await driver.read(orderId)).toMatchObject({ failure: null, cancelled_by: null });
    await parties.operate(orderId, 'hold', { decision: 'release' });
    expect((await decide(orderId, 'for_buyer')).body.data.status).toBe('dispute_started');
    const before = await driver.balance(vendor.wallet);
    const release_signature = await vendor.sign('release');
    expect((await vendor.post('sign-release', { release_signature })).body.data.status).toBe(
      'crypto_release_pending',
    );
    expect(await driver.reaches(orderId, 'completed')).toMatchObject({ failure: null, cancelled_by: null });
    expect(await driver.balance(vendor.wallet)).toBe(
      before + atomic(amounts.crypto_amount) - atomic(fees.platform_fee),
    );
    await driver.booksBalance();
  });

  // Proves C4.6 row 8.
  it('off-ramp for the partner: the refund answers its transaction, a replay the same, a repeat 409', async () => {
    const orderId = await disputedOfframp();
    expect((await decide(orderId, 'for_seller')).body.data.status).toBe('cancelled');
    const signed = await driver.signedRefund(orderId);
    const authorize = (options?: RequestOptions) =>
      gateway.partner.orders.authorizeRefund(orderId, signed, options);
    const once = { idempotencyKey: `refund-${orderId}` };
    const refunded = await authorize(once);
    const { tx_hash: txHash } = await driver.read(orderId);
    expect(refunded.body.data).toEqual({ order_id: orderId, status: 'cancelled', tx_hash: txHash });
    expect(txHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect((await authorize(once)).body).toEqual(refunded.body);
    expect((await authorize()).body.error.code).toBe('INVALID_STATUS');
    await until(
      'the offer’s reservation to end',
      async () => (await parties.openReservations(orderId)) === 0,
    );
  });

  it('a refund that takes longer than its caller waits answers without a transaction, and the order shows it later', async () => {
    const orderId = await disputedOfframp();
    await decide(orderId, 'for_seller');
    const [{ partner_id: partnerId } = { partner_id: '' }] = await gateway.deps.db.query(SYSTEM, partnerOf, [
      orderId,
    ]);
    const { signature } = await driver.signedRefund(orderId);
    const funding = (await driver.read(orderId)).tx_hash;
    const caller = { actor: 'partner', scope: partnerScope(partnerId) } as const;
    const answer = await refundDeposit(gateway.deps, caller, orderId, signature, UNREMEMBERED, 0);
    expect(answer).toEqual({ order_id: orderId, status: 'cancelled' });
    await until('the refund', async () => (await driver.read(orderId)).tx_hash !== funding);
    expect(await driver.escrowBalance(orderId)).toBe(0n);
  });

  it('a widget order is never stuck: the partner cannot act, the operator submits its signature', async () => {
    const opened = await gateway.partner.sandbox.widgetOrder({ order_type: 'onramp' });
    const orderId = await fundedOnramp(opened.body.data.order_id);
    await unitOfWork(gateway.deps, SYSTEM, (unit) =>
      actOnOrder(unit, gateway.deps.orderAdapters, orderId, 'payment_sent_confirmed', 'customer'),
    );
    expect((await decide(orderId, 'open')).body.data.status).toBe('dispute_started');
    await decide(orderId, 'for_buyer');
    expect((await driver.read(orderId)).allowed_actions).toEqual([]);
    const read = await gateway.partner.orders.releaseParameters(orderId);
    expect(read.body.error.code).toBe('ORDER_NOT_FOUND');
    const acted = await driver.act(orderId, 'authorize-release', { signature: '0x' });
    expect(acted.body.error.code).toBe('ORDER_NOT_FOUND');

    const parameters = await gateway.operator.orders.signingParameters(orderId, { purpose: 'release' });
    const signature = await signSafeTransaction(key(), parameters.body.data.typed_data);
    const handed = await parties.operate(orderId, 'escrow-signature', { purpose: 'release', signature });
    expect(handed.body.data.status).toBe('crypto_release_pending');
    await driver.reaches(orderId, 'completed');
    const audit = await gateway.operator.audit.list({ subject: `orders/${orderId}` });
    expect(audit.body.data.entries[0]).toMatchObject({ action: 'order.escrow-signature.release' });
  });
});
