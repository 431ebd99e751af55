import { type MessageKey, t } from '../i18n/i18n.ts';
import type { FieldProblem, RailField } from './rail-fields.ts';

/** What the fields of rails are called, and what is wrong with them, in the customer’s language. */

export function problemWords(problem: FieldProblem, fields: readonly RailField[]): string {
  switch (problem.kind) {
    case 'tooLong':
      return t('destination.problem.tooLong', { max: problem.max });
    case 'malformed':
      return problem.example === undefined
        ? t('destination.problem.malformed')
        : t('destination.problem.malformedLike', { example: problem.example });
    case 'oneOf': {
      const labels = fields.filter(({ key }) => problem.keys.includes(key)).map(labelOf);
      return t('destination.problem.oneOf', { fields: labels.join(', ') });
    }
    default:
      return t(`destination.problem.${problem.kind}`);
  }
}

/** Labels that mean the same on every rail are ours, in every language; names of a scheme are what people know them by. */
const LABELS: Readonly<Record<string, MessageKey>> = {
  'Account number': 'destination.field.accountNumber',
  'Account type': 'destination.field.accountType',
  'Bank name': 'destination.field.bankName',
  'Branch code': 'destination.field.branchCode',
  'Registered company name': 'destination.field.companyName',
  'Document number': 'destination.field.documentNumber',
  'Document type': 'destination.field.documentType',
  'Email address': 'destination.field.email',
  'Account holder’s full name': 'destination.field.fullName',
  'Mobile number': 'destination.field.mobileNumber',
  'Recipient address': 'destination.field.recipientAddress',
  'Payment reference': 'destination.field.reference',
  'Registered name': 'destination.field.registeredName',
  'Wallet holder’s full name': 'destination.field.walletHolder',
};

export function labelOf({ label }: Pick<RailField, 'label'>): string {
  const key = LABELS[label];
  return key === undefined ? label : t(key);
}
