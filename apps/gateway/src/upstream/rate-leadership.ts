import { type Database, SYSTEM } from '../db/database.ts';
import type { Logger } from '../lib/logger.ts';
import { holdBook, releaseBook } from './rate.store.ts';

/**
 * Of all workers one keeps the rates, so that feeds are read once and the book has one judge. The lease is a row in
 * the database; whoever holds it renews it, and when it stops doing so the next worker takes over.
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
const RENEWALS_PER_LEASE = 3;

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
      // The lease runs out by itself; publishing is refused to whoever no longer holds it.
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
