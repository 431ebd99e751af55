import { defineMachine } from './decide.ts';
import type { Machine } from './machine.types.ts';
import { NEW } from './machine.types.ts';

/** A transfer into a customer's fiat account. */
export const FIAT_PAYMENT_STATUSES = ['received', 'matched', 'held_for_review', 'collected'] as const;
export type FiatPaymentStatus = (typeof FIAT_PAYMENT_STATUSES)[number];
export const FIAT_PAYMENT_TRIGGERS = [
  'payment_received',
  'payment_matched',
  'payment_ambiguous',
  'match_dismissed',
  'match_undone',
  'payment_collected',
  'collection_failed',
] as const;
export type FiatPaymentTrigger = (typeof FIAT_PAYMENT_TRIGGERS)[number];

export interface FiatPaymentFacts {
  /** It is on its way to the partner's master account. */
  readonly collecting: boolean;
}
export const INITIAL_FIAT_PAYMENT_FACTS: FiatPaymentFacts = { collecting: false };

export type FiatPaymentGuard = 'collecting' | 'not_collecting';
export type FiatPaymentMachine = Machine<
  FiatPaymentStatus,
  FiatPaymentTrigger,
  FiatPaymentFacts,
  FiatPaymentGuard
>;

export const fiatPaymentMachine: FiatPaymentMachine = defineMachine<
  FiatPaymentStatus,
  FiatPaymentTrigger,
  FiatPaymentFacts,
  FiatPaymentGuard
>({
  name: 'fiat_payment',
  title: 'Payment into a fiat account',
  statuses: {
    received: {
      says: 'On the account; it has paid no order. It may be on its way to the partner.',
      published: false,
      terminal: false,
    },
    matched: { says: 'Has paid an order.', published: false, terminal: true },
    held_for_review: {
      says: 'Several orders wait for this amount, the one that does is held or its customer not cleared, or the bank has doubts; the operator decides.',
      published: false,
      terminal: false,
    },
    collected: { says: 'On the partner’s master account.', published: true, terminal: true },
  },
  guards: {
    collecting: {
      code: 'OPERATION_NOT_ALLOWED',
      says: 'the payment is being collected for the partner',
      reads: ['collecting'],
      holds: (facts) => facts.collecting,
    },
    not_collecting: {
      code: 'OPERATION_NOT_ALLOWED',
      says: 'the payment is not being collected for the partner',
      reads: ['collecting'],
      holds: (facts) => !facts.collecting,
    },
  },
  transitions: [
    {
      from: NEW,
      on: 'payment_received',
      by: ['bank'],
      guard: ['not_collecting'],
      to: 'received',
      emits: [],
      posts: 'fiat_deposit_received',
      spec: 'D9: no order waits for it',
    },
    {
      from: NEW,
      on: 'payment_received',
      by: ['bank'],
      guard: ['collecting'],
      to: 'received',
      emits: [],
      effects: ['bank.collect'],
      posts: 'fiat_deposit_received',
      spec: 'D9: no order waits for it, and the partner collects',
    },
    {
      from: NEW,
      on: 'payment_matched',
      by: ['bank'],
      to: 'matched',
      emits: [],
      posts: 'fiat_deposit_received',
      spec: 'C3.1 row 5: one order waits for exactly this amount',
    },
    {
      from: NEW,
      on: 'payment_ambiguous',
      by: ['bank'],
      to: 'held_for_review',
      emits: [],
      posts: 'fiat_deposit_received',
      spec: 'C3.1 row 5: orders of the same amount are held for review',
    },
    {
      from: ['received', 'held_for_review'],
      on: 'payment_matched',
      by: ['operator'],
      guard: ['not_collecting'],
      to: 'matched',
      emits: [],
      spec: 'D12: a payment that came before its order waited for it may be matched too',
    },
    {
      from: 'held_for_review',
      on: 'match_dismissed',
      by: ['operator'],
      guard: ['not_collecting'],
      to: 'received',
      emits: [],
      spec: 'D12: it stays on the account',
    },
    {
      from: 'matched',
      on: 'match_undone',
      by: ['system'],
      guard: ['not_collecting'],
      to: 'received',
      emits: [],
      posts: 'customer_deposit_returned',
      spec: 'Silent: the bank did not pay the vendor and the order has stopped; it is the customer’s as before',
    },
    {
      from: 'received',
      on: 'payment_collected',
      by: ['bank'],
      guard: ['collecting'],
      to: 'collected',
      emits: ['retail.settlement.completed'],
      posts: 'fiat_deposit_collected',
      spec: 'D9: told once the bank has moved it',
    },
    {
      from: 'received',
      on: 'collection_failed',
      by: ['bank', 'system'],
      guard: ['collecting'],
      to: 'received',
      emits: [],
      sets: { collecting: false },
      spec: 'D9: it did not move, so it is on the account as before',
    },
  ],
});

export const FIAT_PAYMENT_HELD = 'held_for_review' satisfies FiatPaymentStatus;
/** Only such a payment can be collected. */
export const FIAT_PAYMENT_RECEIVED = 'received' satisfies FiatPaymentStatus;
export const FIAT_PAYMENT_COLLECTED = 'collected' satisfies FiatPaymentStatus;
