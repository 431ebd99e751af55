import type { QueueCaseDetail } from '@causeway/sdk';
import { api, problemOf } from '../../../api/client.ts';
import { because, type Decision } from './decision.ts';

/** A review begins before it ends: where it has begun already, the service says so and nothing is lost. */
async function reviewProof(detail: QueueCaseDetail, decision: 'accepted' | 'rejected', reason: string) {
  const orderId = detail.order_id ?? '';
  await api.operator.orders.reviewProof(orderId, { decision: 'start', reason }).catch((error: unknown) => {
    if (problemOf(error).code !== 'INVALID_STATUS') throw error;
  });
  return api.operator.orders.reviewProof(orderId, { decision, reason });
}

export const PROOF: readonly Decision[] = [
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

const OPEN_DISPUTE: Decision = {
  key: 'R',
  label: 'Open a dispute',
  says: 'The order is disputed: you then decide whose the money is.',
  operation: 'decideOrderDispute',
  action: 'dispute:open',
  color: 'red',
  reasons: because('Buyer and seller contradict each other'),
  send: ({ order_id }, { reason }) =>
    api.operator.orders.decideDispute(order_id ?? '', { decision: 'open', reason }),
};

export const HOLD: readonly Decision[] = [
  {
    key: 'A',
    label: 'Release the hold',
    says: 'The order goes on from where it stood; of a stopped one, the refund is asked for.',
    operation: 'decideOrderHold',
    action: 'hold:release',
    color: 'teal',
    reasons: because('Looked into, nothing stands against it', 'What led to the hold is settled'),
    send: ({ order_id }, { reason }) =>
      api.operator.orders.decideHold(order_id ?? '', { decision: 'release', reason }),
  },
  OPEN_DISPUTE,
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

const DECIDE_FOR_SELLER: Decision = {
  key: 'R',
  label: 'Decide for the seller',
  says: 'The crypto goes back to the seller.',
  operation: 'decideOrderDispute',
  action: 'dispute:for_seller',
  color: 'red',
  reasons: because('The payment never arrived', 'The buyer does not answer'),
  send: ({ order_id }, { reason }) =>
    api.operator.orders.decideDispute(order_id ?? '', { decision: 'for_seller', reason }),
};

export const DISPUTE: readonly Decision[] = [
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
  DECIDE_FOR_SELLER,
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

export const OVERDUE_CONFIRMATION: readonly Decision[] = [
  {
    key: 'A',
    label: 'Put the order on hold',
    says: 'Nothing is paid out until the hold is released; a confirmation that comes is kept.',
    operation: 'decideOrderHold',
    action: 'hold:place',
    color: 'orange',
    reasons: because('The side that is to confirm was asked and does not answer'),
    send: ({ order_id }, { reason }) =>
      api.operator.orders.decideHold(order_id ?? '', { decision: 'place', reason }),
  },
  OPEN_DISPUTE,
  {
    ...DECIDE_FOR_SELLER,
    key: 'Q',
    says: 'For a dispute whose winner does not sign: the crypto goes back to the seller.',
    reasons: because('The buyer does not sign and does not answer'),
  },
];

export const DEPOSIT: readonly Decision[] = [
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

export const FIAT_PAYMENT: readonly Decision[] = [
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
