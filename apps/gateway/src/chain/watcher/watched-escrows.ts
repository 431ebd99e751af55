import type { Database } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Address } from '../chain-settings.ts';
import type { EscrowWatch } from './chain-facts.ts';
import { caughtUpSince, type KnownWatch, readChangedWatches, readWatches } from './watch.store.ts';

/**
 * The escrows of a chain that are watched, kept in memory. Those of cancelled orders stay for weeks, so a step that
 * listed them all would cost more with every order that was never paid: only what was registered, closed or reopened
 * since the last look is read.
 */
export interface WatchedEscrows {
  /** All that is committed by now. */
  list(): Promise<EscrowWatch[]>;
  /**
   * Those that were not in the last list and that another process has caught up with since. Where the cursor moves over blocks
   * that were read by that list, what they hold for these has not been seen.
   */
  passedOver(unit: UnitOfWork): Promise<Address[]>;
}

/** How long the escrow of a finished order is watched for stray deposits. */
const AFTERLIFE_MS = 30 * 24 * 3_600_000;

/** Escrows that were closed before then are no longer watched. */
export function watchedSince(nowMs: number): Date {
  return new Date(nowMs - AFTERLIFE_MS);
}

export function createWatchedEscrows(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  chainId: number,
): WatchedEscrows {
  const known = new Map<Address, KnownWatch>();
  let horizon: string | undefined;
  return {
    async list() {
      const closedAfter = watchedSince(clock.now());
      const changes =
        horizon === undefined
          ? await readWatches(db, chainId, closedAfter)
          : await readChangedWatches(db, chainId, horizon);
      horizon = changes.horizon;
      for (const watch of changes.watches) known.set(watch.address, watch);
      for (const { address, closedAt } of known.values()) {
        if (closedAt !== null && closedAt <= closedAfter) known.delete(address);
      }
      return [...known.values()];
    },
    async passedOver(unit) {
      if (horizon === undefined) return [];
      const addresses = await caughtUpSince(unit, chainId, horizon);
      return addresses.filter((address) => !known.has(address));
    },
  };
}
