import { buildCatalogue, type CatalogueOptions } from '@causeway/currencies';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import { coalesce } from '../../lib/coalesce.ts';
import type { Logger } from '../../lib/logger.ts';
import {
  type Currencies,
  type CurrenciesSnapshot,
  currenciesUnavailable,
  type ReferenceSnapshot,
} from '../../ports/currencies.ts';
import { readBook } from '../rates/rate.store.ts';
import { parsePublishedLegs } from '../rates/rate-publisher.ts';
import { RateTable } from '../rates/rate-table.ts';
import { allReferenceRecords } from './reference.store.ts';
import { digestOf, referenceDataOf } from './reference.ts';

export interface InProcessCurrenciesOptions {
  readonly db: Database;
  readonly listener: Listener;
  readonly logger: Logger;
  /** Machine time: a market's age is not a matter of the business clock, which a sandbox may move. */
  readonly wall: () => number;
  readonly catalogue?: CatalogueOptions;
  readonly maxRateAgeMs?: number;
}

/** Without a new publication for so long, the publisher is taken to be gone and its rates are no longer priced on. */
export const DEFAULT_MAX_RATE_AGE_MS = 60_000;

/** The default adapter: reference data and published rates are in PostgreSQL, notifications say when to look again. */
export function createInProcessCurrencies(options: InProcessCurrenciesOptions): Currencies {
  const { db, listener, logger, wall } = options;
  const maxRateAgeMs = options.maxRateAgeMs ?? DEFAULT_MAX_RATE_AGE_MS;
  const reactions: (() => void)[] = [];
  let reference: ReferenceSnapshot | undefined;
  let rates = RateTable.empty;
  let snapshot: CurrenciesSnapshot | undefined;
  let loadedAt = 0;

  const loadReference = coalesce(async () => {
    const rows = await db.query(SYSTEM, allReferenceRecords, []);
    const version = digestOf(rows);
    loadedAt = wall();
    if (version === reference?.version) return;
    reference = { version, catalogue: buildCatalogue(referenceDataOf(rows), options.catalogue) };
    changed();
  });

  const loadRates = coalesce(async () => {
    const [row] = await db.query(SYSTEM, readBook, []);
    loadedAt = wall();
    if (row === undefined || row.published_at === null) return;
    const legs = parsePublishedLegs(row.legs);
    if (legs === undefined) throw new Error('the published rate book cannot be read');
    rates = new RateTable({ publishedAt: row.published_at.getTime(), legs });
    changed();
  });

  function changed(): void {
    snapshot = undefined;
    for (const react of reactions) react();
  }

  function inBackground(load: () => Promise<void>, what: string): () => void {
    return () => {
      // The last good snapshot stays in use.
      load().catch((error) => logger.error({ err: error }, `refreshing ${what} failed`));
    };
  }

  function ageSeconds(): number {
    return listener.healthy ? 0 : Math.max(0, Math.floor((wall() - loadedAt) / 1_000));
  }

  const refreshReference = inBackground(loadReference, 'reference data');
  const refreshRates = inBackground(loadRates, 'rates');
  listener.on('reference_changed', refreshReference);
  listener.on('rates_changed', refreshRates);
  listener.onConnected(() => {
    refreshReference();
    refreshRates();
  });

  return {
    current() {
      if (reference === undefined) throw currenciesUnavailable();
      const standing = wall() - rates.publishedAt > maxRateAgeMs ? rates.outdated() : rates;
      const age = ageSeconds();
      if (snapshot === undefined || snapshot.rates !== standing || snapshot.ageSeconds !== age) {
        snapshot = { reference, rates: standing, ageSeconds: age };
      }
      return snapshot;
    },
    onChange(react) {
      reactions.push(react);
    },
    async start() {
      await Promise.all([loadReference(), loadRates()]);
    },
    async stop() {},
  };
}
