import { CausewayError } from '@causeway/protocol';
import type { Posting } from '../../engine/ledger.ts';
import { moveFunds } from '../../engine/ledger.ts';
import type { PartnerPrincipal } from '../../http/principals.ts';

/** The rules of fiat accounts that need nothing but their arguments. */

export const CAPABILITY = 'issue_retail_accounts';

/** Reads are for everybody; what changes something is for partners that the operator has enabled. */
export function requireEnabled(partner: PartnerPrincipal): void {
  if (!partner.partner.fiatAccountsEnabled) throw new CausewayError('FEATURE_NOT_ENABLED');
}

export function accountIdOf(accountNumber: string): string {
  return `retail_${accountNumber}`;
}

const RETAIL_ID = /^retail_([1-9][0-9]{0,17})$/;

/** The number in an id; undefined for an id that was never given out. Ids of companies are not addressable here. */
export function accountNumberIn(id: string): string | undefined {
  return RETAIL_ID.exec(id)?.[1];
}

/** The customer's money at the bank, as the books call it. */
export function ledgerAccountOf(accountNumber: string): string {
  return `fiat_account:${accountIdOf(accountNumber)}`;
}

interface Paid {
  readonly account_number: string;
  readonly partner_id: string;
  readonly currency: string;
  readonly amount: string;
}

/** Somebody outside has paid into the account. */
export function depositPostings(payment: Paid): readonly Posting[] {
  const account = ledgerAccountOf(payment.account_number);
  return moveFunds(`outside:bank:${payment.currency}`, account, payment.currency, BigInt(payment.amount));
}

/** The partner has it now. */
export function collectionPostings(payment: Paid): readonly Posting[] {
  const account = ledgerAccountOf(payment.account_number);
  return moveFunds(account, `fiat_master:${payment.partner_id}`, payment.currency, BigInt(payment.amount));
}
