import { parseDecimal } from '@causeway/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Direction, OfferBook, type OfferRows, sideServing } from '../book/index.ts';
import { anOffer, aVendor, EUR, percent, railsOf, SEPA } from '../testing/offer-fixtures.ts';
import { contextArb, rowsArb } from '../testing/offer-world.ts';
import { bestRate } from './best-rate.ts';
import type { RailLookup } from './match.types.ts';
import { matchOffer } from './match-offer.ts';

interface Question {
  readonly direction?: Direction;
  readonly country?: string;
  readonly referenceRate?: string;
  readonly rail?: RailLookup;
}

function bestIn(book: OfferBook, question: Question) {
  const { direction = 'onramp', country = 'DE', referenceRate = '0.8', rail = railsOf(SEPA) } = question;
  const pair = book.pair(sideServing(direction), 'USDC', 'EUR');
  return pair && bestRate(pair, EUR, country, { referenceRate, rail });
}

const ask = (rows: Partial<OfferRows>, question: Question = {}) =>
  bestIn(OfferBook.of({ vendors: [aVendor()], offers: [anOffer()], ...rows }), question);

describe('the best rate of a corridor', () => {
  test.each([
    ['a margin', 'onramp', { type: 'margin', percent: '0.25' }, { rate: '0.802', spreadPct: '0.25' }],
    ['a margin', 'offramp', { type: 'margin', percent: '0.25' }, { rate: '0.798', spreadPct: '0.25' }],
    ['a gift', 'onramp', { type: 'margin', percent: '-0.5' }, { rate: '0.796', spreadPct: '-0.5' }],
    ['a fixed price', 'onramp', { type: 'fixed', price: '0.81' }, { rate: '0.81', spreadPct: '1.25' }],
    ['a fixed price', 'offramp', { type: 'fixed', price: '0.81' }, { rate: '0.81', spreadPct: '-1.25' }],
    [
      'an odd price',
      'onramp',
      { type: 'fixed', price: '0.8000001' },
      { rate: '0.8000001', spreadPct: '0.000012' },
    ],
  ] as const)('is that of %s, %s, with its distance from the market', (_, direction, pricing, expected) => {
    const side = direction === 'onramp' ? 'SELL' : 'BUY';
    expect(ask({ offers: [anOffer({ side, pricing })] }, { direction })).toEqual(expected);
  });

  test('is an error where the market’s rate is none', () => {
    expect(() => ask({}, { referenceRate: '1e3' })).toThrow('the reference rate is not a rate: 1e3');
  });

  test('is the lowest price on the way in and the highest on the way out', () => {
    const offers = (['SELL', 'BUY'] as const).flatMap((side) =>
      ['0.79', '0.82', '0.8'].map((price) =>
        anOffer({ offerId: `${side} ${price}`, side, pricing: { type: 'fixed', price } }),
      ),
    );
    expect(ask({ offers })?.rate).toBe('0.79');
    expect(ask({ offers }, { direction: 'offramp' })?.rate).toBe('0.82');
  });

  test.each<[string, Partial<OfferRows>]>([
    ['the offer is not authorized', { offers: [anOffer({ authorized: false })] }],
    ['the vendor is offline', { vendors: [aVendor({ online: false })] }],
    ['the vendor is inactive', { vendors: [aVendor({ active: false })] }],
    ['the offer is for elsewhere', { offers: [anOffer({ countries: ['FR'] })] }],
    ['the balance does not cover the smallest trade', { offers: [anOffer({ availableBalance: '9.99' })] }],
    ['there is no offer', { offers: [] }],
  ])('is not there where %s', (_, rows) => {
    expect(ask(rows)).toBeUndefined();
  });

  test('is not there where no method is live in the country', () => {
    const rail = railsOf({ 'iban-sepa': { methods: { n26: ['FR'] } } });
    expect(ask({}, { rail })).toBeUndefined();
    expect(ask({}, { country: 'FR', rail })).toBeDefined();
  });
});

test('over random markets it is the best that any amount would be matched at, and absent where none would', () => {
  let found = 0;
  const country = fc.constantFrom('DE', 'FR', 'ES');
  const direction = fc.constantFrom('onramp' as const, 'offramp' as const);
  fc.assert(
    fc.property(rowsArb, contextArb, country, direction, (rows, world, where, way) => {
      const { rail, referenceRate = '100' } = world.context;
      const book = OfferBook.of(rows);
      const best = bestIn(book, { country: where, direction: way, referenceRate, rail });
      // Whatever can be served at all can be served at one of the points where something begins or ends.
      const ends = [
        ...rows.offers.flatMap(({ minAmount, maxAmount }) => [minAmount, maxAmount]),
        ...Object.values(world.rails).flatMap(({ limits }) => Object.values(limits ?? {})),
      ];
      const amounts = new Set(ends.flatMap((end) => (end === null ? [] : [cents(end)])).concat(1n));
      const context = { rail, referenceRate, platformFee: percent('0') };
      const rates = [...amounts].flatMap((amount) => {
        if (amount === 0n) return [];
        const outcome = matchOffer(
          book,
          {
            direction: way,
            crypto: { code: 'USDC', decimals: 6 },
            fiat: EUR,
            anchor: 'fiat',
            amount,
            partnerFee: percent('0'),
            country: where,
            providerScope: 'all',
          },
          context,
        );
        return outcome.ok ? [outcome.match.rate] : [];
      });
      const sorted = rates
        .map(Number)
        .sort((left, right) => (way === 'onramp' ? left - right : right - left));
      expect(best === undefined ? undefined : Number(best.rate)).toBe(sorted[0]);
      if (best !== undefined) found += 1;
    }),
    { numRuns: 500 },
  );
  expect(found).toBeGreaterThan(100);
});

function cents(text: string): bigint {
  const decimal = parseDecimal(text);
  if (!decimal.ok) throw new Error(text);
  return (decimal.value.unscaled * 100n) / 10n ** BigInt(decimal.value.scale);
}
