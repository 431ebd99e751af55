import { CausewayError } from '@causeway/protocol';
import { type Database, partnerScope } from '../../db/database.ts';
import {
  latestPlace,
  lockStream,
  numberNewEvents,
  readStream,
  readStreamState,
  type StreamedEvent,
} from './event-stream.store.ts';

const NUMBERED_AT_ONCE = 1_000;
/** Not a place but the beginning, wherever that is by now. */
const BEGINNING = '0';

/** Events after a cursor, oldest first. A partner that never reads its stream never pays for one. */
export async function readEvents(
  db: Database,
  partnerId: string,
  after: string,
  limit: number,
): Promise<StreamedEvent[]> {
  const scope = partnerScope(partnerId);
  for (;;) {
    const events = await db.query(scope, readStream, [partnerId, after, limit]);
    // Looked at after reading: what had been forgotten by then is below this floor.
    const hasUnnumbered = await requireKept(db, partnerId, after);
    if (events.length === limit || !hasUnnumbered) return events;
    await numberEvents(db, partnerId);
  }
}

/** Refuses a cursor after which something has been forgotten. Answers whether events without a place are waiting. */
export async function requireKept(db: Database, partnerId: string, after: string): Promise<boolean> {
  const [state] = await db.query(partnerScope(partnerId), readStreamState, [partnerId]);
  const floor = state?.floor ?? BEGINNING;
  if (BigInt(after) !== 0n && BigInt(after) < BigInt(floor)) {
    throw new CausewayError('CURSOR_EXPIRED', { details: { oldest_cursor: floor } });
  }
  return state?.has_unnumbered ?? false;
}

/** The cursor behind everything that has happened so far. */
export async function latestCursor(db: Database, partnerId: string): Promise<string> {
  while (await requireKept(db, partnerId, BEGINNING)) await numberEvents(db, partnerId);
  const [latest] = await db.query(partnerScope(partnerId), latestPlace, [partnerId]);
  return latest?.cursor ?? BEGINNING;
}

function numberEvents(db: Database, partnerId: string): Promise<void> {
  return db.transaction(partnerScope(partnerId), async (tx) => {
    tx.defer(lockStream, [partnerId]);
    tx.defer(numberNewEvents, [partnerId, NUMBERED_AT_ONCE]);
  });
}
