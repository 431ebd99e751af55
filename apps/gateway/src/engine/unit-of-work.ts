import type { Database, Scope, Transaction } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdGenerator } from '../lib/ids.ts';

/**
 * One decision and everything that follows from it, in one transaction: status, timeline, ledger, outbox
 * and intents. All stamps of a unit are one business instant, so a timeline and its event agree.
 */
export interface UnitOfWork {
  readonly tx: Transaction;
  readonly ids: IdGenerator;
  readonly at: Date;
}

export interface UnitTools {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdGenerator;
}

export function unitOfWork<T>(
  tools: UnitTools,
  scope: Scope,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  return tools.db.transaction(scope, (tx) => work({ tx, ids: tools.ids, at: tools.clock.date() }));
}
