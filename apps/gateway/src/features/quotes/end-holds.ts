import { orderStatusesWithOutcome } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { Offers } from '../../upstream/offers.port.ts';
import { endReservations, endReservationsOfQuotes } from './quote.store.ts';

/** Far longer than the transaction that writes an order may take. */
const FORGOTTEN_AFTER_MS = 300_000;
const BATCH = 500;
const QUOTES_AT_ONCE = 100;

// A dispute decides later whose the crypto is, so it ends no hold.
const SETTLED = orderStatusesWithOutcome('settled');
const STOPPED = orderStatusesWithOutcome('stopped');
const ENDED = [...SETTLED, ...STOPPED];
const RULE = { settled: SETTLED, stopped: STOPPED, forgottenAfterMs: FORGOTTEN_AFTER_MS, limit: BATCH };

interface Tools {
  readonly db: Database;
  readonly offers: Offers;
}

/**
 * Gives vendors and askers back what orders no longer need. Run by workers every few seconds, for what was announced while
 * nobody listened; what is announced is ended at once.
 */
export async function endFinishedHolds({ db, offers }: Tools): Promise<number> {
  const ended = await offers.holds.endFinished(RULE);
  await db.query(SYSTEM, endReservations, [ENDED, FORGOTTEN_AFTER_MS, BATCH]);
  return ended;
}

async function endHoldsOf({ db, offers }: Tools, quoteIds: readonly string[]): Promise<void> {
  await offers.holds.endFinished({ ...RULE, quoteIds });
  await db.query(SYSTEM, endReservationsOfQuotes, [ENDED, FORGOTTEN_AFTER_MS, quoteIds.length, quoteIds]);
}

/** Ends what it is told of, all that came while it was busy together. Resolves when it is done with that. */
export function createHoldEnder(tools: Tools): (quoteId: string) => Promise<void> {
  const told = new Set<string>();
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (told.size > 0) {
      const quoteIds = [...told].slice(0, QUOTES_AT_ONCE);
      for (const quoteId of quoteIds) told.delete(quoteId);
      await endHoldsOf(tools, quoteIds);
    }
  }

  return (quoteId) => {
    told.add(quoteId);
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}
