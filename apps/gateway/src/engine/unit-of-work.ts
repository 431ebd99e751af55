import type { Database, Scope, Transaction } from '../db/database.ts';
import type { Statement } from '../db/statement.ts';
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

export interface UnitDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdGenerator;
}

/**
 * A refusal that is itself a fact: what the unit has written is committed, and then its caller is refused. Thrown
 * before anything else is written, so that nothing but the fact is.
 */
export class RecordedRefusal extends Error {
  override readonly name = 'RecordedRefusal';
  readonly refusal: Error;

  constructor(refusal: Error) {
    super(refusal.message, { cause: refusal });
    this.refusal = refusal;
  }
}

export async function unitOfWork<T>(
  deps: UnitDeps,
  scope: Scope,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const done = await deps.db.transaction(scope, async (tx) => {
    try {
      return { value: await work({ tx, ids: deps.ids, at: deps.clock.date() }) };
    } catch (error) {
      if (error instanceof RecordedRefusal) return { refusal: error.refusal };
      throw error;
    }
  });
  if ('refusal' in done) throw done.refusal;
  return done.value;
}

/**
 * What one statement writes, together with what follows from it: in one transaction, and nothing where it found no row. Where
 * nothing ever follows, the statement is sent alone.
 */
export async function writeWith<Params extends readonly unknown[], Row>(
  deps: UnitDeps,
  scope: Scope,
  [declared, params]: readonly [declared: Statement<Params, Row>, params: (at: Date) => Params],
  further: ((unit: UnitOfWork) => Promise<void>) | undefined,
): Promise<readonly Row[]> {
  if (further === undefined) return deps.db.query(scope, declared, params(deps.clock.date()));
  return unitOfWork(deps, scope, async (unit) => {
    const rows = await unit.tx.query(declared, params(unit.at));
    if (rows.length > 0) await further(unit);
    return rows;
  });
}
