import { type VendorDuty, vendorDuties } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { deadlineOf, type OrderTimeouts } from '../orders/lifecycle/order.adapter.ts';
import { countOutcomes } from './reputation.store.ts';

const BATCH = 500;
const START = new Date(0);

/**
 * Moves vendors' reputation by what became of their orders since the last run. Safe to repeat and to run in several
 * workers at once. Returns how many orders it looked at.
 */
export async function countOrderOutcomes(
  deps: { readonly db: Database },
  timeouts: OrderTimeouts,
): Promise<number> {
  const duties = vendorDuties();
  const [row] = await deps.db.query(SYSTEM, countOutcomes, [
    BATCH,
    duties.map(({ status }) => status),
    duties.map((duty) => timeoutMs(duty, timeouts)),
  ]);
  return Number(row?.looked_at ?? 0);
}

/** How long the order must have waited for its end to be the vendor's doing. */
function timeoutMs({ direction, status, owes }: VendorDuty, timeouts: OrderTimeouts): number {
  if (owes === 'always') return 0;
  const deadline = deadlineOf(direction, status, START, timeouts);
  if (deadline === null) throw new Error(`a vendor’s duty has no deadline: ${status}`);
  return deadline.getTime();
}
