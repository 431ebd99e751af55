import { type PolledSource, RateBook, type RateReading, RateService } from '@causeway/currencies';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Database, SYSTEM } from '../../db/database.ts';
import { coalesce } from '../../lib/coalesce.ts';
import type { Logger } from '../../lib/logger.ts';
import { RENEWALS_PER_LEASE, repeatEvery } from '../../lib/pacing.ts';
import { holdBook, publishBook, releaseBook, type StoredRateHistory } from './rate.store.ts';

/** The legs of a rate book as they are stored in the database and sent by a remote backend. */
const CODE = Type.String({ pattern: '^[A-Z0-9]{3,10}$' });
const PublishedLeg = Type.Object({
  base: CODE,
  quote: CODE,
  rate: Type.Union([Type.String({ pattern: '^[0-9]{1,40}(\\.[0-9]{1,40})?$' }), Type.Null()]),
  as_of: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  sources: Type.Array(Type.String({ minLength: 1, maxLength: 80 }), { maxItems: 50 }),
  status: Type.Union([
    Type.Literal('fresh'),
    Type.Literal('stale'),
    Type.Literal('missing'),
    Type.Literal('guarded'),
  ]),
});
type PublishedLeg = Static<typeof PublishedLeg>;

const MAX_LEGS = 5_000;
const publishedLegs = Compile(Type.Array(PublishedLeg, { maxItems: MAX_LEGS }));

export function toPublishedLegs(legs: readonly RateReading[]): PublishedLeg[] {
  return legs.map(({ base, quote, rate, asOf, sources, status }) => ({
    base,
    quote,
    rate,
    as_of: asOf,
    sources: [...sources],
    status,
  }));
}

/** Undefined where the value is anything else than legs: no part of it is used. */
export function parsePublishedLegs(value: unknown): RateReading[] | undefined {
  if (!publishedLegs.Check(value)) return undefined;
  return value.map(({ base, quote, rate, as_of, sources, status }) => ({
    base,
    quote,
    rate,
    asOf: as_of,
    sources,
    status,
  }));
}

/**
 * Of all workers one keeps the rates, so that feeds are read once and the book has one judge. The lease is a row in
 * the database; its holder renews it, and when it stops doing so the next worker takes over.
 */
export interface RateLeadershipOptions {
  readonly db: Database;
  readonly logger: Logger;
  /** Names this process among the workers. */
  readonly holder: string;
  readonly onGained: () => Promise<void>;
  readonly onLost: () => Promise<void>;
  readonly leaseMs?: number;
}

export interface RateLeadership {
  /** Resolves after the first try, whether or not it made this process the leader. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const DEFAULT_LEASE_MS = 15_000;

export function createRateLeadership(options: RateLeadershipOptions): RateLeadership {
  const { db, logger, holder } = options;
  const leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS;
  let leading = false;
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  let trying: Promise<void> = Promise.resolve();

  async function attempt(): Promise<void> {
    try {
      const held = (await db.query(SYSTEM, holdBook, [holder, leaseMs])).length > 0;
      if (held && !leading) {
        leading = true;
        await options.onGained();
      } else if (!held && leading) {
        leading = false;
        await options.onLost();
      }
    } catch (error) {
      // The lease runs out by itself; publishing is refused without it.
      logger.error({ err: error }, 'holding the rate book failed');
    }
  }

  function schedule(): void {
    if (stopping) return;
    timer = setTimeout(() => {
      trying = attempt().finally(schedule);
    }, leaseMs / RENEWALS_PER_LEASE);
    timer.unref();
  }

  return {
    async start() {
      trying = attempt();
      await trying;
      schedule();
    },
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await trying;
      if (!leading) return;
      leading = false;
      await options.onLost();
      await db.query(SYSTEM, releaseBook, [holder]);
    },
  };
}

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
const PUBLISHING = 'publishing rates';
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

  const failed = (what: string) => (error: unknown) => logger.error({ err: error }, `${what} failed`);

  function every(ms: number, what: string, run: () => Promise<unknown>): void {
    timers.push(repeatEvery(ms, run, failed(what)).unref());
  }

  async function lead(): Promise<void> {
    const clock = { now: wall };
    const book = new RateBook({ clock });
    const known = await history.newest(wall() - RESTORED_DAYS * DAY_MS);
    if (known.length === 0) await options.backfill?.(history);
    book.restore(known);
    service = new RateService({
      clock,
      book,
      sources,
      history,
      onChange: () => void publish().catch(failed(PUBLISHING)),
      onFailure: (source, error) => logger.warn({ err: error, source }, 'a rate source failed'),
    });
    await service.start();
    await publish();
    every(HEARTBEAT_MS, PUBLISHING, publish);
    every(UPKEEP_MS, 'purging old rates', () => history.purge(wall() - KEPT_DAYS * DAY_MS));
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
