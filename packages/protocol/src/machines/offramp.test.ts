import { describe, expect, test } from 'vitest';
import { ORDER_MACHINES, type OrderFacts, timeoutOf } from './index.ts';
import { ORDER_ID, OrderWalk } from './testing/order-walk.ts';

const CHANGED = 'order.status.changed';

function offramp(facts: Partial<OrderFacts> = {}): OrderWalk {
  return new OrderWalk('offramp', facts).report('order_initiated', 'partner');
}

function offrampFunded(facts: Partial<OrderFacts> = {}): OrderWalk {
  return offramp(facts).report('transfer_authorized', 'partner').report('deposit_finalized', 'chain');
}

function offrampUnderReview(facts: Partial<OrderFacts> = {}): OrderWalk {
  return offrampFunded(facts).report('proof_submitted', 'vendor').report('proof_review_started', 'operator');
}

describe('C3.2 off-ramp, row by row', () => {
  // Proves C3.2 row 1.
  test('initiate answers awaiting_crypto_transfer_authorization with one webhook', () => {
    const order = offramp();
    expect(order.passed).toEqual(['created', 'awaiting_crypto_transfer_authorization']);
    expect(order.emitted).toEqual([CHANGED]);
    expect(order.next()).toBe('authorize_crypto_transfer');
    expect(order.required()).toEqual({
      method: 'POST',
      endpoint: `/api/v1/partner/orders/${ORDER_ID}/authorize-crypto-transfer`,
      parameters_endpoint: `/api/v1/partner/orders/${ORDER_ID}/transfer-authorization-parameters`,
    });
  });

  test('an order whose quoted vendor is gone waits for another', () => {
    const order = offramp({ vendorAvailable: false });
    expect(order.passed).toEqual(['created', 'awaiting_liquidity_provider']);
    expect(order.next()).toBe('wait');
    expect(order.report('vendor_accepted', 'vendor').status).toBe('awaiting_crypto_transfer_authorization');
  });

  // Proves C3.2 row 2, D6.6.
  test('a signed transfer passes a silent status and is announced when final', () => {
    const order = offramp().report('transfer_authorized', 'partner');
    expect(order).toMatchObject({ status: 'crypto_transfer_authorization_pending', last: [] });
    expect(order.effects).toContain('transfer.relay');
    expect(order.report('deposit_finalized', 'chain')).toMatchObject({
      status: 'crypto_received',
      last: [CHANGED],
    });
    expect(order.effects).toContain('vendor.request-fiat-payment');
  });

  test('a refused relay asks for a new signature once the old one can no longer execute', () => {
    const order = offramp().report('transfer_authorized', 'partner').report('transfer_failed', 'chain');
    expect(order.status).toBe('awaiting_crypto_transfer_authorization');
    expect(order.next()).toBe('wait');
    expect(order.refusal('transfer_authorized', 'partner')).toBe('OPERATION_NOT_ALLOWED');
    order.report('transfer_authorization_lapsed', 'clock');
    expect(order.next()).toBe('authorize_crypto_transfer');
  });

  test('an order that completes while it is held can have its hold released', () => {
    const order = offrampUnderReview()
      .report('proof_accepted', 'operator')
      .report('fiat_received_confirmed_by_partner', 'partner')
      .report('hold_placed', 'operator')
      .report('release_confirmed', 'chain');
    expect(order).toMatchObject({ status: 'completed', facts: { held: true } });
    expect(order.report('hold_released', 'operator').facts.held).toBe(false);
  });

  // Proves C3.2 rows 3 to 5.
  test('proof submitted, reviewed and accepted: each announced, none a partner call', () => {
    const order = offrampFunded();
    for (const [trigger, actor, status] of [
      ['proof_submitted', 'vendor', 'fiat_payment_started'],
      ['proof_review_started', 'operator', 'fiat_payment_review_started'],
      ['proof_accepted', 'operator', 'awaiting_fiat_received_confirmation'],
    ] as const) {
      expect(order.refusal(trigger, 'partner')).toBe('OPERATION_NOT_ALLOWED');
      expect(order.report(trigger, actor)).toMatchObject({ status, last: [CHANGED] });
    }
  });

  // Proves C3.2 row 6, D6.7.
  test.each([
    ['fiat_received_confirmed_by_partner', 'partner', 'fiat_received_confirmed_by_provider', 'provider'],
    ['fiat_received_confirmed_by_provider', 'provider', 'fiat_received_confirmed_by_partner', 'partner'],
  ] as const)(
    '%s first: the other confirmation is a no-op at every later status',
    (first, by, second, other) => {
      const order = offrampUnderReview({ settlementNotification: true }).report('proof_accepted', 'operator');
      order.report(first, by);
      expect(order.status).toBe('crypto_release_pending');
      const effects = order.effects.length;
      expect(order.report(second, other)).toMatchObject({ status: 'crypto_release_pending', last: [] });
      order.report('release_confirmed', 'chain');
      expect(order).toMatchObject({ status: 'completed', last: [CHANGED] });
      expect(order.report(second, other)).toMatchObject({ status: 'completed', last: [] });
      expect(order.effects).toHaveLength(effects);
      expect(order.allowed()).toEqual([]);
    },
  );

  test('a confirmation while held is recorded, and the release waits for the hold to be released', () => {
    const order = offrampUnderReview().report('proof_accepted', 'operator').report('hold_placed', 'operator');
    order.report('fiat_received_confirmed_by_partner', 'partner');
    expect(order).toMatchObject({ status: 'fiat_received_confirmed', last: [] });
    expect(order.effects).not.toContain('escrow.release');
    order.report('hold_released', 'operator');
    expect(order.status).toBe('crypto_release_pending');
    expect(order.effects.filter((kind) => kind === 'escrow.release')).toHaveLength(1);
  });

  test('a provider that notifies makes the partner wait, though it may still confirm', () => {
    const accepted = (facts: Partial<OrderFacts>) =>
      offrampUnderReview(facts).report('proof_accepted', 'operator');
    expect(accepted({ settlementNotification: false }).next()).toBe('confirm_fiat_received');
    expect(accepted({ settlementNotification: true }).next()).toBe('wait');
    expect(accepted({ settlementNotification: true }).allowed()).toEqual(['confirm-fiat-received']);
    expect(accepted({}).refusal('fiat_received_confirmed_by_provider', 'provider')).toBe('INVALID_STATUS');
  });

  // Proves C3.2 row 7, C3.2 rule 2, C4.6 rule 4.
  test('a cancelled order with funded escrow asks for its refund, until the refund is under way', () => {
    const order = offrampFunded().report('cancelled_by_partner', 'partner');
    expect(order).toMatchObject({ status: 'cancelled', last: [CHANGED, 'order.refund.required'] });
    expect(order.allowed()).toEqual(['authorize-refund']);
    expect(order.next()).toBe('authorize_refund');
    expect(order.required()).toEqual({
      method: 'POST',
      endpoint: `/api/v1/partner/orders/${ORDER_ID}/authorize-refund`,
      parameters_endpoint: `/api/v1/partner/orders/${ORDER_ID}/refund-authorization-parameters`,
    });
    order.report('refund_authorized', 'partner');
    expect(order).toMatchObject({ status: 'cancelled', last: [] });
    expect(order.allowed()).toEqual([]);
    expect(order.next()).toBe('wait');
    expect(order.refusal('refund_authorized', 'partner')).toBe('INVALID_STATUS');
    order.report('refund_confirmed', 'chain');
    expect(order.refusal('refund_authorized', 'partner')).toBe('INVALID_STATUS');
    expect(order.next()).toBe('none');
  });

  // Proves C3.2 rule 2.
  test('a cancelled order without a deposit owes nothing, until a late deposit arrives', () => {
    const order = offramp()
      .report('transfer_authorized', 'partner')
      .report('cancelled_by_partner', 'partner');
    expect(order).toMatchObject({ status: 'cancelled', last: [CHANGED] });
    expect(order.refusal('refund_authorized', 'partner')).toBe('INVALID_STATUS');
    order.report('deposit_finalized', 'chain');
    expect(order).toMatchObject({ status: 'cancelled', last: ['order.refund.required'] });
    expect(order.allowed()).toEqual(['authorize-refund']);
    expect(order.refusal('deposit_finalized', 'chain')).toBe('INVALID_STATUS');
  });

  test('a hold answers authorize-refund with OPERATION_NOT_ALLOWED, whatever the status', () => {
    const order = offrampFunded().report('hold_placed', 'operator');
    expect(order.refusal('refund_authorized', 'partner')).toBe('OPERATION_NOT_ALLOWED');
    order.report('cancelled_by_partner', 'partner');
    expect(order.refusal('refund_authorized', 'partner')).toBe('OPERATION_NOT_ALLOWED');
    expect(order.allowed()).toEqual([]);
    expect(order.next()).toBe('wait');
    order.report('hold_released', 'operator');
    expect(order.report('refund_authorized', 'partner').effects).toContain('escrow.refund');
  });

  // Proves D6.8.
  test('cancel is allowed until fiat_payment_started', () => {
    for (const order of [
      offramp({ vendorAvailable: false }),
      offramp(),
      offramp().report('transfer_authorized', 'partner'),
      offrampFunded(),
    ]) {
      expect(order.allowed()).toContain('cancel');
    }
    const started = offrampFunded().report('proof_submitted', 'vendor');
    expect(started.refusal('cancelled_by_partner', 'partner')).toBe('INVALID_STATUS');
  });

  test('authorization not given in 30 min cancels', () => {
    expect(timeoutOf(ORDER_MACHINES.offramp, 'awaiting_crypto_transfer_authorization')?.defaultSeconds).toBe(
      1800,
    );
    expect(offramp().report('order_expired', 'clock')).toMatchObject({
      status: 'cancelled',
      last: [CHANGED],
    });
  });

  test('expiry after funding asks for the refund, but never while a proof waits for review', () => {
    expect(offrampFunded().report('order_expired', 'clock').last).toEqual([CHANGED, 'order.refund.required']);
    const started = offrampFunded().report('proof_submitted', 'vendor');
    expect(started.refusal('order_expired', 'clock')).toBe('INVALID_STATUS');
  });

  // Proves D6.12.
  test('two refused proofs can be renewed, the third cancels and asks for the refund', () => {
    const order = offrampUnderReview();
    for (let refused = 1; refused <= 2; refused += 1) {
      order.report('proof_rejected', 'operator');
      expect(order).toMatchObject({ status: 'fiat_payment_started', last: [CHANGED] });
      expect(order.refusal('proof_review_started', 'operator')).toBe('INVALID_STATUS');
      expect(order.refusal('cancelled_by_partner', 'partner')).toBe('INVALID_STATUS');
      order.report('proof_submitted', 'vendor').report('proof_review_started', 'operator');
    }
    order.report('proof_rejected', 'operator');
    expect(order).toMatchObject({ status: 'cancelled', last: [CHANGED, 'order.refund.required'] });
    expect(order.facts.proofRejections).toBe(3);
  });

  // Proves C3.2 row 8.
  test('an escrow error fails the order; once the buyer claims payment the refund waits for review', () => {
    const funded = offrampFunded().report('escrow_failed', 'chain');
    expect(funded).toMatchObject({ status: 'failed', last: [CHANGED, 'order.refund.required'] });
    expect(funded.allowed()).toEqual(['authorize-refund']);
    const claimed = offrampUnderReview().report('escrow_failed', 'chain');
    expect(claimed).toMatchObject({ status: 'failed', last: [CHANGED] });
    expect(claimed.refusal('refund_authorized', 'partner')).toBe('OPERATION_NOT_ALLOWED');
    claimed.report('hold_released', 'operator');
    expect(claimed.last).toEqual(['order.refund.required']);
    expect(claimed.allowed()).toEqual(['authorize-refund']);
  });

  test('a failed order asks for its refund once, whenever it becomes possible: not without crypto, not while held', () => {
    expect(offramp().report('escrow_failed', 'chain').last).toEqual([CHANGED]);
    const late = offramp().report('transfer_authorized', 'partner').report('escrow_failed', 'chain');
    expect(late.report('deposit_finalized', 'chain').last).toEqual(['order.refund.required']);
    const held = offrampFunded().report('hold_placed', 'operator').report('escrow_failed', 'chain');
    expect(held.last).toEqual([CHANGED]);
    expect(held.report('hold_released', 'operator').last).toEqual(['order.refund.required']);
    held.report('hold_placed', 'operator').report('hold_released', 'operator');
    held.report('refund_authorized', 'partner').report('refund_failed', 'chain');
    expect(held.emitted.filter((event) => event === 'order.refund.required')).toHaveLength(1);
    expect(held.allowed()).toEqual(['authorize-refund']);
  });

  // Proves C3.2 row 9.
  test('the cost bound fails a fiat-anchored order and refunds it without a partner call', () => {
    const order = offrampFunded().report('cost_bound_exceeded', 'system');
    expect(order).toMatchObject({ status: 'failed', last: [CHANGED] });
    expect(order.effects).toContain('escrow.auto-refund');
    expect(order.allowed()).toEqual([]);
    expect(order.next()).toBe('wait');
    expect(offrampFunded({ anchor: 'crypto' }).refusal('cost_bound_exceeded', 'system')).toBe(
      'INVALID_STATUS',
    );
  });

  test('a cost that rises before the deposit is judged when the deposit is final, and may fall again', () => {
    const signed = () =>
      offramp().report('transfer_authorized', 'partner').report('cost_bound_exceeded', 'system');
    expect(signed()).toMatchObject({ status: 'crypto_transfer_authorization_pending', last: [] });
    const failed = signed().report('deposit_finalized', 'chain');
    expect(failed.status).toBe('failed');
    expect(failed.effects).toContain('escrow.auto-refund');
    const fallen = signed().report('cost_bound_met', 'system').report('deposit_finalized', 'chain');
    expect(fallen.status).toBe('crypto_received');
  });

  test('a hold keeps the automatic refund back until it is released', () => {
    const order = offrampFunded().report('hold_placed', 'operator').report('cost_bound_exceeded', 'system');
    expect(order.status).toBe('failed');
    expect(order.effects).not.toContain('escrow.auto-refund');
    expect(order.report('hold_released', 'operator').effects).toContain('escrow.auto-refund');
  });

  // Proves C3.2 row 10, D6.12.
  test('a dispute can be opened from crypto_received to awaiting_fiat_received_confirmation, and go either way', () => {
    expect(offramp().refusal('dispute_opened', 'vendor')).toBe('INVALID_STATUS');
    for (const order of [
      offrampFunded(),
      offrampFunded().report('proof_submitted', 'vendor'),
      offrampUnderReview(),
      offrampUnderReview().report('proof_accepted', 'operator'),
    ]) {
      expect(order.report('dispute_opened', 'vendor')).toMatchObject({
        status: 'dispute_started',
        last: [CHANGED],
      });
    }
    const disputed = () => offrampUnderReview().report('dispute_opened', 'operator');
    expect(disputed().report('dispute_resolved_to_buyer', 'operator').status).toBe('crypto_release_pending');
    const returned = disputed().report('dispute_resolved_to_seller', 'operator');
    expect(returned).toMatchObject({ status: 'cancelled', last: [CHANGED, 'order.refund.required'] });
    expect(returned.allowed()).toEqual(['authorize-refund']);
  });

  test('a dispute decided for a buyer that never proved its payment waits for that buyer’s signature', () => {
    const order = offrampFunded()
      .report('dispute_opened', 'vendor')
      .report('dispute_resolved_to_buyer', 'operator');
    expect(order).toMatchObject({ status: 'dispute_started', last: [] });
    expect(order.allowed()).toEqual([]);
    expect(order.refusal('release_authorized', 'partner')).toBe('OPERATION_NOT_ALLOWED');
    expect(order.report('release_authorized', 'vendor')).toMatchObject({ status: 'crypto_release_pending' });
  });

  test('an automatic refund without the buyer’s signature is open to the partner, and goes on when the buyer signs', () => {
    const unsigned = () =>
      offrampFunded().report('cost_bound_exceeded', 'system').report('refund_failed', 'system');
    expect(unsigned().allowed()).toEqual(['authorize-refund']);
    expect(unsigned().last).toEqual(['order.refund.required']);
    const signed = unsigned().report('refund_signed_by_vendor', 'vendor');
    expect(signed.effects.filter((effect) => effect === 'escrow.auto-refund')).toHaveLength(2);
    expect(signed.allowed()).toEqual([]);
    expect(offrampFunded().refusal('refund_signed_by_vendor', 'vendor')).toBe('INVALID_STATUS');
  });

  test('a KYC lost after the deposit is noticed before the buyer learns where to pay', () => {
    const order = offrampFunded().know({ kycCleared: false });
    expect(order.attempt('payout_details_requested', 'vendor')).toBe('KYC_NOT_CLEARED');
    expect(order.facts.held).toBe(true);
  });

  test('a KYC lost before the deposit is final sends the funded order to review: the buyer is not told to pay', () => {
    const order = offramp().report('transfer_authorized', 'partner').know({ kycCleared: false });
    order.report('deposit_finalized', 'chain');
    expect(order).toMatchObject({ status: 'crypto_received' });
    expect(order.facts.held).toBe(true);
    expect(order.effects).not.toContain('vendor.request-fiat-payment');
    expect(order.refusal('proof_submitted', 'vendor')).toBe('OPERATION_NOT_ALLOWED');
    order.know({ kycCleared: true }).report('hold_released', 'operator');
    expect(order.effects).toContain('vendor.request-fiat-payment');
  });
});
