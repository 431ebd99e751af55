import { describe, expect, test } from 'vitest';
import { ORDER_MACHINES, type OrderFacts, timeoutOf } from './index.ts';
import { OrderWalk } from './testing/order-walk.ts';

const CHANGED = 'order.status.changed';

function onramp(facts: Partial<OrderFacts> = {}): OrderWalk {
  return new OrderWalk('onramp', facts).report('order_initiated', 'partner');
}

function onrampAwaitingFiat(facts: Partial<OrderFacts> = {}): OrderWalk {
  return onramp(facts).report('vendor_accepted', 'vendor').report('escrow_funded', 'chain');
}

function onrampCompleted(): OrderWalk {
  return onrampAwaitingFiat()
    .report('payment_sent_confirmed', 'partner')
    .report('fiat_confirmed_by_vendor', 'vendor')
    .report('release_confirmed', 'chain');
}

describe('C3.1 on-ramp, row by row', () => {
  // Proves C3.1 row 1.
  test('initiate waits for a vendor and is announced; without KYC it is refused', () => {
    expect(onramp()).toMatchObject({ status: 'awaiting_liquidity_provider', emitted: [CHANGED] });
    expect(new OrderWalk('onramp', { kycCleared: false }).refusal('order_initiated', 'partner')).toBe(
      'KYC_NOT_CLEARED',
    );
  });

  // Proves C3.1 row 2.
  test('a vendor accepts', () => {
    const order = onramp().report('vendor_accepted', 'vendor');
    expect(order).toMatchObject({ status: 'awaiting_vendor_escrow_funding', last: [CHANGED] });
    expect(order.effects).toContain('escrow.deploy-and-watch');
  });

  // Proves C3.1 row 3.
  test('crypto locked in escrow opens the fiat transfer', () => {
    expect(onrampAwaitingFiat()).toMatchObject({ status: 'awaiting_fiat_transfer', last: [CHANGED] });
  });

  // Proves C3.1 row 4.
  test('confirm-payment-sent moves to fiat_transfer_pending and only from awaiting_fiat_transfer', () => {
    const order = onrampAwaitingFiat().report('payment_sent_confirmed', 'partner');
    expect(order).toMatchObject({ status: 'fiat_transfer_pending', last: [CHANGED] });
    expect(order.refusal('payment_sent_confirmed', 'partner')).toBe('INVALID_STATUS');
  });

  // Proves C3.1 row 4, C4.5 rule 5.
  test('a payment_request order needs payer details first; an ordinary one takes none', () => {
    const order = onrampAwaitingFiat({ paymentRequest: true });
    expect(order.refusal('payment_sent_confirmed', 'partner')).toBe('INVALID_STATUS');
    expect(order.next()).toBe('submit_payer_details');
    order.report('payer_details_submitted', 'partner');
    expect(order).toMatchObject({ status: 'awaiting_fiat_transfer', last: [] });
    expect(order.next()).toBe('confirm_payment_sent');
    expect(order.report('payment_sent_confirmed', 'partner').status).toBe('fiat_transfer_pending');
    expect(onrampAwaitingFiat().refusal('payer_details_submitted', 'partner')).toBe('OPERATION_NOT_ALLOWED');
  });

  // Proves C3.1 rows 4 and 5, C4.5 rule 6.
  test('an own_iban order refuses confirm-payment-sent and advances by its matched deposit', () => {
    const order = onrampAwaitingFiat({ fundingSource: 'own_iban' });
    expect(order.refusal('payment_sent_confirmed', 'partner')).toBe('OPERATION_NOT_ALLOWED');
    expect(order.allowed()).toEqual(['cancel']);
    expect(order.next()).toBe('deposit_to_user_account');
    expect(order.report('deposit_matched', 'bank')).toMatchObject({
      status: 'fiat_transfer_pending',
      last: [CHANGED],
    });
    expect(onrampAwaitingFiat().refusal('deposit_matched', 'bank')).toBe('INVALID_STATUS');
  });

  // Proves C3.1 row 5.
  test('an ambiguous deposit holds the order, which then neither matches, expires nor cancels by itself', () => {
    const order = onrampAwaitingFiat({ fundingSource: 'own_iban' }).report('hold_placed', 'bank');
    for (const [trigger, actor] of [
      ['deposit_matched', 'bank'],
      ['order_expired', 'clock'],
      ['cancelled_by_partner', 'partner'],
    ] as const) {
      expect(order.refusal(trigger, actor)).toBe('OPERATION_NOT_ALLOWED');
    }
    order.report('hold_released', 'operator').report('deposit_matched', 'operator');
    expect(order.status).toBe('fiat_transfer_pending');
  });

  // Proves C3.1 row 6.
  test('the vendor’s confirmation releases the escrow; completed is announced only when crypto has arrived', () => {
    const order = onrampAwaitingFiat()
      .report('payment_sent_confirmed', 'partner')
      .report('fiat_confirmed_by_vendor', 'vendor');
    expect(order).toMatchObject({ status: 'crypto_release_pending', last: [] });
    expect(order.effects).toContain('escrow.release');
    expect(order.report('release_confirmed', 'chain')).toMatchObject({
      status: 'completed',
      last: [CHANGED],
    });
  });

  // Proves C3.1 row 7, C7 SEND_OUT_IN_PROGRESS.
  test('authorize-bridge sends out once; a second one meanwhile is SEND_OUT_IN_PROGRESS', () => {
    expect(onrampAwaitingFiat().refusal('bridge_authorized', 'partner')).toBe('INVALID_STATUS');
    const order = onrampCompleted();
    expect(order.allowed()).toEqual(['authorize-bridge']);
    expect(order.next()).toBe('none');
    order.report('bridge_authorized', 'partner');
    expect(order).toMatchObject({ status: 'send_out_pending', last: [CHANGED] });
    expect(order.refusal('bridge_authorized', 'partner')).toBe('SEND_OUT_IN_PROGRESS');
    expect(order.report('bridge_settled', 'provider')).toMatchObject({
      status: 'send_out_completed',
      last: [CHANGED],
    });
    expect(order.refusal('bridge_authorized', 'partner')).toBe('INVALID_STATUS');
  });

  // Proves C3.1 row 8.
  test('a failed send-out is authorized again only when the first can no longer execute', () => {
    const order = onrampCompleted()
      .report('bridge_authorized', 'partner')
      .report('bridge_failed', 'provider');
    expect(order).toMatchObject({ status: 'send_out_failed', last: [CHANGED] });
    expect(order.allowed()).toEqual([]);
    expect(order.refusal('bridge_authorized', 'partner')).toBe('SEND_OUT_IN_PROGRESS');
    order.report('bridge_authorization_lapsed', 'chain');
    expect(order.allowed()).toEqual(['authorize-bridge']);
    expect(order.report('bridge_authorized', 'partner').status).toBe('send_out_pending');
  });

  test('a send-out that ends while it is held keeps the hold, and the hold can be released', () => {
    const order = onrampCompleted()
      .report('bridge_authorized', 'partner')
      .report('hold_placed', 'system')
      .report('bridge_settled', 'provider');
    expect(order).toMatchObject({ status: 'send_out_completed', facts: { held: true } });
    order.report('hold_released', 'operator');
    expect(order).toMatchObject({ status: 'send_out_completed', facts: { held: false }, last: [] });
  });

  test('an operator ends a send-out only while it is held, and may still turn a failure that was none', () => {
    const pending = () => onrampCompleted().report('bridge_authorized', 'partner');
    for (const fact of ['bridge_settled', 'bridge_failed'] as const) {
      expect(pending().refusal(fact, 'operator')).toBe('OPERATION_NOT_ALLOWED');
    }
    const order = pending().report('hold_placed', 'system').report('bridge_failed', 'operator');
    expect(order).toMatchObject({ status: 'send_out_failed', last: [CHANGED] });
    order.report('bridge_authorization_lapsed', 'chain').report('bridge_settled', 'operator');
    expect(order).toMatchObject({ status: 'send_out_completed', last: [CHANGED] });
    expect(order.facts.sendOut).toBe('completed');
    const again = pending().report('hold_placed', 'system').report('bridge_failed', 'operator');
    again.report('hold_released', 'operator');
    expect(again.refusal('bridge_settled', 'operator')).toBe('OPERATION_NOT_ALLOWED');
  });

  // Proves D6.11.
  test.each([
    ['awaiting_liquidity_provider', 900, onramp],
    ['awaiting_vendor_escrow_funding', 1800, () => onramp().report('vendor_accepted', 'vendor')],
    ['awaiting_fiat_transfer', 3600, onrampAwaitingFiat],
  ] as const)('%s times out after %i s into cancelled', (status, seconds, make) => {
    const order = make();
    expect(order.status).toBe(status);
    expect(timeoutOf(ORDER_MACHINES.onramp, status)).toMatchObject({
      defaultSeconds: seconds,
      trigger: 'order_expired',
    });
    expect(order.report('order_expired', 'clock')).toMatchObject({ status: 'cancelled', last: [CHANGED] });
  });

  // Proves D6.11.
  test('vendor crypto goes back whenever the order stops, even when it arrives after the stop', () => {
    const stops: OrderWalk[] = [
      onrampAwaitingFiat().report('cancelled_by_partner', 'partner'),
      onrampAwaitingFiat().report('order_expired', 'clock'),
      onrampAwaitingFiat().report('escrow_failed', 'chain'),
      onrampAwaitingFiat()
        .report('payment_sent_confirmed', 'partner')
        .report('dispute_opened', 'vendor')
        .report('dispute_resolved_to_seller', 'operator'),
      onramp()
        .report('vendor_accepted', 'vendor')
        .report('cancelled_by_partner', 'partner')
        .report('escrow_funded', 'chain'),
    ];
    for (const order of stops) {
      expect(order.effects.filter((kind) => kind === 'escrow.return-to-vendor')).toHaveLength(1);
      expect(order.facts.escrow).toBe('refunding');
      expect(order.allowed()).toEqual([]);
      expect(order.report('refund_confirmed', 'chain').facts.escrow).toBe('emptied');
    }
  });

  test.each(['sending', 'sent'] as const)(
    'an escrow that fails while the bank’s payment to the vendor is %s keeps the crypto until an operator has looked',
    (vendorPayment) => {
      const order = onrampAwaitingFiat().report('payment_sent_confirmed', 'partner').know({ vendorPayment });
      order.report('escrow_failed', 'chain');
      expect(order).toMatchObject({ status: 'failed', facts: { held: true, escrow: 'funded' } });
      expect(order.effects).not.toContain('escrow.return-to-vendor');
    },
  );

  // Proves D6.8, D6.11.
  test('no cancel once payment is confirmed; a dispute is opened from fiat_transfer_pending and may go either way', () => {
    const order = onrampAwaitingFiat().report('payment_sent_confirmed', 'partner');
    expect(order.refusal('cancelled_by_partner', 'partner')).toBe('INVALID_STATUS');
    expect(onrampAwaitingFiat().refusal('dispute_opened', 'vendor')).toBe('INVALID_STATUS');
    order.report('dispute_opened', 'operator');
    expect(order).toMatchObject({ status: 'dispute_started', last: [CHANGED] });
    order.report('dispute_resolved_to_seller', 'operator');
    expect(order).toMatchObject({ status: 'cancelled', last: [CHANGED] });
    expect(order.effects).toContain('escrow.return-to-vendor');
  });

  const awarded = () =>
    onrampAwaitingFiat()
      .report('payment_sent_confirmed', 'partner')
      .report('dispute_opened', 'vendor')
      .report('dispute_resolved_to_buyer', 'operator');

  test('a dispute decided for the partner asks it, once, for the signature that the vendor never gave', () => {
    const order = awarded();
    expect(order).toMatchObject({ status: 'dispute_started', last: ['order.release.required'] });
    expect(order.effects).not.toContain('escrow.release');
    expect(order.allowed()).toEqual(['authorize-release']);
    expect(order.next()).toBe('authorize_release');
    expect(order.refusal('dispute_resolved_to_buyer', 'operator')).toBe('INVALID_STATUS');
    order.report('release_authorized', 'partner').report('release_confirmed', 'chain');
    expect(order).toMatchObject({ status: 'completed', last: [CHANGED] });
  });

  test('the missing signature may also come from the vendor that gives in, or through the operator', () => {
    for (const signer of ['vendor', 'operator'] as const) {
      expect(awarded().report('release_authorized', signer).effects).toContain('escrow.release');
    }
    const undecided = onrampAwaitingFiat()
      .report('payment_sent_confirmed', 'partner')
      .report('dispute_opened', 'vendor');
    for (const signer of ['partner', 'vendor', 'operator'] as const) {
      expect(undecided.refusal('release_authorized', signer)).toBe('INVALID_STATUS');
    }
  });

  test('a decision whose signature never comes can still be turned, and a hold keeps the release back', () => {
    const turned = awarded().report('dispute_resolved_to_seller', 'operator');
    expect(turned.status).toBe('cancelled');
    expect(turned.allowed()).toEqual([]);
    const held = awarded().report('hold_placed', 'operator');
    expect(held.refusal('release_authorized', 'partner')).toBe('OPERATION_NOT_ALLOWED');
    expect(held.report('hold_released', 'operator').allowed()).toEqual(['authorize-release']);
  });

  test('a KYC lost before a dispute is decided for the partner sends it to review', () => {
    const order = onrampAwaitingFiat()
      .report('payment_sent_confirmed', 'partner')
      .report('dispute_opened', 'vendor')
      .know({ kycCleared: false });
    expect(order.attempt('dispute_resolved_to_buyer', 'operator')).toBe('KYC_NOT_CLEARED');
    expect(order.facts).toMatchObject({ held: true, awardedToBuyer: false });
  });

  test('a KYC lost before the payout sends the paid order to review, and releasing the hold pays it', () => {
    const order = onrampAwaitingFiat().report('payment_sent_confirmed', 'partner');
    order.know({ kycCleared: false }).report('fiat_confirmed_by_vendor', 'vendor');
    expect(order).toMatchObject({ status: 'fiat_received_confirmed' });
    expect(order.facts.held).toBe(true);
    expect(order.effects).not.toContain('escrow.release');
    order.know({ kycCleared: true }).report('hold_released', 'operator');
    expect(order.status).toBe('crypto_release_pending');
    expect(order.effects).toContain('escrow.release');
  });

  test('a KYC lost for good is waived by the operator for this payout, and only where it is the obstacle', () => {
    const paid = () => onrampAwaitingFiat().report('payment_sent_confirmed', 'partner');
    const order = paid().know({ kycCleared: false }).report('fiat_confirmed_by_vendor', 'vendor');
    order.report('hold_released', 'operator');
    expect(order).toMatchObject({ status: 'fiat_received_confirmed', facts: { held: true } });
    order.report('kyc_waived', 'operator');
    expect(order).toMatchObject({ status: 'crypto_release_pending', facts: { held: false } });
    expect(order.effects.filter((kind) => kind === 'escrow.release')).toHaveLength(1);
    // It goes for the same payout tried again.
    order.report('release_failed', 'chain').report('hold_released', 'operator');
    expect(order.status).toBe('crypto_release_pending');

    const cleared = paid().report('hold_placed', 'operator').report('fiat_confirmed_by_vendor', 'vendor');
    expect(cleared.refusal('kyc_waived', 'operator')).toBe('OPERATION_NOT_ALLOWED');
    const early = paid().know({ kycCleared: false }).report('hold_placed', 'operator');
    expect(early.refusal('kyc_waived', 'operator')).toBe('INVALID_STATUS');
    const disputed = early.report('dispute_opened', 'vendor').report('kyc_waived', 'operator');
    expect(disputed).toMatchObject({ status: 'dispute_started', facts: { held: false } });
    disputed.report('dispute_resolved_to_buyer', 'operator').report('release_authorized', 'partner');
    expect(disputed.effects).toContain('escrow.release');
  });

  test('a vendor’s confirmation while held is recorded, and the release waits for the hold to be released', () => {
    const order = onrampAwaitingFiat()
      .report('payment_sent_confirmed', 'partner')
      .report('hold_placed', 'operator');
    order.report('fiat_confirmed_by_vendor', 'vendor');
    expect(order).toMatchObject({ status: 'fiat_received_confirmed', last: [] });
    expect(order.effects).not.toContain('escrow.release');
    order.report('hold_released', 'operator');
    expect(order.status).toBe('crypto_release_pending');
    expect(order.effects.filter((kind) => kind === 'escrow.release')).toHaveLength(1);
  });

  test('a release that fails for good is reviewed, never returned to the vendor', () => {
    const order = onrampAwaitingFiat()
      .report('payment_sent_confirmed', 'partner')
      .report('fiat_confirmed_by_vendor', 'vendor')
      .report('release_failed', 'chain');
    expect(order).toMatchObject({ status: 'fiat_received_confirmed', last: [] });
    expect(order.facts).toMatchObject({ held: true, escrow: 'funded' });
    expect(order.effects).not.toContain('escrow.return-to-vendor');
  });

  test.each(['vendor', 'operator'] as const)(
    'a failed release is signed again by the %s, which moves nothing before the review is over',
    (signer) => {
      const confirmed = onrampAwaitingFiat()
        .report('payment_sent_confirmed', 'partner')
        .report('hold_placed', 'operator')
        .report('fiat_confirmed_by_vendor', 'vendor');
      expect(confirmed.refusal('release_authorized', signer)).toBe('INVALID_STATUS');
      const order = confirmed.report('hold_released', 'operator').report('release_failed', 'chain');
      order.report('release_authorized', signer);
      expect(order).toMatchObject({ status: 'fiat_received_confirmed', last: [] });
      expect(order.facts).toMatchObject({ held: true, escrow: 'funded', releaseSigned: true });
      expect(order.refusal('release_authorized', signer)).toBe('INVALID_STATUS');
      order.report('hold_released', 'operator');
      expect(order.effects.filter((kind) => kind === 'escrow.release')).toHaveLength(2);
    },
  );
});
