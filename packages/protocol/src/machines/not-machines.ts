/**
 * Statuses of rows that no transition table moves, with the reason. They are written by the statements of one file each;
 * everybody else reads the names from here.
 */

export interface StatusList<S extends string> {
  readonly name: string;
  readonly title: string;
  readonly why: string;
  readonly statuses: { readonly [K in S]: string };
}

/** A delivery of an event to a partner's webhook. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
export const DELIVERY_PENDING = 'pending' satisfies DeliveryStatus;
export const DELIVERY_DELIVERED = 'delivered' satisfies DeliveryStatus;
export const DELIVERY_FAILED = 'failed' satisfies DeliveryStatus;
export const DELIVERY_CANCELLED = 'cancelled' satisfies DeliveryStatus;

export const deliveryStatuses: StatusList<DeliveryStatus> = {
  name: 'delivery',
  title: 'Webhook delivery',
  why: 'A row of a queue. Workers settle batches of deliveries in one statement, and removing a webhook cancels all that wait in another; locking and deciding row by row would cost a round trip for each. Nothing but the outcome of the attempt decides where a delivery goes, and no other row follows from it.',
  statuses: {
    pending: 'Waits for its first or next attempt.',
    delivered: 'Answered with 2xx.',
    failed: 'No attempt is left. It can be replayed, as a new delivery.',
    cancelled: 'The webhook was removed before it was sent.',
  },
};

/** A durable effect of a transition. */
export const INTENT_STATUSES = ['prepared', 'submitted', 'unknown', 'confirmed', 'failed'] as const;
export type IntentStatus = (typeof INTENT_STATUSES)[number];

export const intentStatuses: StatusList<IntentStatus> = {
  name: 'intent',
  title: 'Effect (intent)',
  why: 'Part of the executor itself: transitions start intents, so a table for them would need another executor below. Workers claim them under a lease, in batches.',
  statuses: {
    prepared: 'Written with the transition that started it.',
    submitted: 'A worker is carrying it out, or waits to look again.',
    unknown: 'Its worker ended without an answer; what happened is looked up before anything is repeated.',
    confirmed: 'Done.',
    failed: 'Given up; an operator may try it again.',
  },
};

/** A transaction that the service sends to a chain. */
export const CHAIN_TRANSACTION_STATUSES = ['open', 'succeeded', 'reverted', 'displaced'] as const;
export type ChainTransactionStatus = (typeof CHAIN_TRANSACTION_STATUSES)[number];
export const CHAIN_TRANSACTION_DISPLACED = 'displaced' satisfies ChainTransactionStatus;

export const chainTransactionStatuses: StatusList<ChainTransactionStatus> = {
  name: 'chain_transaction',
  title: 'Chain transaction',
  why: 'A record of what the chain says. A final block sets it once; there is nothing to decide.',
  statuses: {
    open: 'Not in a final block yet.',
    succeeded: 'Executed in a final block.',
    reverted: 'Reverted in a final block.',
    displaced: 'In a final block another transaction has used its nonce: it can never be executed.',
  },
};

/** A decision that moves much money, until a second person has agreed. */
export const APPROVAL_STATUSES = ['waiting', 'approved', 'rejected', 'expired', 'failed'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
export const APPROVAL_WAITING = 'waiting' satisfies ApprovalStatus;
export const APPROVAL_APPROVED = 'approved' satisfies ApprovalStatus;
export const APPROVAL_REJECTED = 'rejected' satisfies ApprovalStatus;
export const APPROVAL_EXPIRED = 'expired' satisfies ApprovalStatus;
export const APPROVAL_FAILED = 'failed' satisfies ApprovalStatus;

export const approvalStatuses: StatusList<ApprovalStatus> = {
  name: 'approval',
  title: 'Second approval',
  why: 'A lock in front of a call, not a course of its own: it waits, and ends once. Every statement that ends it takes only one that waits; whether the call can still be carried out is decided by the machine of what the call is about.',
  statuses: {
    waiting: 'Another person has to agree before it expires.',
    approved: 'Another person agreed, and the call was carried out in the same transaction.',
    rejected: 'Somebody said no, or the person who asked took it back.',
    expired: 'Nobody decided in time.',
    failed: 'When it came to it the call could not be carried out any more.',
  },
};

/** What has no status at all, and why. */
export const WITHOUT_STATUS: readonly { readonly title: string; readonly why: string }[] = [
  {
    title: 'Signatures of a release or a refund of an escrow',
    why: 'A signature is there or not; a new one of the same owner takes its place. One that does not fit what would be sent counts as none. What it allows is a fact of the order (`releaseSigned`, `escrow`), which the order machines move.',
  },
  {
    title: 'Expiry of a quote',
    why: 'A quote past `expires_at` keeps its status. The guard `in_time` compares the clock in the statement that claims it, so nothing has to be written when the time is over.',
  },
];

export const NOT_MACHINES: readonly StatusList<string>[] = [
  deliveryStatuses,
  intentStatuses,
  chainTransactionStatuses,
  approvalStatuses,
];
