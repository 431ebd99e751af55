import type { ConsoleOperation, QueueKind } from '@causeway/protocol/console';
import type { QueueCaseDetail } from '@causeway/sdk';
import { api, problemOf } from '../../../api/client.ts';
import { ofKind } from './selection.ts';

/** What can be decided about a case, by kind, in words. Each is one of the operator’s own calls. */
export interface Decision {
  readonly key: 'A' | 'R' | 'Q' | 'E';
  readonly label: string;
  /** What comes of it. */
  readonly says: string;
  readonly operation: ConsoleOperation;
  readonly color: string;
  /** Why; the first is taken where no other is chosen. The code is what the service wants to know, where it wants one. */
  readonly reasons: readonly { readonly code: string; readonly label: string }[];
  /** What the order has to allow for it, by its name among the order’s `allowed_actions`. */
  readonly action?: string;
  /** Whether an order has to be chosen first. */
  readonly choosesOrder?: boolean;
  readonly send: (detail: QueueCaseDetail, chosen: Chosen) => Promise<unknown>;
}

export interface Chosen {
  /** Kept in the audit log. */
  readonly reason: string;
  readonly code: string;
  readonly orderId: string;
}

const because = (...labels: readonly string[]) => labels.map((label) => ({ code: label, label }));

const PUT_OFF_MINUTES = 60;
const PUT_OFF: Decision = {
  key: 'E',
  label: 'Put off for an hour',
  says: 'The case is left out of the queue for an hour. Its target time does not change.',
  operation: 'snoozeQueueCase',
  color: 'gray',
  reasons: because('Waits for an answer from outside', 'Somebody else has to look first'),
  send: ({ kind, subject_id }, { reason }) =>
    api.operator.queue.snooze(kind, subject_id, { minutes: PUT_OFF_MINUTES, reason }),
};

const KYC: readonly Decision[] = [
  {
    key: 'A',
    label: 'Approve',
    says: 'The customer is VERIFIED and can trade.',
    operation: 'decideKyc',
    color: 'teal',
    reasons: because('Documents and data agree', 'Differences explained and accepted'),
    send: ({ subject_id }, { reason }) =>
      api.operator.users.decideKyc(subject_id, { decision: 'approve', reason }),
  },
  {
    key: 'R',
    label: 'Reject for good',
    says: 'The customer is refused and cannot submit again. The partner reads the reason.',
    operation: 'decideKyc',
    color: 'red',
    reasons: [
      { code: 'DOCUMENT_FORGED', label: 'A document is forged' },
      { code: 'SANCTIONS_MATCH', label: 'The person is on a sanctions list' },
      { code: 'UNDERAGE', label: 'The person is not of age' },
      { code: 'FRAUD_SUSPECTED', label: 'Fraud is suspected' },
    ],
    send: ({ subject_id }, { reason, code }) =>
      api.operator.users.decideKyc(subject_id, { decision: 'reject', rejection_reasons: [code], reason }),
  },
  {
    key: 'Q',
    label: 'Ask for a new submission',
    says: 'The customer may submit again. The partner reads what was wrong.',
    operation: 'decideKyc',
    color: 'orange',
    reasons: [
      { code: 'DOCUMENT_UNREADABLE', label: 'A document cannot be read' },
      { code: 'DOCUMENT_EXPIRED', label: 'A document has expired' },
      { code: 'DATA_MISMATCH', label: 'Document and data differ' },
      { code: 'SELFIE_MISMATCH', label: 'The selfie shows somebody else' },
    ],
    send: ({ subject_id }, { reason, code }) =>
      api.operator.users.decideKyc(subject_id, {
        decision: 'request_resubmission',
        rejection_reasons: [code],
        reason,
      }),
  },
];

/** A review begins before it ends: where it has begun already, the service says so and nothing is lost. */
async function reviewProof(detail: QueueCaseDetail, decision: 'accepted' | 'rejected', reason: string) {
  const orderId = detail.order_id ?? '';
  await api.operator.orders.reviewProof(orderId, { decision: 'start', reason }).catch((error: unknown) => {
    if (problemOf(error).code !== 'INVALID_STATUS') throw error;
  });
  return api.operator.orders.reviewProof(orderId, { decision, reason });
}

const PROOF: readonly Decision[] = [
  {
    key: 'A',
    label: 'Accept the proof',
    says: 'The order goes on: the partner confirms that the fiat has arrived, then the vendor gets the crypto.',
    operation: 'reviewProof',
    color: 'teal',
    reasons: because('Amount, payee and reference fit the order'),
    send: (detail, { reason }) => reviewProof(detail, 'accepted', reason),
  },
  {
    key: 'R',
    label: 'Refuse the proof',
    says: 'The vendor is asked for another proof; the third refusal ends the order.',
    operation: 'reviewProof',
    color: 'red',
    reasons: because(
      'It is not readable',
      'The amount is another',
      'The payee is another',
      'It looks altered',
    ),
    send: (detail, { reason }) => reviewProof(detail, 'rejected', reason),
  },
];

const HOLD: readonly Decision[] = [
  {
    key: 'A',
    label: 'Release the hold',
    says: 'The order goes on from where it stood.',
    operation: 'decideOrderHold',
    action: 'hold:release',
    color: 'teal',
    reasons: because('Looked into, nothing stands against it', 'What led to the hold is settled'),
    send: ({ order_id }, { reason }) =>
      api.operator.orders.decideHold(order_id ?? '', { decision: 'release', reason }),
  },
  {
    key: 'R',
    label: 'Open a dispute',
    says: 'The order is disputed: you then decide whose the money is.',
    operation: 'decideOrderDispute',
    action: 'dispute:open',
    color: 'red',
    reasons: because('Buyer and seller contradict each other'),
    send: ({ order_id }, { reason }) =>
      api.operator.orders.decideDispute(order_id ?? '', { decision: 'open', reason }),
  },
  {
    key: 'Q',
    label: 'Release although KYC is lost',
    says: 'This one order is paid out although its customer is not VERIFIED any more.',
    operation: 'decideOrderHold',
    action: 'hold:override_kyc',
    color: 'orange',
    reasons: because('The vendor has done its part; the payout is owed'),
    send: ({ order_id }, { reason }) =>
      api.operator.orders.decideHold(order_id ?? '', { decision: 'release', override_kyc: true, reason }),
  },
];

const DISPUTE: readonly Decision[] = [
  {
    key: 'A',
    label: 'Decide for the buyer',
    says: 'The crypto goes to the buyer, once a second owner of the escrow has signed.',
    operation: 'decideOrderDispute',
    action: 'dispute:for_buyer',
    color: 'teal',
    reasons: because('The payment is proven', 'The seller does not answer'),
    send: ({ order_id }, { reason }) =>
      api.operator.orders.decideDispute(order_id ?? '', { decision: 'for_buyer', reason }),
  },
  {
    key: 'R',
    label: 'Decide for the seller',
    says: 'The crypto goes back to the seller.',
    operation: 'decideOrderDispute',
    action: 'dispute:for_seller',
    color: 'red',
    reasons: because('The payment never arrived', 'The buyer does not answer'),
    send: ({ order_id }, { reason }) =>
      api.operator.orders.decideDispute(order_id ?? '', { decision: 'for_seller', reason }),
  },
  {
    key: 'Q',
    label: 'Release its hold',
    says: 'The order is not on hold any more; the dispute stays.',
    operation: 'decideOrderHold',
    action: 'hold:release',
    color: 'orange',
    reasons: because('What led to the hold is settled'),
    send: ({ order_id }, { reason }) =>
      api.operator.orders.decideHold(order_id ?? '', { decision: 'release', reason }),
  },
];

type ScreeningDecision = 'clear' | 'block' | 'rescreen';

const screening = (
  operation: ConsoleOperation,
  send: (id: string, decision: ScreeningDecision, reason: string) => Promise<unknown>,
): readonly Decision[] => [
  {
    key: 'A',
    label: 'Clear: it is somebody else',
    says: 'It can be quoted and paid. Orders that it holds wait for their own release.',
    operation,
    color: 'teal',
    reasons: because('Another date of birth or country', 'Another person of a like name'),
    send: ({ subject_id }, { reason }) => send(subject_id, 'clear', reason),
  },
  {
    key: 'R',
    label: 'Block: it is the one listed',
    says: 'Nothing is paid to it any more; funded orders it is part of are held.',
    operation,
    color: 'red',
    reasons: because('Name and further data agree with the list'),
    send: ({ subject_id }, { reason }) => send(subject_id, 'block', reason),
  },
  {
    key: 'Q',
    label: 'Screen it again',
    says: 'It is held against the lists as they are now.',
    operation,
    color: 'orange',
    reasons: because('The list has changed since'),
    send: ({ subject_id }, { reason }) => send(subject_id, 'rescreen', reason),
  },
];

const DEPOSIT: readonly Decision[] = [
  {
    key: 'A',
    label: 'Accept for the order',
    says: 'The order goes on if what is held covers it; what is left over goes back to its payer.',
    operation: 'decideDeposit',
    color: 'teal',
    reasons: because('The payer is known, the amount covers the order'),
    send: ({ subject_id }, { reason }) =>
      api.operator.deposits.decide(subject_id, { decision: 'accept', reason }),
  },
  {
    key: 'R',
    label: 'Return to the payer',
    says: 'It goes back once the order does not need the escrow and one of its owners has signed.',
    operation: 'decideDeposit',
    color: 'red',
    reasons: because('Not what the order awaited'),
    send: ({ subject_id }, { reason }) =>
      api.operator.deposits.decide(subject_id, { decision: 'return', reason }),
  },
  {
    key: 'Q',
    label: 'Leave an unknown token where it is',
    says: 'For tokens that the chain is not configured for: the case is closed, nothing moves.',
    operation: 'decideDeposit',
    color: 'orange',
    reasons: because('A token without a known worth'),
    send: ({ subject_id }, { reason }) =>
      api.operator.deposits.decide(subject_id, { decision: 'dismiss', reason }),
  },
];

const FIAT_PAYMENT: readonly Decision[] = [
  {
    key: 'A',
    label: 'Match it to the order',
    says: 'The payment pays the chosen order, which goes on.',
    operation: 'decideFiatPayment',
    color: 'teal',
    reasons: because('Reference or time of the payment fits the order'),
    choosesOrder: true,
    send: ({ subject_id }, { reason, orderId }) =>
      api.operator.fiatPayments.decide(subject_id, { decision: 'match', order_id: orderId, reason }),
  },
  {
    key: 'R',
    label: 'Leave it on the account',
    says: 'It pays no order; the orders that waited for it go on waiting.',
    operation: 'decideFiatPayment',
    color: 'red',
    reasons: because('It belongs to none of the orders'),
    send: ({ subject_id }, { reason }) =>
      api.operator.fiatPayments.decide(subject_id, { decision: 'leave', reason }),
  },
];

const OFFER: readonly Decision[] = [
  {
    key: 'A',
    label: 'Authorize the offer',
    says: 'Quotes may take it at once. Where the vendor changes it, it waits again.',
    operation: 'decideOfferAuthorization',
    color: 'teal',
    reasons: because('Price, limits and ways to pay are in order'),
    send: ({ subject_id, offer }, { reason }) =>
      api.operator.offers.decideAuthorization(subject_id, {
        authorized: true,
        reason,
        ...(offer === null ? {} : { version: offer.version }),
      }),
  },
];

const EFFECT: readonly Decision[] = [
  {
    key: 'A',
    label: 'Try again',
    says: 'A worker takes it on at once. What is under way is looked at, never repeated.',
    operation: 'retryEffect',
    color: 'teal',
    reasons: because('What it failed at is back', 'To see what became of it'),
    send: ({ subject_id }, { reason }) => api.operator.effects.retry(subject_id, { reason }),
  },
  {
    key: 'R',
    label: 'Give it up',
    says: 'Only where it has certainly not happened and no longer can. Its order is told.',
    operation: 'giveUpEffect',
    color: 'red',
    reasons: because('It has not happened and is done by hand', 'It is of no use any more'),
    send: ({ subject_id }, { reason }) => api.operator.effects.giveUp(subject_id, { reason }),
  },
];

const RECONCILIATION: readonly Decision[] = [
  {
    key: 'A',
    label: 'Compare again now',
    says: 'Where the two records agree now, the case is closed.',
    operation: 'checkReconciliationDifference',
    color: 'teal',
    reasons: because('The missing movement is booked now'),
    send: ({ subject_id }) => api.operator.reconciliation.checkDifference(subject_id),
  },
];

const DECISIONS: Readonly<Record<QueueKind, readonly Decision[]>> = {
  kyc: KYC,
  proof: PROOF,
  hold: HOLD,
  dispute: DISPUTE,
  recipient_screening: screening('decideScreening', (id, decision, reason) =>
    api.operator.recipients.decideScreening(id, { decision, reason }),
  ),
  screening_case: screening('decideScreeningCase', (id, decision, reason) =>
    api.operator.screeningCases.decide(id, { decision, reason }),
  ),
  deposit: DEPOSIT,
  fiat_payment: FIAT_PAYMENT,
  offer: OFFER,
  effect: EFFECT,
  reconciliation: RECONCILIATION,
};

/** What is to be looked at before deciding. */
export const CHECKLISTS: Readonly<Record<QueueKind, readonly string[]>> = {
  kyc: [
    'The document is genuine and valid',
    'Name and date of birth agree',
    'The selfie shows the same person',
  ],
  proof: ['The amount is the order’s', 'The payee is the customer', 'The date is after the order’s'],
  hold: ['Why it is held is understood', 'Where the money is, is known'],
  dispute: ['Both sides’ statements are read', 'Proof of payment is looked at', 'The escrow is funded'],
  recipient_screening: ['Name held against the listed one', 'Country and further data compared'],
  screening_case: ['What was found is held against the list', 'Orders it is part of are known'],
  deposit: ['Who paid is known', 'Amount and token are compared with the order'],
  fiat_payment: ['Sender is the customer', 'Reference and time are compared'],
  offer: ['The price is near the market', 'Limits and ways to pay are plausible'],
  effect: ['What it does is understood', 'Whether it has happened is looked up'],
  reconciliation: ['The two records are looked up where they come from', 'Movements of the order are read'],
};

/** Whether what can be decided depends on what the order allows. */
export const isAboutOrder = ({ kind }: QueueCaseDetail): boolean =>
  (ofKind(DECISIONS, kind) ?? []).some(({ action }) => action !== undefined);

/**
 * Which of them make sense for this case as it stands; whether the user may is asked elsewhere. Until it is known what the
 * order allows, its usual two are offered, so that nobody waits for them, and the third way out is not.
 */
export function decisionsOf(
  detail: QueueCaseDetail,
  allowed: readonly string[] | undefined,
): readonly Decision[] {
  const offered = (ofKind(DECISIONS, detail.kind) ?? []).filter((decision) => {
    if (decision.action !== undefined) return allowed?.includes(decision.action) ?? decision.key !== 'Q';
    if (detail.kind === 'effect') {
      const remedy = decision.operation === 'retryEffect' ? 'retry' : 'give-up';
      return detail.effect?.remedies.includes(remedy) ?? false;
    }
    // What the chain is configured for is never left lying.
    if (detail.kind === 'deposit' && decision.key === 'Q') return detail.deposit?.token === null;
    // An unmatched payment lies on the account already.
    if (detail.kind === 'fiat_payment' && decision.key === 'R') {
      return detail.fiat_payment?.status === 'held_for_review';
    }
    return true;
  });
  return [...offered, PUT_OFF];
}
