import { type Database, SYSTEM } from '../../db/database.ts';
import type { Vaults } from '../privacy/vault.ts';
import type { UserRow } from '../users/user.types.ts';
import { openPaymentDetails } from './load-payment-details.ts';
import { listPaymentDetails } from './payment-details.store.ts';

const MOST_REVEALED = 1_000;

/** A customer's payment details in clear. Only callers that have written an audit entry may ask. */
export async function revealPaymentDetails(
  tools: { readonly db: Database; readonly vaults: Vaults },
  user: UserRow,
): Promise<{ id: number; rail: string; details: Readonly<Record<string, string>> }[]> {
  const rows = await tools.db.query(SYSTEM, listPaymentDetails, [user.user_id, MOST_REVEALED, 0]);
  return rows.map((row) => ({
    id: Number(row.payment_details_id),
    rail: row.rail,
    details: openPaymentDetails(tools.vaults, user, row),
  }));
}
