import { CausewayError } from '@causeway/protocol';
import { type Database, partnerScope, SYSTEM } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import type { Principals } from '../../http/principals.ts';
import { isStreamStillAllowed } from '../../http/send-stream.ts';
import type { Clock } from '../../lib/clock.ts';
import { createStreamHub as createHub, type StreamHub } from '../../lib/stream-hub.ts';
import {
  declarePurge,
  latestSequence,
  lockStream,
  numberNewEvents,
  partnersWithAgedEvents,
  purgeAgedEvents,
  readStream,
  readStreamState,
  type StreamedEvent,
} from './event.store.ts';

const NUMBERED_AT_ONCE = 1_000;
/** Not a sequence number but the beginning, wherever that is by now. */
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
    // Looked at after reading: what had been purged by then is below this floor.
    const hasUnnumbered = await requireKept(db, partnerId, after);
    if (events.length === limit || !hasUnnumbered) return events;
    await numberEvents(db, partnerId);
  }
}

/** Refuses a cursor after which something has been purged. Answers whether events without a number are waiting. */
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
  const [latest] = await db.query(partnerScope(partnerId), latestSequence, [partnerId]);
  return latest?.cursor ?? BEGINNING;
}

function numberEvents(db: Database, partnerId: string): Promise<void> {
  return db.transaction(partnerScope(partnerId), async (tx) => {
    tx.defer(lockStream, [partnerId]);
    tx.defer(numberNewEvents, [partnerId, NUMBERED_AT_ONCE]);
  });
}

export type { StreamHub } from '../../lib/stream-hub.ts';

/** Partners' events, as they happen. */
export function createStreamHub(deps: {
  readonly db: Database;
  readonly listener: Listener;
  readonly principals: Principals;
}): StreamHub {
  const hub = createHub({
    latest: (partnerId) => latestCursor(deps.db, partnerId),
    async read(partnerId, after, limit) {
      const events = await readEvents(deps.db, partnerId, after, limit);
      return events.map(({ cursor, event_type, body }) => ({ cursor, event: event_type, data: body }));
    },
    isStillValid: (partnerId, credential) =>
      isStreamStillAllowed(
        deps,
        credential,
        (principal) => principal.kind === 'partner' && principal.partnerId === partnerId,
      ),
  });
  deps.listener.on('events_written', (partnerId) => hub.wake(partnerId));
  // Whatever was announced while the listener was away was missed.
  deps.listener.onConnected(() => hub.wake());
  return hub;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Short transactions: a reader of the same stream waits for one at most. */
const BATCH = 500;
/** Of one partner in one turn, so that a large past does not keep the others waiting; the next turn goes on. */
const BATCHES_A_TURN = 20;

/** Purges events, and what was noted about delivering them, after the time they are kept. Run by workers. */
export async function purgeOldEvents(
  deps: { readonly db: Database; readonly clock: Clock },
  keptDays: number,
): Promise<number> {
  const before = new Date(deps.clock.now() - keptDays * DAY_MS);
  let purged = 0;
  for (const { partner_id } of await deps.db.query(SYSTEM, partnersWithAgedEvents, [before])) {
    for (let batch = 0; batch < BATCHES_A_TURN; batch++) {
      const count = await purgeBatch(deps.db, partner_id, before);
      purged += count;
      if (count < BATCH) break;
    }
  }
  return purged;
}

/** Under the lock of the partner's stream, so that no reader gives out numbers meanwhile. */
function purgeBatch(db: Database, partnerId: string, before: Date): Promise<number> {
  return db.transaction(SYSTEM, async (tx) => {
    tx.defer(lockStream, [partnerId]);
    tx.defer(declarePurge, [before.toISOString()]);
    const [row] = await tx.query(purgeAgedEvents, [partnerId, before, BATCH]);
    return row?.purged ?? 0;
  });
}
