import { type Database, partnerScope } from '../../db/database.ts';
import {
  latestPlace,
  lockStream,
  numberNewEvents,
  readStream,
  type StreamedEvent,
  unnumberedExist,
} from './event-stream.store.ts';

const NUMBERED_AT_ONCE = 1_000;

/** Events after a cursor, oldest first. A partner that never reads its stream never pays for one. */
export async function readEvents(
  db: Database,
  partnerId: string,
  after: string,
  limit: number,
): Promise<StreamedEvent[]> {
  const scope = partnerScope(partnerId);
  const known = await db.query(scope, readStream, [partnerId, after, limit]);
  if (known.length === limit) return known;
  const [unnumbered] = await db.query(scope, unnumberedExist, [partnerId]);
  if (!unnumbered?.found) return known;
  await numberEvents(db, partnerId);
  return db.query(scope, readStream, [partnerId, after, limit]);
}

/** The cursor behind everything that has happened so far. */
export async function latestCursor(db: Database, partnerId: string): Promise<string> {
  const scope = partnerScope(partnerId);
  for (;;) {
    const [unnumbered] = await db.query(scope, unnumberedExist, [partnerId]);
    if (!unnumbered?.found) break;
    await numberEvents(db, partnerId);
  }
  const [latest] = await db.query(scope, latestPlace, [partnerId]);
  return latest?.cursor ?? '0';
}

function numberEvents(db: Database, partnerId: string): Promise<void> {
  return db.transaction(partnerScope(partnerId), async (tx) => {
    tx.defer(lockStream, [partnerId]);
    tx.defer(numberNewEvents, [partnerId, NUMBERED_AT_ONCE]);
  });
}
