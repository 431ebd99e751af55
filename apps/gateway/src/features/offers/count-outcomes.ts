import { type Database, SYSTEM } from '../../db/database.ts';
import { deadlineOf, type OrderTimeouts } from '../orders/order.host.ts';
import { countOutcomes } from './reputation.store.ts';

const BATCH = 500;
const START = new Date(0);

/**
 * Moves vendors' reputation by what became of their orders since the last run. Safe to repeat and to run in several
 * workers at once. Returns how many orders it looked at.
 */
export async function countOrderOutcomes(
  tools: { readonly db: Database },
  timeouts: OrderTimeouts,
): Promise<number> {
  const toFund = deadlineOf('onramp', 'awaiting_vendor_escrow_funding', START, timeouts);
  const toPay = deadlineOf('offramp', 'crypto_received', START, timeouts);
  if (toFund === null || toPay === null) throw new Error('a vendor’s duty has no deadline');
  const [row] = await tools.db.query(SYSTEM, countOutcomes, [BATCH, toFund.getTime(), toPay.getTime()]);
  return Number(row?.looked_at ?? 0);
}
