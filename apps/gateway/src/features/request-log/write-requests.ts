import { AsyncLocalStorage } from 'node:async_hooks';
import { type Database, SYSTEM } from '../../db/database.ts';
import { isOutage } from '../../db/outage.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { type NewRequestRow, purgeRequests, writeRequests, writeRequestsAgain } from './request-log.store.ts';

/**
 * Writes the log beside the requests, never in them: what is noted waits in memory for the next batch. While the database
 * does not take it, it waits on; where too much waits, more is dropped and counted. Nothing here fails a request.
 */
export interface RequestWriter {
  /** Notes a request. Its row is made when it is written, so that the request itself does not wait for that. */
  add(toRow: () => NewRequestRow): void;
  /** Counts a request that is not logged because its caller makes too many. */
  drop(): void;
  /** Writes all that waits. */
  flush(): Promise<void>;
  /** The last batch; what cannot be written by now is lost and counted. */
  stop(): Promise<void>;
}

export interface RequestWriterDeps {
  readonly db: Pick<Database, 'query'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface RequestWriterLimits {
  readonly everyMs: number;
  readonly batchRows: number;
  /** Rows that may wait, those on their way included. */
  readonly waitingRows: number;
}

/** A batch of more keeps a core of the database from requests for longer than they should wait. */
const LIMITS: RequestWriterLimits = { everyMs: 1_000, batchRows: 100, waitingRows: 10_000 };

export function createRequestWriter(
  { db, logger, metrics }: RequestWriterDeps,
  { everyMs, batchRows, waitingRows }: RequestWriterLimits = LIMITS,
): RequestWriter {
  let waiting: (() => NewRequestRow)[] = [];
  /** Of a batch that failed; they go first, and may be in the table already. */
  let inDoubt: readonly NewRequestRow[] = [];
  let onTheWay = 0;
  let isFailing = false;
  let flushing: Promise<void> | undefined;
  // Started by a request, a batch would count as part of it.
  const outside = AsyncLocalStorage.snapshot();
  const timer = setInterval(flushInBackground, everyMs);
  timer.unref();

  const drop = (rows: number) => metrics.requestLogEntriesTotal.inc({ outcome: 'dropped' }, rows);

  /** A row that cannot be made is one less, and no more than that. */
  function rowOf(toRow: () => NewRequestRow): readonly NewRequestRow[] {
    try {
      return [toRow()];
    } catch (error) {
      logger.error({ err: error }, 'a request could not be logged');
      drop(1);
      return [];
    }
  }

  async function flush(): Promise<void> {
    // What is under way began before some of it was noted.
    if (flushing !== undefined) await flushing;
    await begin();
  }

  function begin(): Promise<void> {
    flushing ??= writeAll().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  function flushInBackground(): void {
    if (waiting.length > 0 || inDoubt.length > 0) void begin();
  }

  /** What is noted meanwhile waits for the next time: written at once, it would come in batches of a few rows. */
  async function writeAll(): Promise<void> {
    let left = waiting.length;
    while (left > 0 || inDoubt.length > 0) {
      const again = inDoubt.length > 0;
      const taken = again ? [] : waiting.splice(0, Math.min(batchRows, left));
      left -= taken.length;
      onTheWay = again ? inDoubt.length : taken.length;
      const rows = again ? inDoubt : taken.flatMap(rowOf);
      inDoubt = [];
      const isWritten = await write(rows, again);
      onTheWay = 0;
      if (!isWritten) return;
    }
  }

  /** False where the database has to be waited for. */
  async function write(rows: readonly NewRequestRow[], again: boolean): Promise<boolean> {
    if (rows.length === 0) return true;
    try {
      await db.query(SYSTEM, again ? writeRequestsAgain : writeRequests, [JSON.stringify(rows)]);
    } catch (error) {
      if (!isOutage(error)) {
        // The same rows would fail for ever and keep all others from being written.
        logger.error({ err: error, rows: rows.length }, 'requests could not be logged');
        drop(rows.length);
        return true;
      }
      if (!isFailing) logger.warn({ err: error }, 'logging requests waits for the database');
      isFailing = true;
      inDoubt = rows;
      return false;
    }
    isFailing = false;
    metrics.requestLogEntriesTotal.inc({ outcome: 'written' }, rows.length);
    return true;
  }

  return {
    add(toRow) {
      if (waiting.length + inDoubt.length + onTheWay >= waitingRows) {
        drop(1);
        return;
      }
      waiting.push(toRow);
      // While the database is away, the timer asks often enough.
      if (waiting.length >= batchRows && flushing === undefined && !isFailing) outside(flushInBackground);
    },
    drop: () => drop(1),
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
      const lost = waiting.length + inDoubt.length;
      if (lost > 0) {
        logger.warn({ rows: lost }, 'the last requests were not logged');
        drop(lost);
      }
      waiting = [];
      inDoubt = [];
    },
  };
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const PURGED_AT_ONCE = 5_000;
/** In one turn of a minute: more than a deployment logs in one. */
const BATCHES_A_TURN = 100;

/** Deletes what is older than it is kept. Run by workers. */
export async function purgeOldRequests(
  { db, wall }: { readonly db: Pick<Database, 'query'>; readonly wall: () => number },
  keptDays: number,
): Promise<number> {
  const before = new Date(wall() - keptDays * DAY_MS);
  let purged = 0;
  for (let batch = 0; batch < BATCHES_A_TURN; batch++) {
    const [row] = await db.query(SYSTEM, purgeRequests, [before, PURGED_AT_ONCE]);
    purged += row?.purged ?? 0;
    if ((row?.purged ?? 0) < PURGED_AT_ONCE) break;
  }
  return purged;
}
