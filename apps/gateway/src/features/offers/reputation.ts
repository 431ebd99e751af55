import { vendorFailures } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { countOutcomes } from './reputation.store.ts';

const BATCH = 500;
const FAILURES = vendorFailures();

/**
 * Moves vendors' reputation by what became of their orders since the last run. Safe to repeat and to run in several
 * workers at once. Returns how many orders it looked at.
 */
export async function countOrderOutcomes(deps: { readonly db: Database }): Promise<number> {
  const [row] = await deps.db.query(SYSTEM, countOutcomes, [BATCH, FAILURES]);
  return Number(row?.looked_at ?? 0);
}
