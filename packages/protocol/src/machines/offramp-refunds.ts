import type { OfframpStatus } from './offramp-status.ts';
import type { OrderRule } from './order-facts.ts';

/** The way back of the crypto of an off-ramp order that has stopped. */

const refunds: readonly OrderRule<OfframpStatus>[] = (['cancelled', 'failed'] as const).flatMap(
  (status): OrderRule<OfframpStatus>[] => [
    {
      from: status,
      on: 'refund_authorized',
      by: ['partner', 'customer', 'operator'],
      guard: ['escrow_funded', 'refund_wallet_cleared'],
      to: status,
      emits: [],
      effects: ['escrow.refund'],
      action: 'authorize-refund',
      sets: { escrow: 'refunding' },
      spec: 'C4.6 rules 2 to 4; an operator hands in the signature of an owner that cannot',
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
      on: 'transfer_authorization_lapsed',
      by: ['chain', 'clock'],
      to: status,
      emits: [],
      sets: { transferAuthorization: 'spent' },
      spec: 'Safety: no late deposit can arrive any more',
    },
  ],
);

/** A cancelled order has asked for its refund with the cancellation; a failed one may not have asked yet. */
const refundFailures: readonly OrderRule<OfframpStatus>[] = [
  {
    from: 'cancelled',
    on: 'refund_failed',
    by: ['chain', 'system'],
    guard: ['escrow_refunding'],
    to: 'cancelled',
    emits: [],
    sets: { escrow: 'funded' },
    spec: 'C4.6 rule 4: crypto remains in escrow, so the partner may sign again',
  },
  {
    from: 'failed',
    on: 'refund_failed',
    by: ['chain', 'system'],
    guard: ['escrow_refunding', 'refund_asked'],
    to: 'failed',
    emits: [],
    sets: { escrow: 'funded' },
    spec: 'C4.6 rule 4: crypto remains in escrow, so the partner may sign again',
  },
  {
    from: 'failed',
    on: 'refund_failed',
    by: ['chain', 'system'],
    guard: ['escrow_refunding', 'refund_unasked', 'not_held'],
    to: 'failed',
    emits: ['order.refund.required'],
    sets: { escrow: 'funded', refundAsked: true },
    spec: 'C6: the automatic refund did not happen, so the partner is asked to sign',
  },
  {
    from: 'failed',
    on: 'refund_failed',
    by: ['chain', 'system'],
    guard: ['escrow_refunding', 'refund_unasked', 'held'],
    to: 'failed',
    emits: [],
    sets: { escrow: 'funded' },
    spec: 'Likewise while held: releasing the hold starts the automatic refund again',
  },
];

/** What a hold kept back comes with its release: the refund is asked for, at most once an order, or made by itself. */
const releases: readonly OrderRule<OfframpStatus>[] = [
  {
    from: 'cancelled',
    on: 'hold_released',
    by: ['operator'],
    guard: ['hold_present', 'escrow_funded', 'refund_unasked'],
    to: 'cancelled',
    emits: ['order.refund.required'],
    sets: { held: false, refundAsked: true },
    spec: 'C6: the refund that the hold kept back; at most once an order',
  },
  {
    from: 'cancelled',
    on: 'hold_released',
    by: ['operator'],
    guard: ['hold_present', 'escrow_funded', 'refund_asked'],
    to: 'cancelled',
    emits: [],
    sets: { held: false },
    spec: 'D12 holds',
  },
  {
    from: 'cancelled',
    on: 'hold_released',
    by: ['operator'],
    guard: ['hold_present', 'escrow_not_funded'],
    to: 'cancelled',
    emits: [],
    sets: { held: false },
    spec: 'D12 holds',
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
    guard: ['hold_present', 'no_auto_refund_due', 'escrow_funded', 'refund_unasked'],
    to: 'failed',
    emits: ['order.refund.required'],
    sets: { held: false, refundAsked: true },
    spec: 'C6: the refund that the hold kept back; at most once an order',
  },
  {
    from: 'failed',
    on: 'hold_released',
    by: ['operator'],
    guard: ['hold_present', 'no_auto_refund_due', 'escrow_funded', 'refund_asked'],
    to: 'failed',
    emits: [],
    sets: { held: false },
    spec: 'D12 holds',
  },
  {
    from: 'failed',
    on: 'hold_released',
    by: ['operator'],
    guard: ['hold_present', 'no_auto_refund_due', 'escrow_not_funded'],
    to: 'failed',
    emits: [],
    sets: { held: false },
    spec: 'D12 holds',
  },
];

export const OFFRAMP_REFUNDS: readonly OrderRule<OfframpStatus>[] = [
  ...refunds,
  ...refundFailures,
  ...releases,
];
