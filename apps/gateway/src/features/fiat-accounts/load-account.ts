import { CausewayError } from '@causeway/protocol';
import type { Database, Scope } from '../../db/database.ts';
import type { Vault, Vaults } from '../privacy/vault.ts';
import { readUser, vaultOfUser } from '../users/load-user.ts';
import { type AccountRow, findAccount } from './fiat-account.store.ts';
import { accountNumberIn } from './fiat-account.ts';

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

/** An account of this customer, with what opens its details; an id of anybody else's is as good as none. */
export async function loadAccount(
  tools: { readonly db: Database; readonly vaults: Vaults },
  scope: Scope,
  userId: string,
  accountId: string,
): Promise<{ readonly account: AccountRow; readonly vault: Vault }> {
  const user = await readUser(tools.db, scope, userId);
  const number = accountNumberIn(accountId);
  const [account] = number === undefined ? [] : await tools.db.query(scope, findAccount, [number, userId]);
  if (account === undefined) throw new CausewayError('FIAT_ACCOUNT_NOT_FOUND');
  return { account, vault: vaultOfUser(tools.vaults, user) };
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
