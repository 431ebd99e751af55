import pg from 'pg';
import { type BatchItem, batchItem } from './batch.ts';
import type { Connection } from './pools.ts';
import { type Announcement, type Statement, statement } from './statement.ts';

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

const COMMIT = statement<[]>('db.commit', 'COMMIT');
const SAVEPOINT = statement<[]>('db.savepoint', 'SAVEPOINT work');
const ROLLBACK_TO_SAVEPOINT = statement<[]>('db.rollback_to_savepoint', 'ROLLBACK TO SAVEPOINT work');
const ROLLBACK = statement<[]>('db.rollback', 'ROLLBACK');

/** One round trip. */
type Send = (client: Connection, items: readonly BatchItem[]) => Promise<Record<string, unknown>[][]>;

/** Rows that are fetched, and held, at a time. */
const PAGE_ROWS = 500;

/** Runs the work on a connection, commits or rolls back, and gives the connection back. */
export async function attemptTransaction<T>(
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

/** What is to be announced of what these statements returned. */
export function newsOf(
  items: readonly BatchItem[],
  results: readonly Record<string, unknown>[][],
): Announcement[] {
  return items.flatMap((item, index) => item.announcementsFor?.(results[index] ?? []) ?? []);
}

/** A server error carries a five-character SQLSTATE; anything else left the connection in doubt. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (error instanceof pg.DatabaseError) return error.code === undefined || error.code.startsWith('57P');
  return error.message.includes('Connection') || error.message.includes('connection') || 'syscall' in error;
}
