import { describe, expect, test } from 'vitest';
import { type Direction, OfferBook } from '../book/index.ts';
import { matchOffer, type RailLookup } from '../matching/index.ts';
import { percent } from '../testing/offer-fixtures.ts';
import { type CatalogueSummary, sandboxOffers } from './sandbox-offers.ts';

const BOTH: readonly Direction[] = ['onramp', 'offramp'];
const SUMMARY: CatalogueSummary = {
  cryptoCurrencies: ['USDC', 'USDT', 'USDT0'],
  fiatCurrencies: [
    { code: 'USD', minorUnits: 2, perUsd: '1' },
    { code: 'EUR', minorUnits: 2, perUsd: '0.92' },
    { code: 'JPY', minorUnits: 0, perUsd: '154.3' },
    { code: 'KWD', minorUnits: 3, perUsd: '0.307' },
    { code: 'IDR', minorUnits: 2, perUsd: '16250' },
    { code: 'XXX', minorUnits: 2, perUsd: '3' },
  ],
  rails: [
    { slug: 'ach-us', currencies: ['USD'], countries: ['US'], directions: BOTH, methods: ['chase', 'citi'] },
    {
      slug: 'iban-sepa',
      currencies: ['EUR'],
      countries: ['DE', 'FR'],
      directions: BOTH,
      methods: ['other-bank'],
    },
    {
      slug: 'sepa-two',
      currencies: ['EUR', 'USD'],
      countries: ['DE'],
      directions: ['offramp'],
      methods: ['n26'],
    },
    {
      slug: 'zengin',
      currencies: ['JPY'],
      countries: ['JP'],
      directions: BOTH,
      methods: Array.from({ length: 40 }, (_, index) => `bank-${index}`),
    },
    { slug: 'kuwait', currencies: ['KWD'], countries: ['KW'], directions: BOTH, methods: ['nbk'] },
    { slug: 'bi-fast', currencies: ['IDR'], countries: ['ID'], directions: BOTH, methods: ['bca'] },
    { slug: 'asleep', currencies: ['XXX'], countries: ['ID'], directions: BOTH, methods: [] },
  ],
};

const rail: RailLookup = (slug, currency, direction) => {
  const found = SUMMARY.rails.find((one) => one.slug === slug);
  if (!found?.currencies.includes(currency) || !found.directions.includes(direction)) return undefined;
  return {
    limits: null,
    liveMethods: () => found.methods,
    isLive: (method) => found.methods.includes(method),
  };
};

const rows = sandboxOffers(SUMMARY, 'seed');
const book = OfferBook.of(rows);

const corridors = SUMMARY.rails.flatMap((one) =>
  one.currencies.flatMap((currency) =>
    SUMMARY.cryptoCurrencies.flatMap((crypto) =>
      one.directions.flatMap((direction) =>
        one.methods.map((method) => ({ one, currency, crypto, direction, method })),
      ),
    ),
  ),
);

describe('the sandbox market', () => {
  test('has a dozen vendors and a few providers, and no unusable row', () => {
    expect(rows.vendors.filter(({ kind }) => kind === 'p2p')).toHaveLength(12);
    expect(rows.vendors.filter(({ kind }) => kind === 'direct')).toHaveLength(3);
    expect(book.problems()).toEqual([]);
    expect(new Set(rows.offers.map(({ offerId }) => offerId)).size).toBe(rows.offers.length);
  });

  test('serves every corridor, rail, method and country both by vendors and by providers', () => {
    expect(corridors.length).toBeGreaterThan(200);
    for (const { one, currency, crypto, direction, method } of corridors) {
      const fiat = SUMMARY.fiatCurrencies.find(({ code }) => code === currency)!;
      const hundredUsd = BigInt(Math.round(Number(fiat.perUsd) * 100)) * 10n ** BigInt(fiat.minorUnits);
      for (const providerScope of ['p2p', 'direct'] as const) {
        for (const country of one.countries) {
          const outcome = matchOffer(
            book,
            {
              direction,
              crypto: { code: crypto, decimals: 6 },
              fiat: { code: currency, decimals: fiat.minorUnits },
              anchor: 'fiat',
              amount: hundredUsd,
              partnerFee: percent('1'),
              paymentMethodSlug: method,
              paymentNetworkSlug: one.slug,
              country,
              providerScope,
            },
            { referenceRate: fiat.perUsd, platformFee: percent('0.5'), rail },
          );
          expect(outcome, `${direction} ${crypto} ${currency} ${one.slug} ${method}`).toMatchObject({
            ok: true,
          });
        }
      }
    }
  });

  test('offers nothing over rails that are not live or do not go that way', () => {
    expect(rows.offers.filter(({ fiatCurrency }) => fiatCurrency === 'XXX')).toEqual([]);
    const selling = rows.offers.filter(({ side }) => side === 'SELL');
    expect(
      selling.flatMap(({ paymentOptions }) => paymentOptions.map(({ networkSlug }) => networkSlug)),
    ).not.toContain('sepa-two');
  });

  test('has prices that overlap: no tier of vendor is always the best', () => {
    const winners = new Set(
      [...book.pairs()].map(
        ({ eligible }) => `${eligible.margin[0]?.vendor.kind} ${eligible.margin[0]?.offer.maxAmount}`,
      ),
    );
    expect(winners.size).toBeGreaterThan(3);
    expect(
      new Set([...book.pairs()].map(({ eligible }) => eligible.margin[0]?.vendor.vendorId)).size,
    ).toBeGreaterThan(5);
  });

  test('never buys above where it sells', () => {
    for (const { pricing } of rows.offers) {
      if (pricing.type === 'margin') expect(pricing.percent).toMatch(/^[01]\.\d{1,2}$|^1$/);
      else expect(pricing.price).toMatch(/^(1\.0|0\.9)\d+$/);
    }
  });

  test('has round ranges in whole minor units', () => {
    const yen = rows.offers.filter(({ fiatCurrency }) => fiatCurrency === 'JPY');
    expect([...new Set(yen.map(({ minAmount }) => minAmount))].sort()).toEqual(['20000', '800', '80000']);
    const dinar = rows.offers.filter(({ fiatCurrency }) => fiatCurrency === 'KWD');
    expect(dinar.every(({ minAmount }) => /^\d+(\.\d{1,3})?$/.test(minAmount))).toBe(true);
  });

  test('is the same for the same seed and another for another', () => {
    expect(sandboxOffers(SUMMARY, 'seed')).toEqual(rows);
    const others = sandboxOffers(SUMMARY, 'other').offers;
    expect(others.map(({ pricing }) => pricing)).not.toEqual(rows.offers.map(({ pricing }) => pricing));
  });

  test('keeps an offer as it is when a currency is added', () => {
    const fewer = { ...SUMMARY, fiatCurrencies: SUMMARY.fiatCurrencies.slice(0, 2) };
    const known = new Map(rows.offers.map((offer) => [offer.offerId, offer]));
    for (const offer of sandboxOffers(fewer, 'seed').offers) expect(known.get(offer.offerId)).toEqual(offer);
  });
});
