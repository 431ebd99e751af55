import { buildCatalogue, type Catalogue, loadReferenceFiles } from '@causeway/currencies';
import { type MatchRequest, matchOffer, OfferBook, type OfferRows } from '@causeway/offers';
import { ZERO_PERCENT } from '@causeway/protocol';
import { beforeAll, describe, expect, test } from 'vitest';
import { railLookupOf, SANDBOX_VENDORS, sandboxMarket } from './offers-market.ts';

type Corridor = Omit<MatchRequest, 'anchor' | 'amount' | 'partnerFee'>;

const AMOUNTS = [20n, 60n, 200n, 600n];

function corridorsOf({ data, cryptoCurrencies, fiatCurrency }: Catalogue): Corridor[] {
  return data.rails
    .filter(({ live }) => live !== false)
    .flatMap(({ slug, currencies, directions }) =>
      currencies.flatMap((fiat) =>
        cryptoCurrencies().flatMap(({ code }) =>
          directions.flatMap((direction) =>
            (['p2p', 'direct'] as const).map((providerScope) => ({
              direction,
              crypto: { code, decimals: 6 },
              fiat: { code: fiat, decimals: fiatCurrency(fiat)?.minorUnits ?? 2 },
              paymentNetworkSlug: slug,
              providerScope,
            })),
          ),
        ),
      ),
    );
}

describe('the sandbox’s market', () => {
  const catalogue = buildCatalogue(loadReferenceFiles());
  let rows: OfferRows;
  beforeAll(async () => {
    rows = await sandboxMarket(catalogue);
  });

  test('has a dozen vendors and a few providers, each with offers', () => {
    expect(SANDBOX_VENDORS.filter(({ kind }) => kind === 'p2p')).toHaveLength(12);
    expect(SANDBOX_VENDORS.filter(({ kind }) => kind === 'direct').length).toBeGreaterThanOrEqual(3);
    const trading = new Set(rows.offers.map(({ vendorId }) => vendorId));
    expect(SANDBOX_VENDORS.filter(({ vendorId }) => !trading.has(vendorId))).toEqual([]);
    expect(OfferBook.of(rows).problems()).toEqual([]);
  });

  test('serves every corridor over every rail, in each direction the rail has, by vendors and by providers', () => {
    const book = OfferBook.of(rows);
    const rail = railLookupOf(catalogue);
    const isServed = (corridor: Corridor) =>
      // Rails have limits of their own, so no single amount suits them all.
      AMOUNTS.some((whole) => {
        const request = {
          ...corridor,
          anchor: 'crypto' as const,
          amount: whole * 1_000_000n,
          partnerFee: ZERO_PERCENT,
        };
        const context = { referenceRate: rateOf(corridor.fiat.code), platformFee: ZERO_PERCENT, rail };
        return matchOffer(book, request, context).ok;
      });
    const corridors = corridorsOf(catalogue);
    expect(corridors.length).toBeGreaterThan(500);
    const unserved = corridors.filter((corridor) => !isServed(corridor));
    expect(unserved).toEqual([]);
  });

  /** From what the market's ranges were sized with: a small tier begins at about five dollars. */
  function rateOf(fiat: string): string {
    const smallest = rows.offers
      .filter(({ fiatCurrency }) => fiatCurrency === fiat)
      .map(({ minAmount }) => Number(minAmount));
    return String(Math.max(Math.min(...smallest) / 5, 0.0001));
  }
});
