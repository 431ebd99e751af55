import { api } from '../../../api/client.ts';
import { because, type Decision } from './decision.ts';

export const OFFER: readonly Decision[] = [
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

export const EFFECT: readonly Decision[] = [
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

export const RECONCILIATION: readonly Decision[] = [
  {
    key: 'A',
    label: 'Compare again now',
    says: 'Where the two records agree now, the case is closed.',
    operation: 'checkReconciliationDifference',
    color: 'teal',
    reasons: because('The missing movement is booked now'),
    send: ({ subject_id }) => api.operator.reconciliation.checkDifference(subject_id),
  },
  {
    key: 'Q',
    label: 'Search the chain again',
    says: 'All blocks since the order was opened are read again for this escrow. What is found is booked.',
    operation: 'searchEscrowAgain',
    color: 'gray',
    reasons: because('A payment is on the chain that the books do not have', 'The node was at fault'),
    send: ({ subject_id }, { reason }) => api.operator.reconciliation.searchEscrow(subject_id, { reason }),
  },
];
