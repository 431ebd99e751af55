import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { convert, convertAtomic } from './convert.ts';
import { RateBook } from './rate-book.ts';
import { parseRate } from './ratio.ts';

const NOW = Date.UTC(2026, 10, 10);
const USDC = { code: 'USDC', decimals: 6 };
const USDC_BNB = { code: 'USDC', decimals: 18 };
const NGN = { code: 'NGN', decimals: 2 };
const JPY = { code: 'JPY', decimals: 0 };
const KWD = { code: 'KWD', decimals: 3 };

function bookOf(rates: Record<string, string>): RateBook {
  const book = new RateBook({ clock: { now: () => NOW } });
  const quotes = Object.entries(rates).map(([pair, rate]) => {
    const [base = '', quote = ''] = pair.split('/');
    return { base, quote, rate, observedAt: NOW };
  });
  book.observe({ name: 's', kind: 'ticker' }, quotes);
  return book;
}

describe('convert', () => {
  const book = bookOf({ 'USDC/USD': '0.9999', 'USD/NGN': '1450.5', 'USD/JPY': '154.25', 'USD/KWD': '0.307' });

  it.each([
    ['100 USDC in NGN', 100_000_000n, USDC, NGN, 'floor', 14_503_549n],
    ['100 USDC in NGN', 100_000_000n, USDC, NGN, 'ceil', 14_503_550n],
    ['100 USDC with 18 decimals in NGN', 100n * 10n ** 18n, USDC_BNB, NGN, 'half-even', 14_503_550n],
    ['1 USDC in JPY', 1_000_000n, USDC, JPY, 'floor', 154n],
    ['1 USDC in KWD', 1_000_000n, USDC, KWD, 'ceil', 307n],
    ['an atom of USDC in JPY', 1n, USDC, JPY, 'floor', 0n],
    ['an atom of USDC in JPY', 1n, USDC, JPY, 'ceil', 1n],
    ['nothing', 0n, USDC, NGN, 'ceil', 0n],
  ] as const)('%s: %s of %o to %o, %s, is %s', (_what, atomic, asset, to, rounding, expected) => {
    expect(convert(book, { atomic, asset }, to, rounding)).toMatchObject({
      ok: true,
      amount: { atomic: expected, asset: to },
    });
  });

  it('refuses where there is no rate', () => {
    const outcome = convert(book, { atomic: 1n, asset: USDC }, { code: 'ZMW', decimals: 2 }, 'floor');
    expect(outcome).toMatchObject({
      ok: false,
      refusal: { code: 'RATE_MISSING', base: 'USDC', quote: 'ZMW' },
    });
  });

  it('is the published rate times the amount, rounded once as named', () => {
    const decimals = fc.constantFrom(0, 2, 3, 6, 18);
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        decimals,
        decimals,
        fc.integer({ min: 1, max: 99_999_999 }),
        (atomic, fromDecimals, toDecimals, milliRate) => {
          const rate = `${Math.floor(milliRate / 1000)}.${`${milliRate % 1000}`.padStart(3, '0')}`;
          const amount = { atomic, asset: { code: 'AAA', decimals: fromDecimals } };
          const { num, den } = parseRate(rate)!;
          const top = atomic * num * 10n ** BigInt(toDecimals);
          const bottom = den * 10n ** BigInt(fromDecimals);
          const floor = convertAtomic(amount, toDecimals, rate, 'floor');
          const ceil = convertAtomic(amount, toDecimals, rate, 'ceil');
          expect(floor * bottom <= top && top < (floor + 1n) * bottom).toBe(true);
          expect(ceil * bottom >= top && (ceil - 1n) * bottom < top).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('refuses negative amounts and texts that are no rate', () => {
    expect(() => convertAtomic({ atomic: -1n, asset: USDC }, 2, '1', 'floor')).toThrow(RangeError);
    expect(() => convertAtomic({ atomic: 1n, asset: USDC }, 2, '0', 'floor')).toThrow(RangeError);
  });
});
