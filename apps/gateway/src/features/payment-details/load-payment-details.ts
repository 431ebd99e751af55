import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vaults } from '../privacy/vault.ts';
import { type Holder, holderSubjects } from '../screening/screening-case.ts';
import { userKeyOwner, vaultOfUser } from '../users/load-user.ts';
import type { UserRow } from '../users/user.types.ts';
import { findPaymentDetails, holderOf, idsOfUser, type PaymentDetailsRow } from './payment-details.store.ts';

export const sealedDetailsContext = (sealId: string) => `payment_details:${sealId}`;

const LARGEST_ID = 2n ** 63n - 1n;

/** Payment details of this customer and of no other, whatever number was sent. */
export async function loadPaymentDetails(
  unit: UnitOfWork,
  userId: string,
  paymentDetailsId: string,
): Promise<PaymentDetailsRow> {
  const possible = /^[0-9]{1,19}$/.test(paymentDetailsId) && BigInt(paymentDetailsId) <= LARGEST_ID;
  const [row] = possible ? await unit.tx.query(findPaymentDetails, [paymentDetailsId, userId]) : [];
  if (row === undefined) throw new CausewayError('PAYMENT_DETAILS_NOT_FOUND');
  return row;
}

export async function paymentDetailsIdsOf(unit: UnitOfWork, userId: string): Promise<readonly string[]> {
  return (await unit.tx.query(idsOfUser, [userId])).map((row) => row.payment_details_id);
}

/** The details in clear, for those who pay by them. */
export function openPaymentDetails(
  vaults: Vaults,
  user: UserRow,
  row: PaymentDetailsRow,
): Readonly<Record<string, string>> {
  const text = vaultOfUser(vaults, user).open(row.details_sealed, sealedDetailsContext(row.seal_id));
  return JSON.parse(text) as Record<string, string>;
}

/** Whose account payment details are, for their screening. */
export async function holderOfPaymentDetails(
  tools: { readonly db: Database; readonly vaults: Vaults },
  paymentDetailsId: string,
): Promise<Holder | undefined> {
  const [row] = await tools.db.query(SYSTEM, holderOf, [paymentDetailsId]);
  if (row === undefined) return undefined;
  const vault = tools.vaults.open(row.data_key_sealed, userKeyOwner(row.user_id));
  const details = JSON.parse(vault.open(row.details_sealed, sealedDetailsContext(row.seal_id)));
  return { vault, subjects: holderSubjects(details as Record<string, string>, row.beneficiary_type) };
}
