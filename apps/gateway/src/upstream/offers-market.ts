import { type Catalogue, createSimulatedSource } from '@causeway/currencies';
import { type CatalogueSummary, type OfferRows, sandboxOffers, type Vendor } from '@causeway/offers';
import { type Database, SYSTEM } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { sha256Hex } from '../lib/crypto.ts';
import { seedOffers, seedRowOf } from './offers.store.ts';
import { methodsOf } from './offers-rails.ts';
import { SIMULATED_SEED } from './rate-sources.ts';
import { keepSeededDigest, seededDigest } from './reference.store.ts';

const NOTHING: CatalogueSummary = { cryptoCurrencies: [], fiatCurrencies: [], rails: [] };

/** Who trades in a sandbox: a dozen vendors and a few automated providers. */
export const SANDBOX_VENDORS: readonly Vendor[] = sandboxOffers(NOTHING, SIMULATED_SEED).vendors;

/** The sandbox's market over every corridor of the catalogue, both ways. */
export async function sandboxMarket(catalogue: Catalogue): Promise<OfferRows> {
  return sandboxOffers(await summaryOf(catalogue), SIMULATED_SEED);
}

async function summaryOf(catalogue: Catalogue): Promise<CatalogueSummary> {
  const source = createSimulatedSource({ clock: { now: () => 0 }, seed: SIMULATED_SEED });
  const quotes = await source.fetch(new AbortController().signal);
  // Only sizes ranges, so any moment of the simulated market will do.
  const perUsd = new Map(quotes.filter(({ base }) => base === 'USD').map(({ quote, rate }) => [quote, rate]));
  perUsd.set('USD', '1');
  return {
    cryptoCurrencies: catalogue.cryptoCurrencies().map(({ code }) => code),
    fiatCurrencies: catalogue.data.fiatCurrencies.flatMap(({ code, minorUnits }) => {
      const rate = perUsd.get(code);
      return rate === undefined ? [] : [{ code, minorUnits, perUsd: rate }];
    }),
    rails: catalogue.data.rails
      .filter(({ live }) => live !== false)
      .map(({ slug, currencies, countries, directions }) => ({
        slug,
        currencies,
        countries,
        directions,
        methods: [
          ...new Set(
            currencies.flatMap((currency) => methodsOf(catalogue, slug, currency).map((one) => one.slug)),
          ),
        ],
      })),
  };
}

/**
 * Puts the market of this catalogue into the database, once: thousands of offers take longer than the rest of a start.
 * What vendors have changed since stays, and so does an earlier catalogue's market.
 */
export async function seedSandboxMarket(db: Database, clock: Clock, catalogue: Catalogue): Promise<void> {
  const summary = await summaryOf(catalogue);
  const digest = sha256Hex(JSON.stringify([SIMULATED_SEED, summary]));
  const [earlier] = await db.query(SYSTEM, seededDigest, ['market_seed']);
  if (earlier?.digest === digest) return;
  const { vendors, offers } = sandboxOffers(summary, SIMULATED_SEED);
  const names = new Map(vendors.map(({ vendorId, name }) => [vendorId, name]));
  const rows = offers.map((offer) => seedRowOf(offer, names.get(offer.vendorId) ?? ''));
  await db.transaction(SYSTEM, async (tx) => {
    await tx.query(seedOffers, [JSON.stringify(rows)]);
    await tx.query(keepSeededDigest, ['market_seed', digest, clock.date()]);
  });
}
