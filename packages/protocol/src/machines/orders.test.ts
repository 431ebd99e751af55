import { describe, expect, test } from 'vitest';
import {
  ACTION_ENDPOINTS,
  actionRequired,
  allowedActions,
  decide,
  INITIAL_ORDER_FACTS,
  isTerminal,
  nextAction,
  ORDER_MACHINES,
  type OrderFacts,
  PARTNER_ACTIONS,
  SANDBOX_EVENT_RULES,
  SANDBOX_ORDER_EVENTS,
  timeoutOf,
} from './index.ts';
import { allFacts, ORDER_DOMAINS } from './testing/fact-space.ts';
import { OrderWalk } from './testing/order-walk.ts';

const ORDER_ID = '0198c0de-0000-7000-8000-000000000001';

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

function offramp(facts: Partial<OrderFacts> = {}): OrderWalk {
  return new OrderWalk('offramp', facts).report('order_initiated', 'partner');
}

function offrampFunded(facts: Partial<OrderFacts> = {}): OrderWalk {
  return offramp(facts).report('transfer_authorized', 'partner').report('deposit_finalized', 'chain');
}

function offrampUnderReview(facts: Partial<OrderFacts> = {}): OrderWalk {
  return offrampFunded(facts).report('proof_submitted', 'vendor').report('proof_review_started', 'operator');
}

const CHANGED = 'order.status.changed';

describe('C3.1 on-ramp, row by row', () => {
  test('initiate waits for a vendor and is announced; without KYC it is refused', () => {
    expect(onramp()).toMatchObject({ status: 'awaiting_liquidity_provider', emitted: [CHANGED] });
    expect(new OrderWalk('onramp', { kycCleared: false }).refusal('order_initiated', 'partner')).toBe(
      'KYC_NOT_CLEARED',
    );
  });

  test('a vendor accepts', () => {
    const order = onramp().report('vendor_accepted', 'vendor');
    expect(order).toMatchObject({ status: 'awaiting_vendor_escrow_funding', last: [CHANGED] });
    expect(order.effects).toContain('escrow.deploy-and-watch');
  });

  test('crypto locked in escrow opens the fiat transfer', () => {
    expect(onrampAwaitingFiat()).toMatchObject({ status: 'awaiting_fiat_transfer', last: [CHANGED] });
  });

  test('confirm-payment-sent moves to fiat_transfer_pending and only from awaiting_fiat_transfer', () => {
    const order = onrampAwaitingFiat().report('payment_sent_confirmed', 'partner');
    expect(order).toMatchObject({ status: 'fiat_transfer_pending', last: [CHANGED] });
    expect(order.refusal('payment_sent_confirmed', 'partner')).toBe('INVALID_STATUS');
  });

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

  test('no cancel once payment is confirmed; a dispute is opened from fiat_transfer_pending and may go either way', () => {
    const order = onrampAwaitingFiat().report('payment_sent_confirmed', 'partner');
    expect(order.refusal('cancelled_by_partner', 'partner')).toBe('INVALID_STATUS');
    expect(onrampAwaitingFiat().refusal('dispute_opened', 'vendor')).toBe('INVALID_STATUS');
    order.report('dispute_opened', 'operator');
    expect(order).toMatchObject({ status: 'dispute_started', last: [CHANGED] });
    order.report('dispute_resolved_to_buyer', 'operator').report('release_confirmed', 'chain');
    expect(order.status).toBe('completed');
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

  test('a release that fails for good is reviewed, never returned to the vendor', () => {
    const order = onrampAwaitingFiat()
      .report('payment_sent_confirmed', 'partner')
      .report('fiat_confirmed_by_vendor', 'vendor')
      .report('release_failed', 'chain');
    expect(order).toMatchObject({ status: 'fiat_received_confirmed', last: [] });
    expect(order.facts).toMatchObject({ held: true, escrow: 'funded' });
    expect(order.effects).not.toContain('escrow.return-to-vendor');
  });
});

describe('C3.2 off-ramp, row by row', () => {
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

  test.each([
    ['fiat_received_confirmed_by_partner', 'partner', 'fiat_received_confirmed_by_provider', 'provider'],
    ['fiat_received_confirmed_by_provider', 'provider', 'fiat_received_confirmed_by_partner', 'partner'],
  ] as const)(
    '%s first: the other confirmation is a no-op at every later status',
    (first, by, second, other) => {
      const order = offrampUnderReview().report('proof_accepted', 'operator');
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

  test('a provider that notifies makes the partner wait, though it may still confirm', () => {
    const accepted = (facts: Partial<OrderFacts>) =>
      offrampUnderReview(facts).report('proof_accepted', 'operator');
    expect(accepted({ settlementNotification: false }).next()).toBe('confirm_fiat_received');
    expect(accepted({ settlementNotification: true }).next()).toBe('wait');
    expect(accepted({ settlementNotification: true }).allowed()).toEqual(['confirm-fiat-received']);
  });

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

  test('an escrow error fails the order; once the buyer claims payment the refund waits for review', () => {
    const funded = offrampFunded().report('escrow_failed', 'chain');
    expect(funded).toMatchObject({ status: 'failed', last: [CHANGED] });
    expect(funded.allowed()).toEqual(['authorize-refund']);
    const claimed = offrampUnderReview().report('escrow_failed', 'chain');
    expect(claimed.status).toBe('failed');
    expect(claimed.refusal('refund_authorized', 'partner')).toBe('OPERATION_NOT_ALLOWED');
    expect(claimed.report('hold_released', 'operator').allowed()).toEqual(['authorize-refund']);
  });

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

describe.each(Object.entries(ORDER_MACHINES))('%s: what a partner is offered', (_name, machine) => {
  const space = allFacts(INITIAL_ORDER_FACTS, {
    origin: ORDER_DOMAINS.origin,
    held: ORDER_DOMAINS.held,
    kycCleared: ORDER_DOMAINS.kycCleared,
    fundingSource: ORDER_DOMAINS.fundingSource,
    paymentRequest: ORDER_DOMAINS.paymentRequest,
    payerDetailsSubmitted: ORDER_DOMAINS.payerDetailsSubmitted,
    settlementNotification: ORDER_DOMAINS.settlementNotification,
    transferAuthorization: ORDER_DOMAINS.transferAuthorization,
    sendOut: ORDER_DOMAINS.sendOut,
    escrow: ORDER_DOMAINS.escrow,
  });

  test('allowed_actions is exactly what decide lets the partner do, over all facts that matter', () => {
    const wrong: string[] = [];
    for (const status of machine.statusNames) {
      for (const facts of space) {
        const offered = allowedActions(machine, status, facts);
        for (const action of PARTNER_ACTIONS) {
          const decision = decide(machine, status, ACTION_ENDPOINTS[action].trigger, facts, 'partner');
          const changes = decision.kind === 'moved' && decision.transition.noop !== true;
          if (changes !== offered.includes(action))
            wrong.push(`${status} ${action} ${JSON.stringify(facts)}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test('a widget order offers nothing and answers every action with ORDER_NOT_FOUND, at every status', () => {
    for (const status of machine.statusNames) {
      for (const facts of space.filter(({ origin }) => origin === 'widget')) {
        if (allowedActions(machine, status, facts).length > 0) throw new Error(`${status} offers an action`);
        if (actionRequired(ORDER_ID, machine, status, facts) !== null) throw new Error(`${status} asks`);
        for (const { trigger } of Object.values(ACTION_ENDPOINTS)) {
          const decision = decide(machine, status, trigger, facts, 'partner');
          if (decision.kind !== 'refused' || decision.code !== 'ORDER_NOT_FOUND') {
            throw new Error(`${status} ${trigger} is ${JSON.stringify(decision)}`);
          }
        }
      }
    }
  });

  test('next_action and action_required name an allowed action, or none is asked', () => {
    for (const status of machine.statusNames) {
      for (const facts of space) {
        const next = nextAction(machine, status, facts);
        const required = actionRequired(ORDER_ID, machine, status, facts);
        const action = allowedActions(machine, status, facts).find(
          (name) => name.replaceAll('-', '_') === next,
        );
        const passive = ['wait', 'none', 'deposit_to_user_account'].includes(next);
        if (passive !== (action === undefined)) throw new Error(`${status} ${next} ${JSON.stringify(facts)}`);
        if (action === undefined ? required !== null : !required?.endpoint.endsWith(`/${action}`)) {
          throw new Error(`${status} ${next} ${JSON.stringify(required)}`);
        }
        if (next === 'none' && !isTerminal(machine, status)) throw new Error(`${status} has not ended`);
      }
    }
  });

  test('every row with an action is reported by that action’s trigger and by the partner', () => {
    for (const row of machine.transitions) {
      if (row.action === undefined) continue;
      expect(row.on).toBe(ACTION_ENDPOINTS[row.action].trigger);
      expect(row.by).toContain('partner');
    }
  });
});

describe('D11 sandbox events', () => {
  test('every event reports a trigger that its machines know, by an actor who may report it', () => {
    for (const event of SANDBOX_ORDER_EVENTS) {
      const rule = SANDBOX_EVENT_RULES[event];
      for (const direction of rule.directions) {
        for (const trigger of [rule.trigger, rule.withinBound ?? rule.trigger]) {
          const rows = ORDER_MACHINES[direction].transitions.filter((row) => row.on === trigger);
          expect(rows.length, `${event} ${direction}`).toBeGreaterThan(0);
          expect(rows.every((row) => row.by.includes(rule.by))).toBe(true);
        }
      }
    }
  });
});
