import { defineMachine } from './decide.ts';
import { type Machine, NEW } from './machine.types.ts';

export const DEPOSIT_STATUSES = [
  'credited',
  'held_for_review',
  'accepted',
  'return_pending',
  'returning',
  'returned',
  'dismissed',
] as const;
export type DepositStatus = (typeof DEPOSIT_STATUSES)[number];

export const DEPOSIT_TRIGGERS = [
  'paid_exactly',
  'paid_oddly',
  'not_needed',
  'acceptance_decided',
  'return_decided',
  'decision_withdrawn',
  'dismissal_decided',
  'return_signed',
  'return_seen',
  'return_confirmed',
  'return_failed',
] as const;
export type DepositTrigger = (typeof DEPOSIT_TRIGGERS)[number];

/** What decides about a deposit besides its status. */
export interface DepositFacts {
  /** It is of the token that its order trades. */
  readonly ownToken: boolean;
  /** It is of a token that its chain is configured for: anyone can make up any other. */
  readonly knownToken: boolean;
  /** The order still waits for its escrow to be funded. */
  readonly orderAwaitsFunding: boolean;
  /** The order’s own payout has happened, or never will: the escrow’s next transaction is free. */
  readonly escrowFree: boolean;
  /** The escrow has executed nothing yet, so the order’s payout, which has its first nonce, can still happen. */
  readonly escrowUnused: boolean;
  /** This deposit and the others that are held cover what the order needs, in the books and on chain. */
  readonly covers: boolean;
  /** More than the order needs of it. */
  readonly surplus: boolean;
  /** Part of it belongs to the order: only the rest can be decided about. */
  readonly partCredited: boolean;
  /**
   * Two owners have signed its return, and anyone may send it: who is paid cannot be thought over any more. Not where another
   * deposit has gone back with the nonce it was signed for.
   */
  readonly signed: boolean;
  /** Its return was executed and moved something else than it: a token that takes a fee, or does not do what it says. */
  readonly executedOtherwise: boolean;
  /** Another deposit of the same escrow is on its way back. */
  readonly otherReturning: boolean;
}

export const INITIAL_DEPOSIT_FACTS: DepositFacts = {
  ownToken: true,
  knownToken: true,
  orderAwaitsFunding: true,
  escrowFree: false,
  escrowUnused: true,
  covers: false,
  surplus: false,
  partCredited: false,
  signed: false,
  executedOtherwise: false,
  otherReturning: false,
};

const GUARDS = {
  own_token: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'it is the token that the order trades',
    reads: ['ownToken'],
    holds: (facts) => facts.ownToken,
  },
  unknown_token: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'its chain is not configured for the token: what a chain is configured for is never dismissed',
    reads: ['knownToken'],
    holds: (facts) => !facts.knownToken,
  },
  order_awaits_funding: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the order still waits for its deposit',
    reads: ['orderAwaitsFunding'],
    holds: (facts) => facts.orderAwaitsFunding,
  },
  escrow_free: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the order’s own payout has happened, or the order has ended without a deposit',
    reads: ['escrowFree'],
    holds: (facts) => facts.escrowFree,
  },
  escrow_unused: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the escrow has not paid anything back yet',
    reads: ['escrowUnused'],
    holds: (facts) => facts.escrowUnused,
  },
  covered: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'with the other held deposits it covers what the order needs',
    reads: ['covers'],
    holds: (facts) => facts.covers,
  },
  surplus: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the order does not need all of it',
    reads: ['surplus'],
    holds: (facts) => facts.surplus,
  },
  no_surplus: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the order needs all of it',
    reads: ['surplus'],
    holds: (facts) => !facts.surplus,
  },
  nothing_credited: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'no part of it has been credited to the order',
    reads: ['partCredited'],
    holds: (facts) => !facts.partCredited,
  },
  unsigned: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'its return is not signed yet',
    reads: ['signed'],
    holds: (facts) => !facts.signed,
  },
  executed_otherwise: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'its return was executed and moved something else',
    reads: ['executedOtherwise'],
    holds: (facts) => facts.executedOtherwise,
  },
  no_other_return: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'no other deposit of the escrow is on its way back: one transaction at a time',
    reads: ['otherReturning'],
    holds: (facts) => !facts.otherReturning,
  },
} satisfies DepositMachine['guards'];

export type DepositGuard =
  | 'own_token'
  | 'unknown_token'
  | 'order_awaits_funding'
  | 'escrow_free'
  | 'escrow_unused'
  | 'covered'
  | 'surplus'
  | 'no_surplus'
  | 'nothing_credited'
  | 'unsigned'
  | 'executed_otherwise'
  | 'no_other_return';

export type DepositMachine = Machine<DepositStatus, DepositTrigger, DepositFacts, DepositGuard>;

const ACCEPTABLE = [
  'own_token',
  'nothing_credited',
  'order_awaits_funding',
  'escrow_unused',
  'covered',
] as const satisfies readonly DepositGuard[];

/** What was paid into an order’s escrow. Only an exact payment is credited by itself; a person decides about any other. */
export const depositMachine: DepositMachine = defineMachine<
  DepositStatus,
  DepositTrigger,
  DepositFacts,
  DepositGuard
>({
  name: 'deposit',
  title: 'Deposit into an escrow',
  statuses: {
    credited: { says: 'Exactly what the order awaited.', published: false, terminal: true },
    held_for_review: { says: 'An operator decides what becomes of it.', published: false, terminal: false },
    accepted: { says: 'Credited to its order by an operator.', published: false, terminal: true },
    return_pending: {
      says: 'Goes back once the order does not need the escrow any more and an owner has signed.',
      published: false,
      terminal: false,
    },
    returning: { says: 'On its way back.', published: false, terminal: false },
    returned: { says: 'Returned to its payer.', published: false, terminal: true },
    dismissed: {
      says: 'An unconfigured token, left where it is or where its return has put it.',
      published: false,
      terminal: true,
    },
  },
  guards: GUARDS,
  transitions: [
    { from: NEW, on: 'paid_exactly', by: ['chain'], to: 'credited', emits: [], spec: 'D6' },
    {
      from: NEW,
      on: 'paid_oddly',
      by: ['chain'],
      to: 'held_for_review',
      emits: [],
      posts: 'deposit_held',
      spec: 'D13: held, and in the books from the start',
    },
    {
      from: 'credited',
      on: 'not_needed',
      by: ['chain'],
      to: 'held_for_review',
      emits: [],
      posts: 'deposit_held',
      spec: 'Safety: exact, but its order has no use for it any more',
    },
    {
      from: 'held_for_review',
      on: 'acceptance_decided',
      by: ['operator'],
      guard: [...ACCEPTABLE, 'no_surplus'],
      to: 'accepted',
      emits: [],
      posts: 'deposit_accepted',
      spec: 'D13',
    },
    {
      from: 'held_for_review',
      on: 'acceptance_decided',
      by: ['operator'],
      guard: [...ACCEPTABLE, 'surplus'],
      to: 'return_pending',
      emits: [],
      posts: 'deposit_accepted',
      spec: 'D13: what the order does not need goes back to its payer',
    },
    {
      from: 'held_for_review',
      on: 'return_decided',
      by: ['operator'],
      to: 'return_pending',
      emits: [],
      spec: 'D13',
    },
    {
      from: 'held_for_review',
      on: 'dismissal_decided',
      by: ['operator'],
      guard: ['unknown_token'],
      to: 'dismissed',
      emits: [],
      spec: 'Safety: anyone can log a transfer of a token that does not exist',
    },
    {
      from: 'return_pending',
      on: 'dismissal_decided',
      by: ['operator'],
      guard: ['unknown_token', 'executed_otherwise'],
      to: 'dismissed',
      emits: [],
      spec: 'Safety: a token that takes a fee has gone, though not as its return says; nothing else would end it',
    },
    {
      from: 'return_pending',
      on: 'decision_withdrawn',
      by: ['operator'],
      guard: ['nothing_credited', 'unsigned'],
      to: 'held_for_review',
      emits: [],
      spec: 'Silent: a decision that is not signed yet can be changed',
    },
    {
      from: 'return_pending',
      on: 'return_signed',
      by: ['partner', 'vendor', 'operator'],
      guard: ['escrow_free', 'no_other_return'],
      to: 'returning',
      emits: [],
      effects: ['escrow.return-deposit'],
      spec: 'D13: two of three owners; the service adds its own signature',
    },
    {
      from: 'return_pending',
      on: 'return_seen',
      by: ['chain'],
      guard: ['no_other_return'],
      to: 'returning',
      emits: [],
      effects: ['escrow.return-deposit'],
      spec: 'Safety: an attempt that had failed was executed by another account after all',
    },
    {
      from: 'returning',
      on: 'return_confirmed',
      by: ['chain'],
      to: 'returned',
      emits: [],
      posts: 'deposit_returned',
      spec: 'D13',
    },
    {
      from: 'returning',
      on: 'return_failed',
      by: ['chain'],
      to: 'return_pending',
      emits: [],
      spec: 'Safety: nothing has moved; it is signed again, or decided anew',
    },
  ],
});

/** It was exactly what its order waited for. */
export const DEPOSIT_CREDITED = 'credited' satisfies DepositStatus;
/** An operator decides. */
export const DEPOSIT_HELD = 'held_for_review' satisfies DepositStatus;
/** An operator has taken it for the order. */
export const DEPOSIT_ACCEPTED = 'accepted' satisfies DepositStatus;
/** Its return is signed and may be executed. */
export const DEPOSIT_RETURNING = 'returning' satisfies DepositStatus;
/** It has gone back to its payer. */
export const DEPOSIT_RETURNED = 'returned' satisfies DepositStatus;
/** A token that nobody knows, taken off the list. */
export const DEPOSIT_DISMISSED = 'dismissed' satisfies DepositStatus;
