import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addAmounts,
  compareAmounts,
  formatAmount,
  formatAmountShortest,
  parseAmount,
  parsePositiveAmount,
  parseSignedAmount,
  subtractAmounts,
} from './amount.ts';

const JPY = { code: 'JPY', decimals: 0 };
const USD = { code: 'USD', decimals: 2 };
const KWD = { code: 'KWD', decimals: 3 };
const USDC = { code: 'USDC', decimals: 6 };
const USDC_ON_BNB = { code: 'USDC', decimals: 18 };

const asset = fc.constantFrom(JPY, USD, KWD, USDC, USDC_ON_BNB);

describe('amounts are written with the decimals of their asset', () => {
  test.each([
    ['0', USDC, '0.000000', '0'],
    ['1', USDC, '1.000000', '1'],
    ['0.5', USDC, '0.500000', '0.5'],
    ['1000', JPY, '1000', '1000'],
    ['10.5', USD, '10.50', '10.5'],
    ['1.25', KWD, '1.250', '1.25'],
    ['0.000000000000000001', USDC_ON_BNB, '0.000000000000000001', '0.000000000000000001'],
  ])('%s %j', (text, of, fixed, shortest) => {
    const amount = parseAmount(text, of);
    if (!amount.ok) throw new Error(amount.reason);
    expect([formatAmount(amount.value), formatAmountShortest(amount.value)]).toEqual([fixed, shortest]);
  });
});

test.each([
  ['100.5', JPY],
  ['100.0', JPY],
  ['1.001', USD],
  ['1.000', USD],
  ['1.0000', KWD],
  ['0.0000001', USDC],
])('%s is refused for %j because it has more decimals, never truncated', (text, of) => {
  expect(parseAmount(text, of)).toEqual({ ok: false, reason: 'excess_precision' });
});

test('one decimal more than the asset has is always refused, whatever the digit', () => {
  fc.assert(
    fc.property(asset, fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.nat(9), (of, whole, digit) => {
      const text = `${whole}.${'0'.repeat(of.decimals)}${digit}`;
      expect(parseAmount(text, of)).toEqual({ ok: false, reason: 'excess_precision' });
    }),
    { numRuns: 1000 },
  );
});

// Proves C9 rule 4.
test('both written forms read back as the same atomic units', () => {
  fc.assert(
    fc.property(asset, fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (of, atomic) => {
      const amount = { atomic, asset: of };
      expect(parseSignedAmount(formatAmount(amount), of)).toEqual({ ok: true, value: amount });
      expect(parseSignedAmount(formatAmountShortest(amount), of)).toEqual({ ok: true, value: amount });
    }),
    { numRuns: 2000 },
  );
});

test('zero and negatives are refused where something has to move', () => {
  expect(parsePositiveAmount('0.00', USD)).toEqual({ ok: false, reason: 'not_positive' });
  expect(parsePositiveAmount('-1', USD)).toEqual({ ok: false, reason: 'negative' });
  expect(parsePositiveAmount('0.01', USD)).toEqual({ ok: true, value: { atomic: 1n, asset: USD } });
  expect(parseAmount('-1', USD)).toEqual({ ok: false, reason: 'negative' });
});

// Proves D1.4.
test('sums and differences are exact', () => {
  const left = { atomic: 10n ** 30n, asset: USDC };
  const right = { atomic: 1n, asset: USDC };
  expect(addAmounts(left, right)).toEqual({ atomic: 10n ** 30n + 1n, asset: USDC });
  expect(subtractAmounts(right, left)).toEqual({ atomic: 1n - 10n ** 30n, asset: USDC });
  expect([compareAmounts(left, right), compareAmounts(right, left), compareAmounts(left, left)]).toEqual([
    1, -1, 0,
  ]);
});

test('the same token on chains with different decimals is never added up', () => {
  const six = { atomic: 1n, asset: USDC };
  const eighteen = { atomic: 1n, asset: USDC_ON_BNB };
  for (const combine of [addAmounts, subtractAmounts, compareAmounts]) {
    expect(() => combine(six, eighteen)).toThrow('amounts of different assets: USDC/6 and USDC/18');
    expect(() => combine(six, { atomic: 1n, asset: { code: 'USDT', decimals: 6 } })).toThrow(TypeError);
  }
});
