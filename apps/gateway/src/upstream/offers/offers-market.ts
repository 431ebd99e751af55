import { type Catalogue, createSimulatedSource } from '@causeway/currencies';
import {
  type CatalogueSummary,
  type Direction,
  type OfferRows,
  type RailLookup,
  type RailView,
  sandboxOffers,
  type Vendor,
} from '@causeway/offers';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { sha256Hex } from '../../lib/crypto.ts';
import { keepSeededDigest, seededDigest } from '../currencies/reference.store.ts';
import { SIMULATED_SEED } from '../rates/rate-sources.ts';
import { seedOffers, seedRowOf } from './offers.store.ts';

const lookups = new WeakMap<Catalogue, RailLookup>();

/** The catalogue as matching sees it: what is live now, on which rail, where. Read once for each catalogue. */
export function railLookupOf(catalogue: Catalogue): RailLookup {
  const known = lookups.get(catalogue);
  if (known !== undefined) return known;
  const views = new Map<string, RailView | undefined>();
  const lookup: RailLookup = (networkSlug, fiatCurrency, direction) => {
    const key = `${networkSlug}/${fiatCurrency}/${direction}`;
    if (views.has(key)) return views.get(key);
    const view = readRail(catalogue, networkSlug, fiatCurrency, direction);
    views.set(key, view);
    return view;
  };
  lookups.set(catalogue, lookup);
  return lookup;
}

/** Live methods of a rail in a currency, the rail's own default first. */
export function methodsOf(catalogue: Catalogue, railSlug: string, fiatCurrency: string) {
  const preferred = catalogue.rail(railSlug)?.defaultInstitution;
  const methods = catalogue.paymentMethods.byNetworkAndFiat(railSlug, fiatCurrency);
  return [
    ...methods.filter(({ slug }) => slug === preferred),
    ...methods.filter(({ slug }) => slug !== preferred),
  ];
}

function readRail(
  catalogue: Catalogue,
  networkSlug: string,
  fiatCurrency: string,
  direction: Direction,
): RailView | undefined {
  const rail = catalogue.rail(networkSlug);
  if (rail === undefined || !rail.currencies.includes(fiatCurrency) || !rail.directions.includes(direction)) {
    return undefined;
  }
  const methods = methodsOf(catalogue, networkSlug, fiatCurrency);
  const everywhere = methods.map(({ slug }) => slug);
  const slugsIn = new Map(
    rail.countries.map((country) => [
      country,
      methods.filter(({ countries }) => countries.includes(country)).map(({ slug }) => slug),
    ]),
  );
  const setsIn = new Map([...slugsIn].map(([country, slugs]) => [country, new Set(slugs)]));
  const anywhere = new Set(everywhere);
  return {
    limits: rail.limits,
    liveMethods: (country) => (country === undefined ? everywhere : (slugsIn.get(country) ?? [])),
    isLive: (slug, country) =>
      country === undefined ? anywhere.has(slug) : setsIn.get(country)?.has(slug) === true,
  };
}

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
