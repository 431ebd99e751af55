import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vaults } from '../privacy/vault.ts';
import type { UserRow } from '../users/user.types.ts';
import { openPaymentDetails } from './load-payment-details.ts';
import { listPaymentDetails } from './payment-details.store.ts';

const MOST_REVEALED = 1_000;

/** A customer's payment details in clear. Only units that write an audit entry may ask. */
export async function revealPaymentDetails(
  unit: UnitOfWork,
  vaults: Vaults,
  user: UserRow,
): Promise<{ id: number; rail: string; details: Readonly<Record<string, string>> }[]> {
  const rows = await unit.tx.query(listPaymentDetails, [user.user_id, MOST_REVEALED, 0]);
  return rows.map((row) => ({
    id: Number(row.payment_details_id),
    rail: row.rail,
    details: openPaymentDetails(vaults, user, row),
  }));
}
