import {
  CausewayError,
  FIAT_ACCOUNT_ACTIVE,
  FIAT_ACCOUNT_FAILED,
  FIAT_CLIENT_APPROVED,
  type FiatAccountInput,
  type FiatLedgerSchema,
  fiatAccountMachine,
  KYC_CLEARED,
  onlyMove,
} from '@causeway/protocol';
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Database, Reading, Scope } from '../../db/database.ts';
import { prepareIntent } from '../../engine/intent.ts';
import { moveFunds, type Posting } from '../../engine/ledger.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import type { PartnerPrincipal } from '../../http/principals.ts';
import { upperCode } from '../../lib/iso-codes.ts';
import type { BankingPort } from '../../ports/banking.ts';
import type { Currencies } from '../../ports/currencies.ts';
import type { Vault, Vaults } from '../../vault/vault.ts';
import { lockUserRow, readUser, type UserRow, vaultOfUser } from '../users/user.ts';
import { accountAdapter } from './fiat-account.adapters.ts';
import {
  type AccountRow,
  accountFor,
  findAccount,
  findClient,
  insertAccount,
  listAccounts,
} from './fiat-account.store.ts';

/** The rules of fiat accounts that need nothing but their arguments. */

export const CAPABILITY = 'issue_retail_accounts';

/** Reads are for every partner; what changes something is for partners that the operator has enabled. */
export function requireEnabled(partner: PartnerPrincipal): void {
  if (!partner.partner.fiatAccountsEnabled) throw new CausewayError('FEATURE_NOT_ENABLED');
}

/** Before what is wrong with the request is told. */
export async function enabledFirst({ principal }: FastifyRequest): Promise<void> {
  requireEnabled(principal as PartnerPrincipal);
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

const ENTRY_KINDS: Readonly<Record<string, Static<typeof FiatLedgerSchema>['entries'][number]['kind']>> = {
  fiat_deposit_received: 'deposit',
  customer_deposit_applied: 'order_payment',
  customer_deposit_returned: 'order_payment_returned',
  fiat_deposit_collected: 'collection',
};

/** What an account's holder calls an entry of the books. */
export function entryKindOf(kind: string) {
  const known = ENTRY_KINDS[kind];
  if (known === undefined) throw new Error(`no entry of kind ${kind} belongs to a fiat account`);
  return known;
}

interface Paid {
  readonly account_number: string;
  readonly partner_id: string;
  readonly currency: string;
  readonly amount: string;
}

/** A third party has paid into the account. */
export function depositPostings(payment: Paid): readonly Posting[] {
  const account = ledgerAccountOf(payment.account_number);
  return moveFunds(`outside:bank:${payment.currency}`, account, payment.currency, BigInt(payment.amount));
}

/** The partner has it now. */
export function collectionPostings(payment: Paid): readonly Posting[] {
  const account = ledgerAccountOf(payment.account_number);
  return moveFunds(account, `fiat_master:${payment.partner_id}`, payment.currency, BigInt(payment.amount));
}

/** The order that it had paid has stopped, and the vendor never had it. */
export function returnPostings(payment: Paid, vendorId: string): readonly Posting[] {
  const account = ledgerAccountOf(payment.account_number);
  return moveFunds(`outside:vendor:${vendorId}`, account, payment.currency, BigInt(payment.amount));
}

/** What is personal of an account. */
export interface AccountDetails {
  readonly iban: string;
  readonly account_holder_name: string;
}

/** What is personal of a payment. */
export interface PaymentDetails {
  readonly sender_name: string | null;
  readonly reference: string | null;
}

export const accountContext = (sealId: string) => `fiat_accounts.details:${sealId}`;
export const paymentContext = (paymentId: string) => `fiat_payments.details:${paymentId}`;

/** An account of this customer, with what opens its details; an id of another customer's is as good as none. */
export async function loadAccount(
  deps: { readonly db: Database; readonly vaults: Vaults },
  scope: Scope,
  userId: string,
  accountId: string,
): Promise<{ readonly account: AccountRow; readonly vault: Vault }> {
  const user = await readUser(deps.db, scope, userId);
  const number = accountNumberIn(accountId);
  const [account] = number === undefined ? [] : await deps.db.query(scope, findAccount, [number, userId]);
  if (account === undefined) throw new CausewayError('FIAT_ACCOUNT_NOT_FOUND');
  return { account, vault: vaultOfUser(deps.vaults, user) };
}

/** A customer's accounts, as its own scope sees them. */
export function accountsOf(reads: Reading, userId: string): Promise<AccountRow[]> {
  return reads.query(listAccounts, [userId]);
}

export function accountDetailsOf(vault: Vault, account: AccountRow): AccountDetails | null {
  if (account.details_sealed === null) return null;
  return JSON.parse(vault.open(account.details_sealed, accountContext(account.seal_id))) as AccountDetails;
}

export function paymentDetailsOf(
  vault: Vault,
  payment: { readonly payment_id: string | null; readonly details_sealed: string | null },
): PaymentDetails {
  if (payment.details_sealed === null || payment.payment_id === null) {
    return { sender_name: null, reference: null };
  }
  return JSON.parse(vault.open(payment.details_sealed, paymentContext(payment.payment_id))) as PaymentDetails;
}

export interface IssueDeps {
  readonly currencies: Currencies;
  readonly bank: BankingPort | undefined;
}

/**
 * One account for a customer, a currency and a jurisdiction, however often and by how many at once it is asked for: the
 * customer's lock puts them in a row, and the table takes no second one. A worker opens it at the bank.
 */
export async function issueAccount(
  deps: IssueDeps,
  unit: UnitOfWork,
  userId: string,
  body: Static<typeof FiatAccountInput>,
): Promise<{ readonly user: UserRow; readonly account: AccountRow }> {
  const user = await lockUserRow(unit, userId);
  const { currency, jurisdiction, decimals } = readRequested(deps, body);
  const [known] = await unit.tx.query(accountFor, [userId, currency, jurisdiction]);
  if (known !== undefined) return { user, account: usable(known) };
  const [client] = await unit.tx.query(findClient, [userId]);
  if (user.kyc_status !== KYC_CLEARED || client?.status !== FIAT_CLIENT_APPROVED) {
    throw new CausewayError('CLIENT_NOT_APPROVED');
  }
  const sealId = unit.ids.uuid();
  // Not by the executor, which writes later: the answer carries the number that the database gives.
  const { to: status } = onlyMove(fiatAccountMachine, 'account_requested');
  const [account] = await unit.tx.query(insertAccount, [
    sealId,
    user.partner_id,
    userId,
    currency,
    decimals,
    jurisdiction,
    status,
    unit.at,
  ]);
  if (account === undefined) throw new Error('the account was not written');
  prepareIntent(unit, accountAdapter.intentFor({ account }, 'bank.open-account'));
  return { user, account };
}

/** What the bank did to an account that was asked for before. */
function usable(account: AccountRow): AccountRow {
  if (account.status === FIAT_ACCOUNT_FAILED) throw new CausewayError('BANKING_ERROR');
  if (account.status !== FIAT_ACCOUNT_ACTIVE) {
    throw new CausewayError(account.bank_unavailable ? 'BANKING_UNAVAILABLE' : 'PROVISIONING_IN_PROGRESS');
  }
  return account;
}

function readRequested(
  { bank, currencies }: IssueDeps,
  body: Static<typeof FiatAccountInput>,
): { readonly currency: string; readonly jurisdiction: string; readonly decimals: number } {
  const currency = upperCode(body.currency?.trim() ?? '');
  const jurisdiction = upperCode(body.jurisdiction?.trim() ?? '');
  const missing = [
    ...(currency === '' ? ['currency'] : []),
    ...(jurisdiction === '' ? ['jurisdiction'] : []),
  ];
  if (missing.length > 0) {
    throw new CausewayError('MISSING_FIELDS', {
      message: `Required fields are missing: ${missing.join(', ')}.`,
      details: { missing_fields: missing },
    });
  }
  if (bank === undefined) throw new CausewayError('BANKING_UNAVAILABLE');
  const offer = bank.offered.find((one) => one.currency === currency);
  const listed = currencies.current().reference.catalogue.fiatCurrency(currency);
  if (offer === undefined || listed === undefined) {
    throw new CausewayError('UNSUPPORTED_FIAT_CURRENCY', { message: 'currency is not supported.' });
  }
  if (!offer.jurisdictions.includes(jurisdiction)) {
    throw invalidRequest('jurisdiction', `must be one of ${offer.jurisdictions.join(', ')} for ${currency}`);
  }
  return { currency, jurisdiction, decimals: listed.minorUnits };
}
