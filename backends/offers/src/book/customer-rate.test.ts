import { formatRate, parseRate, type Rate } from '@causeway/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareRates, customerRate } from './customer-rate.ts';
import type { OfferSide } from './offer.ts';
import type { OfferTerms } from './offer-terms.ts';

const WHOLE = 100_000_000n;
const rate = (text: string): Rate => {
  const parsed = parseRate(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
};
const withMargin = (millionths: bigint): OfferTerms => ({
  price: { type: 'margin', millionths },
  minFiat: 0n,
  maxFiat: 1n,
  balance: 1n,
  countries: new Set(),
});
const rateOf = (millionths: bigint, side: OfferSide, reference: string) => {
  const result = customerRate(withMargin(millionths), side, rate(reference));
  if (result === undefined) throw new Error('no rate');
  return result;
};

describe('the rate from a margin', () => {
  test.each<[string, bigint, OfferSide, string, string]>([
    ['a seller adds its margin', 1_500_000n, 'SELL', '100', '101.5'],
    ['a buyer takes it off', 1_500_000n, 'BUY', '100', '98.5'],
    ['a negative margin gives', -500_000n, 'SELL', '100', '99.5'],
    ['no margin is the reference', 0n, 'BUY', '0.92', '0.92'],
    ['ten digits are kept', 1_000_000n, 'SELL', '1.234567891', '1.24691357'],
    ['a half goes to the even digit below', 0n, 'SELL', '1.0000000005', '1'],
    ['a half goes to the even digit above', 0n, 'SELL', '1.0000000015', '1.000000002'],
    ['just above a half goes up', 0n, 'SELL', '1.00000000050001', '1.000000001'],
    ['digits are significant, not decimal', 0n, 'SELL', '0.0000123456789012', '0.0000123456789'],
    ['rounding may carry', 0n, 'SELL', '9.99999999999', '10'],
    ['whole digits are never rounded', 0n, 'SELL', '123456789012.7', '123456789013'],
  ])('%s', (_, millionths, side, reference, expected) => {
    expect(formatRate(rateOf(millionths, side, reference))).toBe(expected);
  });

  const referenceArb = fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 14 }))
    .map(([numerator, scale]) => formatRate({ numerator, scale }));
  const marginArb = fc.bigInt({ min: 1n - WHOLE, max: WHOLE - 1n });
  const sideArb = fc.constantFrom<OfferSide>('SELL', 'BUY');

  test('is off the exact product by at most half of the tenth digit', () => {
    fc.assert(
      fc.property(referenceArb, marginArb, sideArb, (reference, millionths, side) => {
        const exact = rate(reference);
        const share = side === 'SELL' ? WHOLE + millionths : WHOLE - millionths;
        const { numerator, scale } = rateOf(millionths, side, reference);
        // |numerator/10^scale - exact| <= exact * 5e-10, over a common denominator.
        const left = numerator * 10n ** BigInt(exact.scale) * WHOLE;
        const right = exact.numerator * share * 10n ** BigInt(scale);
        const gap = left > right ? left - right : right - left;
        expect(gap * 10n ** 10n <= right * 5n).toBe(true);
        expect(numerator > 0n).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('keeps the order of margins, and different margins apart', () => {
    const nearby = marginArb.chain((first) =>
      fc.tuple(
        fc.constant(first),
        fc.bigInt({ min: 1n, max: 3n }).map((step) => first + step),
      ),
    );
    fc.assert(
      fc.property(referenceArb, nearby, sideArb, (reference, [smaller, larger], side) => {
        fc.pre(larger < WHOLE);
        const order = compareRates(rateOf(smaller, side, reference), rateOf(larger, side, reference));
        expect(order).toBe(side === 'SELL' ? -1 : 1);
      }),
      { numRuns: 3_000 },
    );
  });

  test('reads back as the same rate from its text', () => {
    fc.assert(
      fc.property(referenceArb, marginArb, sideArb, (reference, millionths, side) => {
        const original = rateOf(millionths, side, reference);
        expect(compareRates(rate(formatRate(original)), original)).toBe(0);
      }),
    );
  });
});

test('a fixed price is used as the vendor wrote it, with or without a reference', () => {
  const terms: OfferTerms = { ...withMargin(0n), price: { type: 'fixed', rate: rate('1.00000000000123') } };
  expect(customerRate(terms, 'SELL', undefined)).toEqual(rate('1.00000000000123'));
  expect(customerRate(terms, 'BUY', rate('5'))).toEqual(rate('1.00000000000123'));
  expect(customerRate(withMargin(0n), 'SELL', undefined)).toBeUndefined();
});
