import { orderStatusesWithOutcome } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { endHolds } from '../../upstream/offers.store.ts';

/** Far longer than the transaction that writes an order may take. */
const FORGOTTEN_AFTER_MS = 300_000;
const BATCH = 500;

// A dispute decides later whose the crypto is, so it ends no hold.
const SETTLED = orderStatusesWithOutcome('settled');
const STOPPED = orderStatusesWithOutcome('stopped');

/** Gives vendors back what orders no longer need. Run by workers every few seconds. */
export async function endFinishedHolds(tools: { readonly db: Database }): Promise<number> {
  const [row] = await tools.db.query(SYSTEM, endHolds, [SETTLED, STOPPED, FORGOTTEN_AFTER_MS, BATCH]);
  return Number(row?.ended ?? 0);
}
