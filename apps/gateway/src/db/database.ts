import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { createAnnouncer } from './announcer.ts';
import { type BatchItem, batchItem, runBatch } from './batch.ts';
import { checkConnection, type WorkingRole } from './server.ts';
import { type Announcement, type Statement, statement } from './statement.ts';

/**
 * The program's way to PostgreSQL.
 *
 * Three roles, none of which can bypass row-level security:
 *   partner  sees the rows of one partner, named with every statement; narrowed to one customer of it where one is named;
 *   vendor   sees its own rows, its orders and what it needs to serve them, likewise;
 *   system   sees every row: workers, the operator, start-up.
 *
 * The role is taken on with every transaction, in the round trip that carries its first statement, and ends with it. A
 * connection keeps nothing that a pooler between the program and the server could lose or hand to another client.
 *
 * `query` is one statement in one round trip. `transaction` begins lazily with its first statement and
 * commits together with what was deferred, so a typical unit of work costs two round trips.
 *
 * Work inside a transaction has that transaction's connection and asks for no other: transactions that each waited for
 * a second connection could hold all there are, and then wait for each other. Asking is an error (NestedDatabaseUse).
 */
export type Scope =
  | { readonly kind: 'partner'; readonly partnerId: string }
  | { readonly kind: 'customer'; readonly partnerId: string; readonly userId: string }
  | { readonly kind: 'vendor'; readonly vendorId: string }
  | { readonly kind: 'system' };

export const SYSTEM: Scope = { kind: 'system' };

export function partnerScope(partnerId: string): Scope {
  return { kind: 'partner', partnerId };
}

/** A partner’s scope narrowed to one customer: of that customer’s rows, and of its orders those that it opened itself. */
export function customerScope(partnerId: string, userId: string): Scope {
  return { kind: 'customer', partnerId, userId };
}

export function vendorScope(vendorId: string): Scope {
  return { kind: 'vendor', vendorId };
}

export interface Transaction {
  /** Runs a statement now: one round trip, deferred statements going ahead of it in the same one. */
  query<P extends readonly unknown[], R>(declared: Statement<P, R>, params: P): Promise<R[]>;
  /** Two statements in one round trip, the second seeing what the first waited for. */
  queryBoth<P1 extends readonly unknown[], R1, P2 extends readonly unknown[], R2>(
    first: Statement<P1, R1>,
    firstParams: P1,
    second: Statement<P2, R2>,
    secondParams: P2,
  ): Promise<[R1[], R2[]]>;
  /** Queues a statement whose result is not needed; it travels with the next query or the commit. */
  defer<P extends readonly unknown[], R>(declared: Statement<P, R>, params: P): void;
  /** Sends what is deferred, where it is at least this much: thousands of statements at once would delay all others. */
  sendDeferred(atLeast: number): Promise<void>;
  /** The point that `rollbackToSavepoint` returns to. Locks taken before it survive the rollback. */
  savepoint(): void;
  /** Rolls back everything since `savepoint` and keeps the transaction open. */
  rollbackToSavepoint(): Promise<void>;
}

/** Whatever answers a statement: a transaction, or the pool in a scope. For reads that are made in both. */
export type Reading = Pick<Transaction, 'query'>;

/** Reads that all see the same moment, however long they take. Nothing can be written. */
export interface Snapshot extends Reading {
  /** The rows of a statement, a page at a time: neither the program nor the driver holds more than one. */
  pages<P extends readonly unknown[], R>(declared: Statement<P, R>, params: P): AsyncGenerator<R[]>;
}

export function reading(db: Database, scope: Scope): Reading {
  return { query: (declared, params) => db.query(scope, declared, params) };
}

export interface DatabaseStats {
  /** Round trips made so far, pipelined statements counting as one: tests assert on the difference. */
  roundTrips: number;
  errors: number;
}

export interface Database {
  query<P extends readonly unknown[], R>(scope: Scope, declared: Statement<P, R>, params: P): Promise<R[]>;
  transaction<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Holds a connection for as long as `work` takes, so that a caller that waits for others bounds it. */
  snapshot<T>(scope: Scope, work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  readonly stats: DatabaseStats;
  readonly connectionString: string;
  close(): Promise<void>;
}

/** Code inside a transaction asked for another connection. Always a mistake of the program. */
export class NestedDatabaseUse extends Error {
  override readonly name = 'NestedDatabaseUse';

  constructor() {
    super('a connection was asked for inside a transaction: use the transaction itself');
  }
}

export interface DatabaseOptions {
  readonly connectionString: string;
  readonly poolSize: number;
  /** Refuse a login that could see past row-level security. Sandboxes and tests work as the server's superuser. */
  readonly production?: boolean;
  /** When a connection that does not answer is given up; longer than any statement may take. */
  readonly answeredWithinMs?: number;
  readonly onRoundTrip?: () => void;
  readonly onError?: () => void;
  /** Another way to the server than pools of TCP connections: a database inside this process. */
  readonly connections?: Connections;
}

/** What a transaction is run on. */
export type Connection = Pick<pg.PoolClient, 'query' | 'release'>;

export interface Connections {
  checkOut(scope: Scope): Promise<Connection>;
  /** Notifies all who listen to these channels. */
  announce(channels: readonly string[], payloads: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const BEGIN = statement<[]>('db.begin', 'BEGIN');
const BEGIN_SNAPSHOT = statement<[]>('db.begin_snapshot', 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
const COMMIT = statement<[]>('db.commit', 'COMMIT');
const SAVEPOINT = statement<[]>('db.savepoint', 'SAVEPOINT work');
const ROLLBACK_TO_SAVEPOINT = statement<[]>('db.rollback_to_savepoint', 'ROLLBACK TO SAVEPOINT work');
const ROLLBACK = statement<[]>('db.rollback', 'ROLLBACK');
const ENTER_PARTNER = statement<[partnerId: string]>(
  'db.enter_partner',
  `SELECT set_config('role', 'causeway_partner', true), set_config('causeway.partner_id', $1, true)`,
);
const ENTER_CUSTOMER = statement<[partnerId: string, userId: string]>(
  'db.enter_customer',
  `SELECT set_config('role', 'causeway_customer', true), set_config('causeway.partner_id', $1, true),
          set_config('causeway.user_id', $2, true)`,
);
const ENTER_VENDOR = statement<[vendorId: string]>(
  'db.enter_vendor',
  `SELECT set_config('role', 'causeway_vendor', true), set_config('causeway.vendor_id', $1, true)`,
);
const ENTER_SYSTEM = statement<[]>('db.enter_system', `SELECT set_config('role', 'causeway_system', true)`);

/** In force for what follows in the same batch. */
const PLAN_ONCE = statement<[]>(
  'db.plan_once',
  `SELECT set_config('plan_cache_mode', 'force_generic_plan', true)`,
);

const ANNOUNCE = statement<[channels: readonly string[], payloads: readonly string[]]>(
  'db.announce',
  'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS news (channel, payload)',
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

type Send = (client: Connection, items: readonly BatchItem[]) => Promise<Record<string, unknown>[][]>;

/** Rows that are fetched, and held, at a time. */
const PAGE_ROWS = 500;

async function attemptTransaction<T>(
  client: Connection,
  opening: readonly BatchItem[],
  work: (tx: Transaction & Snapshot) => Promise<T>,
  send: Send,
): Promise<{ value: T; news: readonly Announcement[] }> {
  const news: Announcement[] = [];
  let begun = false;
  let broken = false;
  let failure: unknown;
  let queued: BatchItem[] = [];

  async function flush(last: readonly BatchItem[]): Promise<Record<string, unknown>[][]> {
    const items = [...(begun ? [] : opening), ...queued, ...last];
    queued = [];
    begun = true;
    try {
      const results = await send(client, items);
      news.push(...newsOf(items, results));
      return results.slice(-last.length);
    } catch (error) {
      failure ??= error;
      throw error;
    }
  }

  let portals = 0;
  const tx: Transaction & Snapshot = {
    async query(declared, params) {
      return (await flush([batchItem(declared, params)]))[0] as never;
    },
    async queryBoth(first, firstParams, second, secondParams) {
      return (await flush([batchItem(first, firstParams), batchItem(second, secondParams)])) as never;
    },
    async *pages(declared, params) {
      const name = `pages_${portals++}`;
      for (let isOpen = false; ; isOpen = true) {
        const portal = { name, rows: PAGE_ROWS, isOpen };
        const [rows = []] = await flush([{ ...batchItem(declared, params), portal }]);
        if (rows.length > 0) yield rows as never;
        if (rows.length < PAGE_ROWS) return;
      }
    },
    defer(declared, params) {
      queued.push(batchItem(declared, params));
    },
    async sendDeferred(atLeast) {
      if (queued.length >= atLeast) await flush([]);
    },
    savepoint() {
      queued.push(batchItem(SAVEPOINT, []));
    },
    async rollbackToSavepoint() {
      const isSent = !queued.some((item) => item.statement.name === SAVEPOINT.name);
      queued = [];
      if (!begun || !isSent) return;
      await flush([batchItem(ROLLBACK_TO_SAVEPOINT, [])]);
      failure = undefined;
    },
  };

  try {
    const value = await work(tx);
    // PostgreSQL answers COMMIT of a failed transaction with a quiet ROLLBACK: a swallowed error must not
    // pass for success.
    if (failure !== undefined) throw failure;
    if (begun || queued.length > 0) await flush([batchItem(COMMIT, [])]);
    return { value, news };
  } catch (error) {
    broken = isConnectionError(error);
    if (begun && !broken) {
      await send(client, [batchItem(ROLLBACK, [])]).catch(() => {
        // The connection is of no more use; the server rolls back when it closes.
        broken = true;
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

function newsOf(items: readonly BatchItem[], results: readonly Record<string, unknown>[][]): Announcement[] {
  return items.flatMap((item, index) => item.announcementsFor?.(results[index] ?? []) ?? []);
}

function enter(scope: Scope): BatchItem[] {
  switch (scope.kind) {
    case 'partner':
      return [batchItem(ENTER_PARTNER, [scope.partnerId])];
    case 'customer':
      return [batchItem(ENTER_CUSTOMER, [scope.partnerId, scope.userId])];
    case 'vendor':
      return [batchItem(ENTER_VENDOR, [scope.vendorId])];
    case 'system':
      return [batchItem(ENTER_SYSTEM, [])];
  }
}

function pooledConnections(options: DatabaseOptions): Connections {
  const pools = {
    partner: createPool(options, 'causeway_partner', enter(partnerScope(''))),
    vendor: createPool(options, 'causeway_vendor', enter(vendorScope(''))),
    system: createPool(options, 'causeway_system', enter(SYSTEM)),
  };
  return {
    checkOut: ({ kind }) => pools[kind === 'customer' ? 'partner' : kind].connect(),
    async announce(channels, payloads) {
      const client = await pools.system.connect();
      let broken = true;
      try {
        await runBatch(client, [...enter(SYSTEM), batchItem(ANNOUNCE, [channels, payloads])]);
        broken = false;
      } finally {
        client.release(broken);
      }
    },
    async close() {
      await Promise.all([pools.partner.end(), pools.vendor.end(), pools.system.end()]);
    },
  };
}

function createPool(options: DatabaseOptions, role: WorkingRole, entering: readonly BatchItem[]): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.poolSize,
    application_name: role.replace('_', '-'),
    connectionTimeoutMillis: 10_000,
    // The first requests of a new connection are slow: it reads the catalogue, and plans every statement five times.
    idleTimeoutMillis: 600_000,
    onConnect: (client) => checkConnection(client, role, entering, options.production ?? false),
  });
  // An idle connection that the server closes (restart, fail-over) is replaced on the next checkout.
  pool.on('error', () => {});
  // So is one that is lost while checked out, between two statements: the next statement on it reports the
  // loss, whereas an error without a listener would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
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

/** A server error carries a five-character SQLSTATE; anything else left the connection in doubt. */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (error instanceof pg.DatabaseError) return error.code === undefined || error.code.startsWith('57P');
  return error.message.includes('Connection') || error.message.includes('connection') || 'syscall' in error;
}
