import type { OfframpStatus } from './offramp-status.ts';
import { disputesDecidedForBuyer } from './order-disputes.ts';
import type { OrderTransition } from './order-facts.ts';

const CHANGED = ['order.status.changed'] as const;
/** Both in one transaction: a cancelled order whose crypto is in escrow never goes unannounced. */
const CHANGED_AND_REFUND_REQUIRED = ['order.status.changed', 'order.refund.required'] as const;

const UNFUNDED = [
  'awaiting_liquidity_provider',
  'awaiting_crypto_transfer_authorization',
  'crypto_transfer_authorization_pending',
] as const;
/** The buyer says it has paid: money must not flow back without somebody looking. */
const PAYMENT_CLAIMED = [
  'fiat_payment_started',
  'fiat_payment_review_started',
  'awaiting_fiat_received_confirmation',
] as const;

const cancellations: readonly OrderTransition<OfframpStatus>[] = [
  {
    from: UNFUNDED,
    on: 'cancelled_by_partner',
    by: ['partner', 'customer'],
    to: 'cancelled',
    emits: CHANGED,
    action: 'cancel',
    spec: 'D6 cancel; a transfer already signed may still arrive and is then refundable',
  },
  {
    from: 'crypto_received',
    on: 'cancelled_by_partner',
    by: ['partner', 'customer'],
    to: 'cancelled',
    emits: CHANGED_AND_REFUND_REQUIRED,
    action: 'cancel',
    spec: 'D6 cancel, C3.2 row 7; allowed while held, because the crypto stays in escrow',
  },
  {
    from: ['awaiting_liquidity_provider', 'awaiting_crypto_transfer_authorization'],
    on: 'order_expired',
    by: ['clock'],
    to: 'cancelled',
    emits: CHANGED,
    spec: 'C3.2 row 7, D6: authorization not given in 30 min',
  },
  {
    from: 'crypto_received',
    on: 'order_expired',
    by: ['clock'],
    guard: ['not_held'],
    to: 'cancelled',
    emits: CHANGED_AND_REFUND_REQUIRED,
    spec: 'C3.2 row 7: no payment proof; a review stops the clock',
  },
  {
    from: 'fiat_payment_started',
    on: 'order_expired',
    by: ['clock'],
    guard: ['proof_wanted', 'not_held'],
    to: 'cancelled',
    emits: CHANGED_AND_REFUND_REQUIRED,
    spec: 'C3.2 row 7: a refused proof not renewed; never while a proof waits for review',
  },
  {
    from: 'fiat_payment_review_started',
    on: 'proof_rejected',
    by: ['operator'],
    guard: ['proof_attempts_used_up'],
    to: 'cancelled',
    emits: CHANGED_AND_REFUND_REQUIRED,
    sets: { proofPending: false },
    counts: 'proofRejections',
    spec: 'C3.2 row 7, D6: proofs refused 3 times',
  },
  {
    from: 'dispute_started',
    on: 'dispute_resolved_to_seller',
    by: ['operator'],
    guard: ['not_held', 'escrow_funded'],
    to: 'cancelled',
    emits: CHANGED_AND_REFUND_REQUIRED,
    sets: { awardedToBuyer: false },
    spec: 'D12: the operator decides for the partner, which signs its refund',
  },
  {
    from: 'cancelled',
    on: 'deposit_finalized',
    by: ['chain'],
    guard: ['escrow_untouched'],
    to: 'cancelled',
    emits: ['order.refund.required'],
    posts: 'partner_escrow_funded',
    sets: { escrow: 'funded', transferAuthorization: 'spent' },
    spec: 'C6: a deposit that lost the race against the cancellation is owed back',
  },
];

const failures: readonly OrderTransition<OfframpStatus>[] = [
  {
    from: [...UNFUNDED, 'crypto_received'],
    on: 'escrow_failed',
    by: ['chain', 'system'],
    to: 'failed',
    emits: CHANGED,
    spec: 'C3.2 row 8; a funded deposit can be refunded by the partner',
  },
  {
    from: PAYMENT_CLAIMED,
    on: 'escrow_failed',
    by: ['chain', 'system'],
    to: 'failed',
    emits: CHANGED,
    sets: { held: true },
    spec: 'C3.2 row 8; held, because the buyer says it has paid: the operator frees the refund',
  },
  {
    from: ['awaiting_crypto_transfer_authorization', 'crypto_transfer_authorization_pending'],
    on: 'deposit_finalized',
    by: ['chain'],
    guard: ['cost_beyond_bound', 'not_held'],
    to: 'failed',
    emits: CHANGED,
    effects: ['escrow.auto-refund'],
    posts: 'partner_escrow_funded',
    sets: { escrow: 'refunding', transferAuthorization: 'spent' },
    spec: 'C3.2 row 9: the cost rose before the deposit was final',
  },
  {
    from: ['awaiting_crypto_transfer_authorization', 'crypto_transfer_authorization_pending'],
    on: 'deposit_finalized',
    by: ['chain'],
    guard: ['cost_beyond_bound', 'held'],
    to: 'failed',
    emits: CHANGED,
    posts: 'partner_escrow_funded',
    sets: { escrow: 'funded', transferAuthorization: 'spent' },
    spec: 'C3.2 row 9; a hold keeps the refund back until it is released',
  },
  {
    from: 'crypto_received',
    on: 'cost_bound_exceeded',
    by: ['system'],
    guard: ['fiat_anchored', 'not_held'],
    to: 'failed',
    emits: CHANGED,
    effects: ['escrow.auto-refund'],
    sets: { costBoundExceeded: true, escrow: 'refunding' },
    spec: 'C3.2 row 9, D7: only before the buyer has paid',
  },
  {
    from: 'crypto_received',
    on: 'cost_bound_exceeded',
    by: ['system'],
    guard: ['fiat_anchored', 'held'],
    to: 'failed',
    emits: CHANGED,
    sets: { costBoundExceeded: true },
    spec: 'C3.2 row 9; a hold keeps the refund back until it is released',
  },
  {
    from: 'failed',
    on: 'deposit_finalized',
    by: ['chain'],
    guard: ['escrow_untouched'],
    to: 'failed',
    emits: [],
    posts: 'partner_escrow_funded',
    sets: { escrow: 'funded', transferAuthorization: 'spent' },
    spec: 'A late deposit can be refunded; C6: order.refund.required belongs to cancelled only',
  },
  {
    from: 'failed',
    on: 'refund_signed_by_vendor',
    by: ['vendor'],
    guard: ['auto_refund_due', 'not_held'],
    to: 'failed',
    emits: [],
    effects: ['escrow.auto-refund'],
    sets: { escrow: 'refunding' },
    spec: 'C3.2 row 9, D7: the automatic refund that lacked the buyer’s signature; until then the partner may sign',
  },
  {
    from: 'failed',
    on: 'hold_released',
    by: ['operator'],
    guard: ['hold_present', 'auto_refund_due'],
    to: 'failed',
    emits: [],
    effects: ['escrow.auto-refund'],
    sets: { held: false, escrow: 'refunding' },
    spec: 'C3.2 row 9: the automatic refund that the hold kept back',
  },
  {
    from: 'failed',
    on: 'hold_released',
    by: ['operator'],
    guard: ['hold_present', 'no_auto_refund_due'],
    to: 'failed',
    emits: [],
    sets: { held: false },
    spec: 'D12 holds',
  },
];

/** The cost can move before the deposit is final: it is remembered, and judged when crypto is there. */
const costs: readonly OrderTransition<OfframpStatus>[] = [...UNFUNDED, 'crypto_received' as const].flatMap(
  (status): OrderTransition<OfframpStatus>[] => {
    const met: OrderTransition<OfframpStatus> = {
      from: status,
      on: 'cost_bound_met',
      by: ['system'],
      guard: ['fiat_anchored'],
      to: status,
      emits: [],
      sets: { costBoundExceeded: false },
      spec: 'C3.2 row 9: at most 1.20 times the expected amount',
    };
    if (status === 'crypto_received') return [met];
    return [
      met,
      {
        from: status,
        on: 'cost_bound_exceeded',
        by: ['system'],
        guard: ['fiat_anchored'],
        to: status,
        emits: [],
        sets: { costBoundExceeded: true },
        spec: 'C3.2 row 9: judged at settlement, not before the deposit is there',
      },
    ];
  },
);

const disputes: readonly OrderTransition<OfframpStatus>[] = [
  {
    from: ['crypto_received', ...PAYMENT_CLAIMED],
    on: 'dispute_opened',
    by: ['vendor', 'operator'],
    to: 'dispute_started',
    emits: CHANGED,
    spec: 'C3.2 row 10, D6',
  },
  ...disputesDecidedForBuyer({
    decided: 'D12: the operator decides for the vendor that paid',
    asks: [],
    signers: ['vendor', 'operator'],
  }),
];

const refunds: readonly OrderTransition<OfframpStatus>[] = (['cancelled', 'failed'] as const).flatMap(
  (status): OrderTransition<OfframpStatus>[] => [
    {
      from: status,
      on: 'refund_authorized',
      by: ['partner', 'customer', 'operator'],
      guard: ['escrow_funded'],
      to: status,
      emits: [],
      effects: ['escrow.refund'],
      action: 'authorize-refund',
      sets: { escrow: 'refunding' },
      spec: 'C4.6 rules 2 to 4; an operator hands in the signature of a partner that cannot act on a widget order',
    },
    {
      from: status,
      on: 'refund_confirmed',
      by: ['chain'],
      guard: ['escrow_refunding'],
      to: status,
      emits: [],
      posts: 'escrow_refunded',
      sets: { escrow: 'emptied' },
      spec: 'C4.6 rule 2',
    },
    {
      from: status,
      on: 'refund_failed',
      by: ['chain', 'system'],
      guard: ['escrow_refunding'],
      to: status,
      emits: [],
      sets: { escrow: 'funded' },
      spec: 'C4.6 rule 4: crypto remains in escrow, so the partner may sign again',
    },
    {
      from: status,
      on: 'transfer_authorization_lapsed',
      by: ['chain', 'clock'],
      to: status,
      emits: [],
      sets: { transferAuthorization: 'spent' },
      spec: 'Safety: no late deposit can arrive any more',
    },
  ],
);

const lapse: OrderTransition<OfframpStatus> = {
  from: 'awaiting_crypto_transfer_authorization',
  on: 'transfer_authorization_lapsed',
  by: ['chain', 'clock'],
  to: 'awaiting_crypto_transfer_authorization',
  emits: [],
  sets: { transferAuthorization: 'spent' },
  spec: 'Safety: a new authorization only after the old one is dead',
};

export const OFFRAMP_STOPS: readonly OrderTransition<OfframpStatus>[] = [
  ...disputes,
  ...cancellations,
  ...failures,
  ...costs,
  ...refunds,
  lapse,
];
