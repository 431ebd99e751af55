import { type Catalogue, createSimulatedSource } from '@causeway/currencies';
import { type CatalogueSummary, type OfferRows, sandboxOffers, type Vendor } from '@causeway/offers';
import { type Database, SYSTEM } from '../db/database.ts';
import { seedOffers, seedRowOf } from './offers.store.ts';
import { methodsOf } from './offers-rails.ts';
import { SIMULATED_SEED } from './rate-sources.ts';

const NOTHING: CatalogueSummary = { cryptoCurrencies: [], fiatCurrencies: [], rails: [] };

/** Who trades in a sandbox: a dozen vendors and a few automated providers. */
export const SANDBOX_VENDORS: readonly Vendor[] = sandboxOffers(NOTHING, SIMULATED_SEED).vendors;

/** The sandbox's market over every corridor of the catalogue, both ways. */
export async function sandboxMarket(catalogue: Catalogue): Promise<OfferRows> {
  const source = createSimulatedSource({ clock: { now: () => 0 }, seed: SIMULATED_SEED });
  const quotes = await source.fetch(new AbortController().signal);
  // Only sizes ranges, so any moment of the simulated market will do.
  const perUsd = new Map(quotes.filter(({ base }) => base === 'USD').map(({ quote, rate }) => [quote, rate]));
  perUsd.set('USD', '1');
  return sandboxOffers(
    {
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
    },
    SIMULATED_SEED,
  );
}

/** Puts the market into the database where it is not there yet; what vendors have changed since stays. */
export async function seedSandboxMarket(db: Database, catalogue: Catalogue): Promise<void> {
  const { vendors, offers } = await sandboxMarket(catalogue);
  const names = new Map(vendors.map(({ vendorId, name }) => [vendorId, name]));
  const rows = offers.map((offer) => seedRowOf(offer, names.get(offer.vendorId) ?? ''));
  await db.query(SYSTEM, seedOffers, [JSON.stringify(rows)]);
}
