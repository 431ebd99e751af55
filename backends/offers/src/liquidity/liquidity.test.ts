import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OfferBook, type OfferRows } from '../book/index.ts';
import { anOffer, aVendor, railsOf, SEPA } from '../testing/offer-fixtures.ts';
import { contextArb, type RandomContext, rowsArb } from '../testing/offer-world.ts';
import { aggregateLiquidity, type LiquidityPair } from './liquidity.ts';

const context = { rail: railsOf(SEPA), usdRate: (): string | undefined => '1.1' };
const liquidityOf = (rows: Partial<OfferRows>, changes: Partial<typeof context> = {}) =>
  aggregateLiquidity(OfferBook.of({ vendors: [aVendor()], offers: [anOffer()], ...rows }), {
    ...context,
    ...changes,
  });

describe('a pair', () => {
  test('spans its offers, in partner terms, with numbers and sorted methods', () => {
    const offers = [
      anOffer({ minAmount: '10.50', maxAmount: '1000' }),
      anOffer({
        offerId: 'offer-2',
        minAmount: '20',
        maxAmount: '2500.25',
        paymentOptions: [{ networkSlug: 'iban-sepa', methodSlugs: 'all' }],
      }),
    ];
    expect(liquidityOf({ offers })).toEqual([
      {
        crypto_currency_code: 'USDC',
        fiat_currency_code: 'EUR',
        trade_type: 'BUY',
        min_amount: 10.5,
        max_amount: 2500.25,
        min_amount_usd: 11.55,
        max_amount_usd: 2750.28,
        payment_methods: ['n26', 'other-bank', 'revolut'],
      },
    ]);
  });

  test('of vendors that buy is one where the partner sells', () => {
    expect(liquidityOf({ offers: [anOffer({ side: 'BUY' })] })[0]?.trade_type).toBe('SELL');
  });

  test.each<[string, Partial<OfferRows>, Partial<typeof context>]>([
    ['the offer is not authorized', { offers: [anOffer({ authorized: false })] }, {}],
    ['the vendor is inactive', { vendors: [aVendor({ active: false })] }, {}],
    ['the vendor is offline', { vendors: [aVendor({ online: false })] }, {}],
    ['no payment method is live', {}, { rail: () => undefined }],
    ['the currency has no USD rate', {}, { usdRate: () => undefined }],
  ])('is absent where %s', (_, rows, changes) => {
    expect(liquidityOf(rows, changes)).toEqual([]);
  });

  test('does not depend on balances: it shows what is offered, a quote what is there', () => {
    expect(liquidityOf({ offers: [anOffer({ availableBalance: '0' })] })).toHaveLength(1);
  });

  test('tells no price and no vendor', () => {
    expect(JSON.stringify(liquidityOf({}))).not.toMatch(/vendor|price|rate|First/);
  });
});

/** Straight from the contract's sentence, without the book. */
function bruteForce({ vendors, offers }: OfferRows, { rails }: RandomContext): LiquidityPair[] {
  return (['BUY', 'SELL'] as const).flatMap((tradeType) => {
    const eligible = offers.flatMap((offer) => {
      const vendor = vendors.find(({ vendorId }) => vendorId === offer.vendorId);
      const live = offer.paymentOptions.flatMap(({ networkSlug, methodSlugs }) =>
        Object.keys(rails[networkSlug]?.methods ?? {}).filter(
          (slug) => methodSlugs === 'all' || methodSlugs.includes(slug),
        ),
      );
      const fits = offer.authorized && vendor?.active && vendor.online && offer.side !== tradeType;
      return fits && live.length > 0 ? [{ offer, live }] : [];
    });
    if (eligible.length === 0) return [];
    const mins = eligible.map(({ offer }) => Number(offer.minAmount));
    const maxs = eligible.map(({ offer }) => Number(offer.maxAmount));
    return [
      {
        crypto_currency_code: 'USDC',
        fiat_currency_code: 'EUR',
        trade_type: tradeType,
        min_amount: Math.min(...mins),
        max_amount: Math.max(...maxs),
        min_amount_usd: Math.min(...mins) * 2,
        max_amount_usd: Math.max(...maxs) * 2,
        payment_methods: [...new Set(eligible.flatMap(({ live }) => live))].sort(),
      },
    ];
  });
}

test('equals brute force over random markets', () => {
  fc.assert(
    fc.property(rowsArb, contextArb, (rows, world) => {
      const book = OfferBook.of(rows);
      const pairs = aggregateLiquidity(book, { rail: world.context.rail, usdRate: () => '2' });
      expect(pairs).toEqual(bruteForce(rows, world));
    }),
    { numRuns: 1_000 },
  );
});

test('USD amounts are rounded half-even to cents', () => {
  const cents = (usdRate: string) => {
    const [pair] = liquidityOf({ offers: [anOffer({ minAmount: '1' })] }, { usdRate: () => usdRate });
    return `${pair?.min_amount_usd}`;
  };
  expect(cents('1.005')).toBe('1');
  expect(cents('1.015')).toBe('1.02');
  expect(cents('1.0050001')).toBe('1.01');
});
