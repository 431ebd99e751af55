import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareAmounts, fieldText, parseAmount, priceChange, withoutTrailingZeros } from './amounts.ts';

const parsed = (typed: string, locale = 'en', decimals = 2) => {
  const answer = parseAmount(typed, locale, decimals);
  return answer.kind === 'amount' ? answer.amount : answer.kind;
};

describe('an amount is read as its language writes it', () => {
  test.each([
    ['en', '1,500', '1500'],
    ['en', '1,500.25', '1500.25'],
    ['en', '1500.2', '1500.2'],
    ['en', '1,5', '1.5'],
    ['en', '0,500', '0.50'],
    ['es', '1.500', '1500'],
    ['es', '1.500,25', '1500.25'],
    ['es', '1,500', '1.50'],
    ['es', '1500.25', '1500.25'],
    ['fr', '1 500,25', '1500.25'],
    ['fr', '1\u202f500,25', '1500.25'],
    ['pt', '1.234.567', '1234567'],
    ['hi', '12,34,567.5', '1234567.5'],
    ['hi', '१२३.४५', '123.45'],
    ['ar', '١٬٥٠٠٫٢٥', '1500.25'],
    ['ar', '١٢٣٫٤', '123.4'],
    ['zh', '１２３．４'.replace('．', '.'), '123.4'],
    ['sw', "1'000.5", '1000.5'],
    ['en', '12.', '12'],
    ['en', '.5', '0.5'],
    ['en', '007', '7'],
    ['en', '10.500', '10.50'],
  ])('%s: %s', (locale, typed, amount) => {
    expect(parsed(typed, locale)).toBe(amount);
  });

  test.each([
    ['', 'empty'],
    ['   ', 'empty'],
    ['0', 'zero'],
    ['0.00', 'zero'],
    ['abc', 'format'],
    ['1e5', 'format'],
    ['-5', 'format'],
    ['1.2.3,4,5', 'format'],
    ['1,23,45', 'format'],
    ['.', 'format'],
    ['1.234', 'decimals'],
  ])('%s is %s', (typed, kind) => {
    expect(parsed(typed)).toBe(kind);
  });

  test('a currency without decimals takes none, zeros aside', () => {
    expect(parsed('100.5', 'en', 0)).toBe('decimals');
    expect(parsed('100.0', 'en', 0)).toBe('100');
  });

  test('what a field shows is read back as the same amount, in every language', () => {
    const amounts = fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 15n }), fc.constantFrom(0, 2, 6))
      .map(([units, decimals]) => {
        const digits = units.toString().padStart(decimals + 1, '0');
        return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
      });
    fc.assert(
      fc.property(
        amounts,
        fc.constantFrom('en', 'fr', 'es', 'pt', 'ar', 'hi', 'zh', 'sw'),
        (amount, locale) => {
          const again = parsed(fieldText(amount, locale), locale, 6);
          expect(compareAmounts(again, amount)).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });
});

test('zeros that say nothing are left out, digits never', () => {
  expect(withoutTrailingZeros('55.500000')).toBe('55.50');
  expect(withoutTrailingZeros('55.123450')).toBe('55.12345');
  expect(withoutTrailingZeros('100')).toBe('100');
});

test('amounts are compared as numbers of any size', () => {
  expect(compareAmounts('9.99', '10')).toBe(-1);
  expect(compareAmounts('10.00', '10')).toBe(0);
  expect(compareAmounts('90071992547409930.000001', '90071992547409930.000000')).toBe(1);
});

test('a price is worse where less arrives or more is paid', () => {
  const before = { pay_amount: '100.00', receive_amount: '114.50' };
  expect(priceChange(before, null)).toBe('first');
  expect(priceChange({ ...before, receive_amount: '114.500000' }, before)).toBe('same');
  expect(priceChange({ ...before, receive_amount: '114.499999' }, before)).toBe('worse');
  expect(priceChange({ ...before, receive_amount: '114.6' }, before)).toBe('better');
  expect(priceChange({ ...before, pay_amount: '100.01' }, before)).toBe('worse');
  expect(priceChange({ ...before, pay_amount: '99.99' }, before)).toBe('better');
});
