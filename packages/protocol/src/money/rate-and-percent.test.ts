import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costExceedsBound } from './price.ts';
import { formatPercent, formatRate, parsePercent, parseRate, ZERO_PERCENT } from './rate.ts';
import { decimalToWireNumber } from './wire-number.ts';

describe('rates', () => {
  test.each([
    ['1534.275', { numerator: 1534275n, scale: 3 }, '1534.275'],
    ['1.50', { numerator: 150n, scale: 2 }, '1.5'],
    ['1', { numerator: 1n, scale: 0 }, '1'],
  ])('%s is kept as an exact ratio', (text, rate, written) => {
    expect(parseRate(text)).toEqual({ ok: true, value: rate });
    expect(formatRate(rate)).toBe(written);
  });

  test.each([
    ['0', 'not_positive'],
    ['0.000', 'not_positive'],
    ['-1', 'negative'],
    ['1e3', 'malformed'],
    [1.5, 'not_a_string'],
  ])('%j is refused as %s', (text, reason) => {
    expect(parseRate(text)).toEqual({ ok: false, reason });
  });
});

describe('percentages', () => {
  test.each([
    ['0', 0n],
    ['1', 1_000_000n],
    ['1.5', 1_500_000n],
    ['0.000001', 1n],
    ['99.999999', 99_999_999n],
    ['250', 250_000_000n],
    ['999999999.999999', 999_999_999_999_999n],
    [0, 0n],
    [-0, 0n],
    [1, 1_000_000n],
    [0.1, 100_000n],
    [0.000001, 1n],
    [99.999999, 99_999_999n],
  ])('%j is accepted', (input, millionths) => {
    expect(parsePercent(input)).toEqual({ ok: true, value: { millionths } });
  });

  // Proves D1.1.
  test.each([
    ['0.0000001', 'excess_precision'],
    ['1.0000000', 'excess_precision'],
    [0.1 + 0.2, 'excess_precision'],
    [1e-7, 'malformed'],
    [1e21, 'malformed'],
    [Number.NaN, 'malformed'],
    [Number.POSITIVE_INFINITY, 'malformed'],
    ['1e1', 'malformed'],
    ['1%', 'malformed'],
    ['', 'empty'],
    [' ', 'malformed'],
    [-1, 'negative'],
    ['-0.000001', 'negative'],
    ['1000000000', 'too_many_digits'],
    [1e9, 'too_many_digits'],
    [null, 'not_a_string_or_number'],
    [true, 'not_a_string_or_number'],
    [['1'], 'not_a_string_or_number'],
  ])('%j is refused as %s', (input, reason) => {
    expect(parsePercent(input)).toEqual({ ok: false, reason });
  });

  test('every accepted percentage survives the string and the JSON number of the wire', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), (millionths) => {
        const text = formatPercent({ millionths });
        expect(parsePercent(text)).toEqual({ ok: true, value: { millionths } });
        const overTheWire: unknown = JSON.parse(JSON.stringify(decimalToWireNumber(text)));
        expect(parsePercent(overTheWire)).toEqual({ ok: true, value: { millionths } });
      }),
      { numRuns: 2000 },
    );
  });
});

// Proves trap 11, C8 row 3.
test('the 1.20 bound lets exactly 1.20 settle and stops one atomic unit above it', () => {
  expect(costExceedsBound(120n, 100n)).toBe(false);
  expect(costExceedsBound(121n, 100n)).toBe(true);
  expect(costExceedsBound(12n * 10n ** 26n, 10n ** 27n)).toBe(false);
  expect(costExceedsBound(12n * 10n ** 26n + 1n, 10n ** 27n)).toBe(true);
  // 1.20 * 3 = 3.6: the bound is not rounded to a whole unit in either direction
  expect(costExceedsBound(3n, 3n)).toBe(false);
  expect(costExceedsBound(4n, 3n)).toBe(true);
});

test('no fee is what "0" reads as', () => {
  expect(parsePercent('0')).toEqual({ ok: true, value: ZERO_PERCENT });
  expect(formatPercent(ZERO_PERCENT)).toBe('0');
});
