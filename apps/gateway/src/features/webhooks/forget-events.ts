import { type Database, SYSTEM } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { declareForgetting, forgetAgedEvents, partnersWithAgedEvents } from './event-retention.store.ts';
import { lockStream } from './event-stream.store.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Short transactions: a reader of the same stream waits for one at most. */
const BATCH = 500;
/** Of one partner in one turn, so that a large past does not keep the others waiting; the next turn goes on. */
const BATCHES_A_TURN = 20;

/** Forgets events, and what was noted about delivering them, after the time they are kept. Run by workers. */
export async function forgetOldEvents(
  tools: { readonly db: Database; readonly clock: Clock },
  keptDays: number,
): Promise<number> {
  const before = new Date(tools.clock.now() - keptDays * DAY_MS);
  let forgotten = 0;
  for (const { partner_id } of await tools.db.query(SYSTEM, partnersWithAgedEvents, [before])) {
    for (let batch = 0; batch < BATCHES_A_TURN; batch++) {
      const count = await forgetBatch(tools.db, partner_id, before);
      forgotten += count;
      if (count < BATCH) break;
    }
  }
  return forgotten;
}

/** Under the lock of the partner's stream, so that no reader gives out places meanwhile. */
function forgetBatch(db: Database, partnerId: string, before: Date): Promise<number> {
  return db.transaction(SYSTEM, async (tx) => {
    tx.defer(lockStream, [partnerId]);
    tx.defer(declareForgetting, [before.toISOString()]);
    const [row] = await tx.query(forgetAgedEvents, [partnerId, before, BATCH]);
    return row?.forgotten ?? 0;
  });
}
