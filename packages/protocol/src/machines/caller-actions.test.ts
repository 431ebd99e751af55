import { describe, expect, test } from 'vitest';
import {
  actionsInStatus,
  isDisputeUndecided,
  kycActionsOf,
  orderActionsOf,
  sandboxEventsOf,
  VENDOR_TRIGGERS,
} from './caller-actions.ts';
import type { Actor } from './machine.types.ts';
import { ORDER_MACHINES, type OrderDirection } from './order-actions.ts';
import { INITIAL_ORDER_FACTS } from './order-facts.ts';
import type { OrderStatus } from './order-vocabulary.ts';
import { quoteMachine } from './quote.machine.ts';

const facts = { ...INITIAL_ORDER_FACTS, kycCleared: true };
const onramp = (status: OrderStatus, more: Partial<typeof facts> = {}) => ({
  direction: 'onramp' as const,
  status,
  facts: { ...facts, ...more },
});

/** Facts under which an operator has something to decide, in one status or another. */
const OPERATOR_STATES: readonly Partial<typeof facts>[] = [
  { escrow: 'funded' },
  { escrow: 'funded', proofPending: true },
  { escrow: 'funded', awardedToBuyer: true },
  { held: true, kycCleared: false },
  { held: true, escrow: 'funded' },
];

/** What an actor may report, in either direction. */
function triggersOf(actor: Actor): string[] {
  const rows = Object.values(ORDER_MACHINES).flatMap(({ transitions }) => transitions);
  return [...new Set(rows.filter(({ by }) => by.includes(actor)).map(({ on }) => on))].sort();
}

describe('the actions of a caller', () => {
  test('every fact that a vendor may report is an action of its own, but those that follow from a read or a signature', () => {
    const known = Object.values(VENDOR_TRIGGERS)
      .filter(({ actor }) => actor === 'vendor')
      .map(({ trigger }) => trigger);
    expect(triggersOf('vendor')).toEqual(
      [...known, 'payout_details_requested', 'refund_signed_by_vendor'].sort(),
    );
  });

  test('are different for partner, vendor and operator in the same status, and none for a worker', () => {
    const offered = onramp('awaiting_liquidity_provider');
    expect(orderActionsOf('partner', offered)).toEqual(['cancel']);
    expect(orderActionsOf('vendor', offered)).toEqual(['accept', 'decline']);
    expect(orderActionsOf('operator', offered)).toEqual(['hold:place']);
    for (const actor of ['chain', 'clock', 'system', 'simulator', 'bank', 'customer'] as const) {
      expect(orderActionsOf(actor, offered)).toEqual([]);
    }
  });

  test('follow the facts, not the status alone', () => {
    const held = onramp('awaiting_fiat_transfer', { held: true, escrow: 'funded' });
    expect(orderActionsOf('operator', held)).toContain('hold:release');
    expect(orderActionsOf('operator', held)).not.toContain('hold:place');
    // What the widget's customer opened is not the partner's to act on.
    expect(orderActionsOf('partner', onramp('awaiting_liquidity_provider', { origin: 'widget' }))).toEqual(
      [],
    );
  });

  test.each<[OrderDirection, OrderStatus, Partial<typeof facts>, string[]]>([
    ['onramp', 'dispute_started', {}, ['hold:place', 'dispute:for_buyer', 'dispute:for_seller']],
    ['offramp', 'dispute_started', {}, ['hold:place', 'dispute:for_buyer', 'dispute:for_seller']],
    ['offramp', 'fiat_payment_started', {}, ['hold:place', 'dispute:open']],
    [
      'offramp',
      'fiat_payment_started',
      { proofPending: true },
      ['hold:place', 'dispute:open', 'proof-review:start'],
    ],
    [
      'offramp',
      'fiat_payment_review_started',
      {},
      ['hold:place', 'dispute:open', 'proof-review:accepted', 'proof-review:rejected'],
    ],
    [
      'onramp',
      'fiat_received_confirmed',
      { held: true, kycCleared: false, releaseSigned: true },
      ['hold:release', 'hold:override_kyc', 'escrow:settled_elsewhere'],
    ],
    [
      'onramp',
      'fiat_received_confirmed',
      { held: true },
      ['hold:release', 'escrow-signature:release', 'escrow:settled_elsewhere'],
    ],
  ])('%s, %s: an operator has what the table lets it report', (direction, status, more, actions) => {
    const order = { direction, status, facts: { ...facts, escrow: 'funded' as const, ...more } };
    expect(orderActionsOf('operator', order)).toEqual(actions);
    expect(isDisputeUndecided(order)).toBe(status === 'dispute_started');
  });

  test('every fact that an operator may report about an order is a decision of one of its endpoints', () => {
    const seen = new Set(
      (['onramp', 'offramp'] as const).flatMap((direction) =>
        ORDER_MACHINES[direction].statusNames.flatMap((status) =>
          OPERATOR_STATES.flatMap((more) =>
            orderActionsOf('operator', { direction, status, facts: { ...facts, ...more } }),
          ),
        ),
      ),
    );
    expect([...seen].sort()).toEqual([
      ...['dispute:for_buyer', 'dispute:for_seller', 'dispute:open', 'escrow-signature:refund'],
      ...[
        'escrow-signature:release',
        'escrow:settled_elsewhere',
        'hold:override_kyc',
        'hold:place',
        'hold:release',
      ],
      ...['proof-review:accepted', 'proof-review:rejected', 'proof-review:start'],
      ...['send-out:failed', 'send-out:settled'],
    ]);
  });

  test('a customer acts on what the widget opened, and a repetition is no action', () => {
    const waiting = onramp('awaiting_fiat_transfer', { origin: 'widget', escrow: 'funded' });
    expect(orderActionsOf('customer', waiting)).toEqual(['confirm-payment-sent', 'cancel']);
    expect(orderActionsOf('provider', onramp('fiat_transfer_pending', { escrow: 'funded' }))).toEqual([
      'fiat-confirmed',
      'dispute',
    ]);
  });

  test('a repetition that changes nothing is none', () => {
    const notified = { settlementNotification: true };
    const confirmed = { ...onramp('fiat_received_confirmed', notified), direction: 'offramp' as const };
    expect(orderActionsOf('vendor', confirmed)).not.toContain('fiat-settled');
    const again = { settled: 'fiat_received_confirmed_by_provider' } as const;
    const { offramp } = ORDER_MACHINES;
    expect(actionsInStatus(offramp, 'fiat_received_confirmed', 'provider', again)).toEqual([]);
    expect(actionsInStatus(offramp, 'awaiting_fiat_received_confirmation', 'provider', again)).toEqual([
      'settled',
    ]);
  });

  test('sandbox events are those of the direction that would change something', () => {
    const events = sandboxEventsOf(onramp('awaiting_liquidity_provider'));
    expect(events).toContain('vendor_accepts');
    expect(events).toContain('order_expires');
    expect(events).not.toContain('buyer_submits_proof');
    expect(events).not.toContain('release_hold');
    const offramp = {
      ...onramp('crypto_received', { escrow: 'funded', anchor: 'fiat' }),
      direction: 'offramp' as const,
    };
    expect(sandboxEventsOf(offramp)).toEqual(expect.arrayContaining(['buyer_submits_proof', 'reprice']));
  });

  test.each(['cancelled', 'failed'] as const)(
    'no actor of a sandbox pays into an order that is %s',
    (status) => {
      expect(sandboxEventsOf(onramp(status))).toEqual(['hold_for_review']);
    },
  );

  test('of KYC are a partner’s or an operator’s', () => {
    expect(kycActionsOf('partner', 'NOT_INITIATED')).toEqual(['kyc']);
    expect(kycActionsOf('partner', 'PENDING_DOCUMENTS')).toEqual(['kyc', 'kyc/documents']);
    expect(kycActionsOf('operator', 'UNDER_REVIEW')).toEqual(['approve', 'reject', 'request_resubmission']);
    expect(kycActionsOf('operator', 'VERIFIED')).toEqual(['reject']);
    expect(kycActionsOf('operator', 'PENDING_DOCUMENTS')).toEqual([]);
    expect(kycActionsOf('partner', 'UNDER_REVIEW')).toEqual([]);
    expect(
      actionsInStatus(ORDER_MACHINES.onramp, 'completed', 'vendor', { accept: 'vendor_accepted' }),
    ).toEqual([]);
    expect(actionsInStatus(quoteMachine, 'used', 'partner', { claim: 'quote_claimed' })).toEqual([]);
  });
});
