import type { ConsoleOperation } from '@causeway/protocol/console';
import { api } from '../../../api/client.ts';
import { because, type Decision } from './decision.ts';

export const KYC: readonly Decision[] = [
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

/** Of a recipient, whose screening is part of it. */
export const RECIPIENT_SCREENING = screening('decideScreening', (id, decision, reason) =>
  api.operator.recipients.decideScreening(id, { decision, reason }),
);

/** Of a wallet or an account holder, which have a case of their own. */
export const SCREENING_CASE = screening('decideScreeningCase', (id, decision, reason) =>
  api.operator.screeningCases.decide(id, { decision, reason }),
);
