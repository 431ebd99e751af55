import { type PolledSource, RateBook, RateService } from '@causeway/currencies';
import { type Database, SYSTEM } from '../db/database.ts';
import type { Logger } from '../lib/logger.ts';
import { coalesce } from './coalesce.ts';
import { toPublishedLegs } from './published-legs.ts';
import { publishBook, type StoredRateHistory } from './rate.store.ts';
import { createRateLeadership, type RateLeadership } from './rate-leadership.ts';

export interface RatePublisherOptions {
  readonly db: Database;
  readonly logger: Logger;
  /** Machine time, in which feeds observe the market. */
  readonly wall: () => number;
  readonly history: StoredRateHistory;
  readonly sources: readonly PolledSource[];
  readonly holder: string;
  readonly leaseMs?: number;
  /** Fills an empty history; only a simulated market knows its past. */
  readonly backfill?: (history: StoredRateHistory) => Promise<void>;
}

/** Published this often even when nothing moved: readers take silence for death. */
const HEARTBEAT_MS = 10_000;
const UPKEEP_MS = 3_600_000;
const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;
/** Older values say nothing about whether the first observation after a restart is plausible. */
const RESTORED_DAYS = 7;

/** The worker's part of the rates: reads the sources, keeps the history, publishes the book to every process. */
export function createRatePublisher(options: RatePublisherOptions): RateLeadership {
  const { db, logger, wall, history, sources, holder } = options;
  let service: RateService | undefined;
  let timers: NodeJS.Timeout[] = [];

  const publish = coalesce(async () => {
    if (service === undefined) return;
    const { at, rates } = service.snapshot();
    await db.query(SYSTEM, publishBook, [holder, JSON.stringify(toPublishedLegs(rates)), new Date(at)]);
  });

  function inBackground(work: () => Promise<unknown>, what: string): () => void {
    return () => {
      work().catch((error) => logger.error({ err: error }, `${what} failed`));
    };
  }

  function every(ms: number, work: () => void): void {
    const timer = setInterval(work, ms);
    timer.unref();
    timers.push(timer);
  }

  async function lead(): Promise<void> {
    const clock = { now: wall };
    const book = new RateBook({ clock });
    const known = await history.newest(wall() - RESTORED_DAYS * DAY_MS);
    if (known.length === 0) await options.backfill?.(history);
    book.restore(known);
    const announce = inBackground(publish, 'publishing rates');
    service = new RateService({
      clock,
      book,
      sources,
      history,
      onChange: announce,
      onFailure: (source, error) => logger.warn({ err: error, source }, 'a rate source failed'),
    });
    await service.start();
    await publish();
    every(HEARTBEAT_MS, announce);
    every(
      UPKEEP_MS,
      inBackground(() => history.forget(wall() - KEPT_DAYS * DAY_MS), 'forgetting old rates'),
    );
  }

  async function follow(): Promise<void> {
    for (const timer of timers) clearInterval(timer);
    timers = [];
    const stopped = service;
    service = undefined;
    await stopped?.stop();
  }

  return createRateLeadership({
    db,
    logger,
    holder,
    onGained: lead,
    onLost: follow,
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
  });
}
