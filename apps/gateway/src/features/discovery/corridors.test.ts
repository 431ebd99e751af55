import { buildCatalogue, loadReferenceFiles, type RateReading } from '@causeway/currencies';
import { type Offer, OfferBook, type Vendor } from '@causeway/offers';
import { describe, expect, test } from 'vitest';
import { RateTable } from '../../upstream/rates/rate-table.ts';
import { CorridorList } from './corridors.ts';

const AT = Date.UTC(2026, 0, 31, 12);
const reference = { version: '1', catalogue: buildCatalogue(loadReferenceFiles()) };

const VENDOR: Vendor = {
  vendorId: 'v1',
  name: 'First',
  kind: 'p2p',
  active: true,
  online: true,
  reputation: { completedOrders: 0, failedOrders: 0, disputedOrders: 0 },
};

function offer(offerId: string, side: Offer['side'], changes: Partial<Offer> = {}): Offer {
  return {
    offerId,
    vendorId: 'v1',
    kind: 'p2p',
    side,
    cryptoCurrency: 'USDC',
    fiatCurrency: 'GHS',
    pricing: { type: 'margin', percent: '1.5' },
    minAmount: '50',
    maxAmount: '5000',
    paymentOptions: [{ networkSlug: 'ghana-transfer', methodSlugs: 'all' }],
    countries: ['GH'],
    availableBalance: '1000',
    authorized: true,
    version: 1,
    createdAt: 1,
    ...changes,
  };
}

const book = OfferBook.of({
  vendors: [VENDOR],
  offers: [
    offer('dear', 'SELL', { pricing: { type: 'margin', percent: '2' } }),
    offer('good', 'SELL'),
    offer('empty', 'SELL', { pricing: { type: 'margin', percent: '0' }, availableBalance: '0' }),
    offer('buys', 'BUY', { pricing: { type: 'fixed', price: '15.8' } }),
  ],
});

function leg(
  base: string,
  quote: string,
  rate: string,
  status: RateReading['status'] = 'fresh',
): RateReading {
  return { base, quote, rate, asOf: AT - 1_000, sources: ['test'], status };
}

const MARKET = new RateTable({ publishedAt: AT, legs: [leg('USDC', 'USD', '1'), leg('USD', 'GHS', '16')] });

function corridor(rates: RateTable, offers: OfferBook, crypto = 'USDC', fiat = 'GHS', country = 'GH') {
  return new CorridorList()
    .at(reference, rates, offers)
    .find((row) => row.crypto_currency === crypto && row.fiat_currency === fiat && row.country === country);
}

describe('a corridor', () => {
  // Proves D5.4.
  test('carries its rails and the rates of the best live offers, with their distance from the market', () => {
    expect(corridor(MARKET, book)).toEqual({
      crypto_currency: 'USDC',
      fiat_currency: 'GHS',
      country: 'GH',
      rails: ['ghana-transfer'],
      onramp: { rate: '16.24', spread_pct: 1.5 },
      offramp: { rate: '15.8', spread_pct: 1.25 },
      updated_at: new Date(AT - 1_000).toISOString(),
    });
  });

  // Proves D5.4.
  test('that no vendor serves is listed without a price', () => {
    expect(corridor(MARKET, book, 'USDT')).toMatchObject({ onramp: null, offramp: null });
    expect(corridor(MARKET, OfferBook.empty)).toMatchObject({ rails: ['ghana-transfer'], onramp: null });
  });

  test('follows its offers', () => {
    const better = book.withChanged({
      offers: [offer('better', 'SELL', { pricing: { type: 'margin', percent: '0.5' } })],
      removedOfferIds: ['buys'],
    });
    expect(corridor(MARKET, better)).toMatchObject({
      onramp: { rate: '16.08', spread_pct: 0.5 },
      offramp: null,
    });
    const offline = better.withChanged({ vendors: [{ ...VENDOR, online: false }] });
    expect(corridor(MARKET, offline)).toMatchObject({ onramp: null, offramp: null });
  });
});

test('a list stays the same while only balances change, and says what a new list would when prices do', () => {
  const list = new CorridorList();
  const first = list.at(reference, MARKET, book);
  const drained = book.withChanged({
    offers: [offer('good', 'SELL', { availableBalance: '4000', version: 2 })],
  });
  expect(list.at(reference, MARKET, drained)).toBe(first);
  const dearer = drained.withChanged({
    offers: [offer('good', 'SELL', { pricing: { type: 'margin', percent: '1.9' }, version: 3 })],
  });
  const outdated = MARKET.outdated();
  for (const [rates, offers] of [
    [MARKET, dearer],
    [MARKET, dearer.withChanged({ removedOfferIds: ['buys'] })],
    [outdated, dearer],
    [MARKET, book],
    [MARKET, OfferBook.empty],
  ] as const) {
    const before = list.at(reference, rates, offers);
    expect(before).toEqual(new CorridorList().at(reference, rates, offers));
    expect(list.at(reference, rates, offers)).toBe(before);
  }
});

test.each(['stale', 'guarded'] as const)('a %s rate is not shown as a price', (status) => {
  const rates = new RateTable({
    publishedAt: AT,
    legs: [leg('USDC', 'USD', '1'), leg('USD', 'GHS', '16', status)],
  });
  expect(corridor(rates, book)).toMatchObject({ onramp: null, offramp: null });
});

test('rates that are not confirmed any more are not shown as prices', () => {
  expect(corridor(MARKET.outdated(), book)).toMatchObject({ onramp: null, offramp: null });
});

// Proves D5.4.
test('every live rail is in a corridor of each of its currencies and countries, for every crypto currency', () => {
  const rows = new CorridorList().at(reference, RateTable.empty, book);
  const listed = new Set(
    rows.flatMap((row) =>
      row.rails.map((rail) => `${row.crypto_currency} ${row.fiat_currency} ${row.country} ${rail}`),
    ),
  );
  for (const { code } of reference.catalogue.cryptoCurrencies()) {
    for (const rail of reference.catalogue.data.rails.filter(({ live }) => live !== false)) {
      for (const fiat of rail.currencies) {
        for (const country of rail.countries) {
          expect(listed).toContain(`${code} ${fiat} ${country} ${rail.slug}`);
        }
      }
    }
  }
  const identities = rows.map((row) => `${row.crypto_currency}/${row.fiat_currency}/${row.country}`);
  expect(new Set(identities).size).toBe(rows.length);
});
