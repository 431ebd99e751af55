import { AsyncLocalStorage } from 'node:async_hooks';
import { createAnnouncer } from './announcer.ts';
import { type BatchItem, batchItem, runBatch } from './batch.ts';
import { type Connection, type Connections, type PoolOptions, pooledConnections } from './pools.ts';
import { enter, type Scope } from './scope.ts';
import { type Statement, statement } from './statement.ts';
import {
  attemptTransaction,
  isConnectionError,
  newsOf,
  type Reading,
  type Snapshot,
  type Transaction,
} from './transaction.ts';

export type { Connections } from './pools.ts';
export { customerScope, partnerScope, type Scope, SYSTEM, vendorScope } from './scope.ts';
export type { Reading, Snapshot, Transaction } from './transaction.ts';

/**
 * The program's way to PostgreSQL.
 *
 * The role of a scope is taken on with every transaction, in the round trip that carries its first statement, and ends with
 * it. A connection keeps nothing that a pooler between the program and the server could lose or hand to another client.
 *
 * `query` is one statement in one round trip. `transaction` begins lazily with its first statement and
 * commits together with what was deferred, so a typical unit of work costs two round trips.
 *
 * Work inside a transaction has that transaction's connection and asks for no other: transactions that each waited for
 * a second connection could hold all there are, and then wait for each other. Asking is an error (NestedDatabaseUse).
 */
export interface Database {
  query<P extends readonly unknown[], R>(scope: Scope, declared: Statement<P, R>, params: P): Promise<R[]>;
  transaction<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Holds a connection for as long as `work` takes, so that a caller that waits for others bounds it. */
  snapshot<T>(scope: Scope, work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  readonly stats: DatabaseStats;
  readonly connectionString: string;
  close(): Promise<void>;
}

export interface DatabaseStats {
  /** Round trips made so far, pipelined statements counting as one: tests assert on the difference. */
  roundTrips: number;
  errors: number;
}

export function reading(db: Database, scope: Scope): Reading {
  return { query: (declared, params) => db.query(scope, declared, params) };
}

/** Code inside a transaction asked for another connection. Always a mistake of the program. */
export class NestedDatabaseUse extends Error {
  override readonly name = 'NestedDatabaseUse';

  constructor() {
    super('a connection was asked for inside a transaction: use the transaction itself');
  }
}

export interface DatabaseOptions extends PoolOptions {
  /** When a connection that does not answer is given up; longer than any statement may take. */
  readonly answeredWithinMs?: number;
  readonly onRoundTrip?: () => void;
  readonly onError?: () => void;
  /** Another way to the server than pools of TCP connections: a database inside this process. */
  readonly connections?: Connections;
}

const BEGIN = statement<[]>('db.begin', 'BEGIN');
const BEGIN_SNAPSHOT = statement<[]>('db.begin_snapshot', 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');

/** In force for what follows in the same batch. */
const PLAN_ONCE = statement<[]>(
  'db.plan_once',
  `SELECT set_config('plan_cache_mode', 'force_generic_plan', true)`,
);

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const MAX_ATTEMPTS = 4;

export function createDatabase(options: DatabaseOptions): Database {
  const stats: DatabaseStats = { roundTrips: 0, errors: 0 };
  const connections = options.connections ?? pooledConnections(options);

  // What runs inside a transaction carries it along. Work that outlives its transaction is free again.
  const surrounding = new AsyncLocalStorage<{ open: boolean }>();

  function checkOut(scope: Scope): Promise<Connection> {
    if (surrounding.getStore()?.open === true) throw new NestedDatabaseUse();
    return connections.checkOut(scope);
  }

  async function send(client: Connection, items: readonly BatchItem[]): Promise<Record<string, unknown>[][]> {
    stats.roundTrips++;
    options.onRoundTrip?.();
    try {
      return await runBatch(client, items, options.answeredWithinMs);
    } catch (error) {
      countError();
      throw error;
    }
  }

  function countError(): void {
    stats.errors++;
    options.onError?.();
  }

  // Not counted as round trips: no caller waits for one, and one carries the news of many.
  const announcer = createAnnouncer((channels, payloads) =>
    connections.announce(channels, payloads).catch(countError),
  );

  async function attempt<T>(
    scope: Scope,
    begin: Statement<[], unknown>,
    work: (tx: Transaction & Snapshot) => Promise<T>,
  ) {
    const client = await checkOut(scope);
    const inside = { open: true };
    const opening = [batchItem(begin, []), ...enter(scope)];
    return attemptTransaction(client, opening, (tx) => surrounding.run(inside, work, tx), send).finally(
      () => {
        inside.open = false;
      },
    );
  }

  return {
    stats,
    connectionString: options.connectionString,

    async query(scope, declared, params) {
      const items = [
        ...enter(scope),
        ...(declared.isPlannedOnce ? [batchItem(PLAN_ONCE, [])] : []),
        batchItem(declared, params),
      ];
      const client = await checkOut(scope);
      let broken = false;
      try {
        const results = await send(client, items);
        announcer.announce(newsOf(items, results));
        return results[items.length - 1] as never;
      } catch (error) {
        broken = isConnectionError(error);
        throw error;
      } finally {
        client.release(broken);
      }
    },

    async snapshot(scope, work) {
      return (await attempt(scope, BEGIN_SNAPSHOT, work)).value;
    },

    async transaction(scope, work) {
      for (let attempts = 1; ; attempts++) {
        try {
          const { value, news } = await attempt(scope, BEGIN, work);
          announcer.announce(news);
          return value;
        } catch (error) {
          if (attempts >= MAX_ATTEMPTS || !isRetryable(error)) throw error;
        }
      }
    },

    async close() {
      await announcer.settled();
      await connections.close();
    },
  };
}

export function pgErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The name of the constraint a write ran into, for stores that turn it into a domain refusal. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof Error && 'constraint' in error && typeof error.constraint === 'string'
    ? error.constraint
    : undefined;
}

function isRetryable(error: unknown): boolean {
  const code = pgErrorCode(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}
