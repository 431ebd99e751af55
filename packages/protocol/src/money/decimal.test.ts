import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatFixed,
  formatShortest,
  MAX_FRACTION_DIGITS,
  MAX_INTEGER_DIGITS,
  parseDecimal,
  parseSignedDecimal,
  powerOfTen,
} from './decimal.ts';

describe('parseDecimal accepts one spelling per value', () => {
  test.each([
    ['0', 0n, 0],
    ['0.5', 5n, 1],
    ['0.50', 50n, 2],
    ['10', 10n, 0],
    ['1234.000001', 1234000001n, 6],
    ['9'.repeat(MAX_INTEGER_DIGITS), 10n ** 40n - 1n, 0],
    [`0.${'9'.repeat(MAX_FRACTION_DIGITS)}`, 10n ** 30n - 1n, 30],
  ])('%s', (text, unscaled, scale) => {
    expect(parseDecimal(text)).toEqual({ ok: true, value: { unscaled, scale } });
  });
});

describe('parseDecimal refuses with a reason', () => {
  test.each([
    ['', 'empty'],
    ['-1', 'negative'],
    ['-0.5', 'negative'],
    ['-0', 'malformed'],
    ['-0.00', 'malformed'],
    ['+1', 'malformed'],
    ['1e3', 'malformed'],
    ['1E3', 'malformed'],
    ['1e-3', 'malformed'],
    [' 1', 'malformed'],
    ['1 ', 'malformed'],
    ['1\n', 'malformed'],
    ['\t1', 'malformed'],
    [' ', 'malformed'],
    ['\u00a01', 'malformed'],
    ['1 000', 'malformed'],
    ['1,000', 'malformed'],
    ['1_000', 'malformed'],
    ['.', 'malformed'],
    ['1.', 'malformed'],
    ['.5', 'malformed'],
    ['-', 'malformed'],
    ['--1', 'malformed'],
    ['1.2.3', 'malformed'],
    ['007', 'malformed'],
    ['00', 'malformed'],
    ['00.5', 'malformed'],
    ['0x10', 'malformed'],
    ['10n', 'malformed'],
    ['NaN', 'malformed'],
    ['Infinity', 'malformed'],
    ['١٢٣', 'malformed'],
    ['１２', 'malformed'],
    ['1٫5', 'malformed'],
    ['−1', 'malformed'],
    ['1\u200b', 'malformed'],
    ['1\u0000', 'malformed'],
    ['1'.repeat(MAX_INTEGER_DIGITS + 1), 'too_many_digits'],
    [`0.${'1'.repeat(MAX_FRACTION_DIGITS + 1)}`, 'too_many_digits'],
    [1, 'not_a_string'],
    [null, 'not_a_string'],
    [undefined, 'not_a_string'],
    [['1'], 'not_a_string'],
    [{ toString: () => '1' }, 'not_a_string'],
  ])('%j', (text, reason) => {
    expect(parseDecimal(text)).toEqual({ ok: false, reason });
  });
});

test('very long strings and bigints are refused like any other misfit', () => {
  expect(parseDecimal('1'.repeat(100_000))).toEqual({ ok: false, reason: 'too_many_digits' });
  expect(parseDecimal('x'.repeat(100_000))).toEqual({ ok: false, reason: 'malformed' });
  expect(parseDecimal(1n)).toEqual({ ok: false, reason: 'not_a_string' });
});

test('only parseSignedDecimal reads negatives', () => {
  expect(parseSignedDecimal('-12.50')).toEqual({ ok: true, value: { unscaled: -1250n, scale: 2 } });
  expect(parseSignedDecimal('-0')).toEqual({ ok: false, reason: 'malformed' });
});

test.each([
  [0n, 6, '0.000000', '0'],
  [1n, 6, '0.000001', '0.000001'],
  [500000n, 6, '0.500000', '0.5'],
  [1000000n, 6, '1.000000', '1'],
  [10000000n, 6, '10.000000', '10'],
  [1250n, 2, '12.50', '12.5'],
  [-1250n, 2, '-12.50', '-12.5'],
  [-5n, 2, '-0.05', '-0.05'],
  [100n, 0, '100', '100'],
  [0n, 0, '0', '0'],
])('%s with %s decimals reads %s, or %s at the shortest', (unscaled, scale, fixed, shortest) => {
  expect([formatFixed(unscaled, scale), formatShortest(unscaled, scale)]).toEqual([fixed, shortest]);
});

const unscaledAndScale = fc.tuple(
  fc.bigInt({ min: -(10n ** 40n) + 1n, max: 10n ** 40n - 1n }),
  fc.integer({ min: 0, max: MAX_FRACTION_DIGITS }),
);

test('the fixed form reads back as exactly the same digits', () => {
  fc.assert(
    fc.property(unscaledAndScale, ([unscaled, scale]) => {
      expect(parseSignedDecimal(formatFixed(unscaled, scale))).toEqual({
        ok: true,
        value: { unscaled, scale },
      });
    }),
    { numRuns: 2000 },
  );
});

test('the shortest form reads back as the same value and no shorter spelling exists', () => {
  fc.assert(
    fc.property(unscaledAndScale, ([unscaled, scale]) => {
      const text = formatShortest(unscaled, scale);
      const read = parseSignedDecimal(text);
      if (!read.ok) throw new Error(read.reason);
      expect(read.value.unscaled * 10n ** BigInt(scale - read.value.scale)).toBe(unscaled);
      expect(read.value.scale > 0 && text.endsWith('0')).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test('whatever string is sent, the answer is a value that formats back to it or a reason', () => {
  const nearlyDecimal = fc.string({ unit: fc.constantFrom(...'0123456789.-+eE ,٣'), maxLength: 90 });
  fc.assert(
    fc.property(fc.oneof(nearlyDecimal, fc.string()), (text) => {
      const read = parseSignedDecimal(text);
      if (read.ok) expect(formatFixed(read.value.unscaled, read.value.scale)).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

describe('the caps', () => {
  const integer = '9'.repeat(MAX_INTEGER_DIGITS);
  const fraction = '9'.repeat(MAX_FRACTION_DIGITS);

  test('let the longest number of either sign through', () => {
    const longest = { unscaled: BigInt(integer + fraction), scale: MAX_FRACTION_DIGITS };
    expect(parseDecimal(`${integer}.${fraction}`)).toEqual({ ok: true, value: longest });
    expect(parseSignedDecimal(`-${integer}.${fraction}`)).toEqual({
      ok: true,
      value: { ...longest, unscaled: -longest.unscaled },
    });
  });

  test.each([
    ['zeros without end', '0'.repeat(80), 'too_many_digits'],
    ['digits and dots without end', '1.'.repeat(40), 'too_many_digits'],
    ['a letter before them', `x${'1'.repeat(80)}`, 'malformed'],
    ['a letter behind them', `${'1'.repeat(80)}x`, 'malformed'],
  ])('refuse %s by name, without reading it', (_case, text, reason) => {
    expect(parseDecimal(text)).toEqual({ ok: false, reason });
  });

  test('of powers of ten are 0 and 128, whole', () => {
    expect([powerOfTen(0), powerOfTen(128)]).toEqual([1n, 10n ** 128n]);
    for (const exponent of [-1, 129, 1.5]) {
      expect(() => powerOfTen(exponent)).toThrow(
        `exponent must be an integer within 0..128, got ${exponent}`,
      );
    }
  });
});
