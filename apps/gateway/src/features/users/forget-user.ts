import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { forgetOrdersOf } from '../orders/order-privacy.ts';
import { moveKyc } from './change-kyc.ts';
import { forgetUser } from './user.store.ts';
import type { UserRow } from './user.types.ts';

/** The rejection reason a partner sees when a cleared customer was forgotten. */
export const ERASED_REASON = 'PERSONAL_DATA_ERASED';

/** Takes the person out of the row and of its orders. The rows stay: the books refer to them. */
export function forgetUserRow(unit: UnitOfWork, user: UserRow): void {
  // Whoever was cleared is so no longer; where there was no clearance the machine has nothing to revoke.
  moveKyc(unit, user, 'verification_refused', 'operator', [ERASED_REASON]);
  forgetOrdersOf(unit, user.user_id);
  unit.tx.defer(forgetUser, [user.user_id, unit.at]);
}
