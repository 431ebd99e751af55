import { ORDER_MACHINES } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { moveKyc } from './change-kyc.ts';
import { forgetUser } from './user.store.ts';
import type { UserRow } from './user.types.ts';

/** The rejection reason a partner sees when a cleared customer was forgotten. */
export const ERASED_REASON = 'PERSONAL_DATA_ERASED';

const ENDED_STATUSES = [
  ...new Set(
    Object.values(ORDER_MACHINES).flatMap(({ statuses }) =>
      Object.entries(statuses)
        .filter(([, { terminal }]) => terminal)
        .map(([status]) => status),
    ),
  ),
];

const countOpenOrders = statement<[userId: string, ended: readonly string[]], { open: string }>(
  'users.count_open_orders',
  'SELECT count(*) AS open FROM orders WHERE user_id = $1 AND status <> ALL($2::text[])',
);

/** Orders that still need to know who pays or is paid. */
export async function openOrdersOf(unit: UnitOfWork, userId: string): Promise<number> {
  const [row] = await unit.tx.query(countOpenOrders, [userId, ENDED_STATUSES]);
  return Number(row?.open ?? 0);
}

/** The account a customer paid from is kept with the order, under the master key: forgetting the data key misses it. */
const forgetPayerDetails = statement<[userId: string]>(
  'users.forget_payer_details',
  'UPDATE orders SET payer_details_sealed = NULL WHERE user_id = $1 AND payer_details_sealed IS NOT NULL',
);

/** Takes the person out of the row. The row stays: orders and the books refer to it. */
export function forgetUserRow(unit: UnitOfWork, user: UserRow): void {
  // Whoever was cleared is so no longer; where there was no clearance the machine has nothing to revoke.
  moveKyc(unit, user, 'verification_refused', 'operator', [ERASED_REASON]);
  unit.tx.defer(forgetPayerDetails, [user.user_id]);
  unit.tx.defer(forgetUser, [user.user_id, unit.at]);
}
