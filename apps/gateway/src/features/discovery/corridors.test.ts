import { buildCatalogue, loadReferenceFiles, type RateReading } from '@causeway/currencies';
import { parsePercent, parseRate } from '@causeway/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RateTable } from '../../upstream/rate-table.ts';
import { loadSpreadRecords, SpreadTable } from '../../upstream/spreads.ts';
import { customerRate, listCorridors } from './corridors.ts';

const AT = Date.UTC(2026, 0, 31, 12);
const reference = { version: '1', catalogue: buildCatalogue(loadReferenceFiles()) };
const spreads = new SpreadTable(loadSpreadRecords());

function percent(text: string) {
  const parsed = parsePercent(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

function leg(
  base: string,
  quote: string,
  rate: string,
  status: RateReading['status'] = 'fresh',
): RateReading {
  return { base, quote, rate, asOf: AT - 1_000, sources: ['test'], status };
}

function corridor(rates: RateTable, crypto: string, fiat: string, country: string) {
  return listCorridors(reference, rates, spreads).find(
    (row) => row.crypto_currency === crypto && row.fiat_currency === fiat && row.country === country,
  );
}

test.each([
  ['100', '1', 'onramp', '101'],
  ['100', '1', 'offramp', '99'],
  ['1', '0', 'onramp', '1'],
  ['0.333333333333333', '0.3', 'onramp', '0.33433334'],
  ['0.333333333333333', '0.3', 'offramp', '0.33233333'],
] as const)('a market rate of %s with %s %% %s is %s', (market, spread, direction, expected) => {
  expect(customerRate(market, percent(spread), direction)).toBe(expected);
});

test('rounding never gives the customer more than the spread allows, nor more than one unit of the last decimal less', () => {
  const rateText = fc
    .tuple(fc.bigInt(0n, 99_999n), fc.bigInt(1n, 999_999_999n))
    .map(([whole, fraction]) => `${whole}.${fraction.toString().padStart(9, '0')}`);
  fc.assert(
    fc.property(rateText, fc.bigInt(0n, 99_000_000n), (market, millionths) => {
      const exact = parseRate(market);
      if (!exact.ok) return;
      for (const direction of ['onramp', 'offramp'] as const) {
        const text = customerRate(market, { millionths }, direction);
        if (text === null) continue;
        const got = parseRate(text);
        if (!got.ok) throw new Error(text);
        const share = direction === 'onramp' ? 100_000_000n + millionths : 100_000_000n - millionths;
        // Both sides in units of 10^-(8 + 9 + 8).
        const wanted = exact.value.numerator * share * 10n ** BigInt(17 - exact.value.scale);
        const given = got.value.numerator * 10n ** BigInt(25 - got.value.scale);
        const ahead = direction === 'onramp' ? given - wanted : wanted - given;
        expect(ahead >= 0n && ahead < 10n ** 17n).toBe(true);
      }
    }),
  );
});

test('a corridor carries its rails and the customer’s rates of both directions', () => {
  const rates = new RateTable({
    publishedAt: AT,
    legs: [leg('USDC', 'USD', '1'), leg('USD', 'GHS', '16')],
  });
  expect(corridor(rates, 'USDC', 'GHS', 'GH')).toEqual({
    crypto_currency: 'USDC',
    fiat_currency: 'GHS',
    country: 'GH',
    rails: ['ghana-transfer'],
    onramp: { rate: '16.24', spread_pct: 1.5 },
    offramp: { rate: '15.8', spread_pct: 1.25 },
    updated_at: new Date(AT - 1_000).toISOString(),
  });
});

test.each(['stale', 'guarded'] as const)('a %s rate is not shown as a price', (status) => {
  const rates = new RateTable({
    publishedAt: AT,
    legs: [leg('USDC', 'USD', '1'), leg('USD', 'GHS', '16', status)],
  });
  expect(corridor(rates, 'USDC', 'GHS', 'GH')).toMatchObject({ onramp: null, offramp: null });
});

test('rates that nobody confirms any more are not shown as prices', () => {
  const rates = new RateTable({
    publishedAt: AT,
    legs: [leg('USDC', 'USD', '1'), leg('USD', 'GHS', '16')],
  });
  expect(corridor(rates.outdated(), 'USDC', 'GHS', 'GH')).toMatchObject({ onramp: null, offramp: null });
});

test('every live rail is in a corridor of each of its currencies and countries, for every crypto currency', () => {
  const rows = listCorridors(reference, RateTable.empty, spreads);
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
