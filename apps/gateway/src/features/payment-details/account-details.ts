import type { PaymentDetailsSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Vault } from '../../vault/vault.ts';
import { type Holder, holderSubjects } from '../screening/screening-case.ts';
import type { CheckedDetails, DetailsCheck } from './details-check.ts';

/**
 * An account on a rail: payment details of a customer, or a destination of a recipient. Its values are sealed by the
 * vault of whose they are, for the row that keeps them.
 */
export interface AccountRow {
  rail: string;
  currency: string;
  country_code: string;
  institution_id: string | null;
  format_id: string | null;
  beneficiary_type: 'individual' | 'business';
  details_sealed: string;
  created_at: Date;
}

export const ACCOUNT_COLUMNS =
  'rail, currency, country_code, institution_id, format_id, beneficiary_type, details_sealed, created_at';

export type AccountDetails = Readonly<Record<string, string>>;

/** What is inserted into these columns, in their order; the time of creation is the caller's. */
export type AccountValues = [
  rail: string,
  currency: string,
  countryCode: string,
  institutionId: string | null,
  formatId: string | null,
  beneficiaryType: string,
  detailsSealed: string,
];

export function sealAccount(vault: Vault, checked: CheckedDetails, context: string): AccountValues {
  return [
    checked.rail,
    checked.currency,
    checked.countryCode,
    checked.institutionId,
    checked.formatId,
    checked.beneficiaryType,
    vault.seal(JSON.stringify(checked.details), context),
  ];
}

/** The details in clear, for those who pay by them. */
export function openAccount(
  vault: Vault,
  { details_sealed }: Pick<AccountRow, 'details_sealed'>,
  context: string,
): AccountDetails {
  return JSON.parse(vault.open(details_sealed, context)) as AccountDetails;
}

/** Whose account it is, for their screening. */
export function holderOfAccount(
  vault: Vault,
  row: Pick<AccountRow, 'details_sealed' | 'beneficiary_type'>,
  context: string,
): Holder {
  return { vault, subjects: holderSubjects(openAccount(vault, row, context), row.beneficiary_type) };
}

type AccountFields = 'rail' | 'currency' | 'country_code' | 'institution_id' | 'beneficiary_type';

/** What everybody who may see the account sees: values that are not known to be public are masked. */
export function accountView(
  check: DetailsCheck,
  row: AccountRow,
  details: AccountDetails,
): Pick<Static<typeof PaymentDetailsSchema>, AccountFields | 'details' | 'created_at'> {
  return {
    rail: row.rail,
    currency: row.currency,
    country_code: row.country_code,
    institution_id: row.institution_id,
    beneficiary_type: row.beneficiary_type,
    details: { ...check.mask(row.rail, details) },
    created_at: row.created_at.toISOString(),
  };
}
