import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compare,
  decimalsFor,
  deviatesBeyond,
  divide,
  expandExponent,
  formatRate,
  invert,
  isPlausible,
  median,
  parseRate,
  type Ratio,
} from './ratio.ts';

const positive = fc.bigInt({ min: 1n, max: 10n ** 24n });
const ratio = fc.record({ num: positive, den: positive });

describe('parseRate', () => {
  it.each([
    '0',
    '0.000',
    '-1',
    '+1',
    '1e3',
    'NaN',
    'Infinity',
    '',
    ' 1',
    '1 ',
    '.5',
    '1.',
    '1,5',
    '0x10',
    '١',
    '1'.repeat(41),
  ])('refuses %j', (text) => {
    expect(parseRate(text)).toBeUndefined();
  });

  it('reads more digits than a double holds', () => {
    expect(parseRate('129.00000000000000000001')).toEqual({ num: 12900000000000000000001n, den: 10n ** 20n });
  });
});

describe('expandExponent', () => {
  it.each([
    ['6.1e-05', '0.000061'],
    ['1.6375e4', '16375'],
    ['1.6375E+2', '163.75'],
    ['5e0', '5'],
    ['12e-1', '1.2'],
    ['1540.2', '1540.2'],
    ['-1e5', '-1e5'],
    ['1e999', '1e999'],
  ])('rewrites %s as %s', (text, expected) => {
    expect(expandExponent(text)).toBe(expected);
  });
});

describe('formatRate', () => {
  it.each([
    ['1.0705', '1.0705'],
    ['395.10', '395.1'],
    ['17487.21', '17487.21'],
    ['1000', '1000'],
    ['0.00006', '0.00006'],
    ['123456789012345678', '123456789012345678'],
  ])('writes %s as %s', (text, expected) => {
    expect(formatRate(parseRate(text)!)).toBe(expected);
  });

  it('rounds half to even at the last digit shown', () => {
    expect(formatRate({ num: 25n, den: 1000n }, 1)).toBe('0.02');
    expect(formatRate({ num: 35n, den: 1000n }, 1)).toBe('0.04');
    expect(formatRate({ num: 9_999n, den: 1000n }, 3)).toBe('10');
  });

  it('is within half a unit of the last of 15 significant digits, for any ratio', () => {
    fc.assert(
      fc.property(ratio, (rate) => {
        const printed = parseRate(formatRate(rate))!;
        const scale = 10n ** BigInt(decimalsFor(rate));
        const gap = printed.num * rate.den - rate.num * printed.den;
        expect(2n * (gap < 0n ? -gap : gap) * scale).toBeLessThanOrEqual(rate.den * printed.den);
      }),
      { numRuns: 2_000 },
    );
  });

  it('round-trips every text of at most 15 significant digits', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }),
        fc.integer({ min: 0, max: 20 }),
        (digits, decimals) => {
          const rate = { num: digits, den: 10n ** BigInt(decimals) };
          expect(compare(parseRate(formatRate(rate))!, rate)).toBe(0);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('divide', () => {
  it('agrees with its name', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), positive, (num, den) => {
        const floor = divide(num, den, 'floor');
        const ceil = divide(num, den, 'ceil');
        const near = divide(num, den, 'half-even');
        expect(floor * den <= num && num < (floor + 1n) * den).toBe(true);
        expect(ceil - floor).toBe(num % den === 0n ? 0n : 1n);
        const gap = near * den - num;
        expect(2n * (gap < 0n ? -gap : gap) <= den).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('median', () => {
  it('lies between the least and the greatest value and has as many above as below', () => {
    fc.assert(
      fc.property(fc.array(ratio, { minLength: 1, maxLength: 9 }), (values) => {
        const middle = median(values);
        const below = values.filter((value) => compare(value, middle) < 0).length;
        const above = values.filter((value) => compare(value, middle) > 0).length;
        expect(below * 2).toBeLessThanOrEqual(values.length);
        expect(above * 2).toBeLessThanOrEqual(values.length);
        expect(below).toBeLessThan(values.length);
        expect(above).toBeLessThan(values.length);
      }),
      { numRuns: 1_000 },
    );
  });

  it('of none is refused', () => {
    expect(() => median([])).toThrow(RangeError);
  });
});

describe('deviatesBeyond', () => {
  it('is exact at the limit', () => {
    const reference: Ratio = { num: 1n, den: 1n };
    expect(deviatesBeyond({ num: 105n, den: 100n }, reference, 50_000n)).toBe(false);
    expect(deviatesBeyond({ num: 1_050_001n, den: 1_000_000n }, reference, 50_000n)).toBe(true);
    expect(deviatesBeyond({ num: 95n, den: 100n }, reference, 50_000n)).toBe(false);
    expect(deviatesBeyond({ num: 949_999n, den: 1_000_000n }, reference, 50_000n)).toBe(true);
  });
});

describe('isPlausible', () => {
  it('draws the line at a trillion, both ways', () => {
    expect(isPlausible({ num: 10n ** 12n, den: 1n })).toBe(true);
    expect(isPlausible({ num: 10n ** 12n + 1n, den: 1n })).toBe(false);
    expect(isPlausible(invert({ num: 10n ** 12n, den: 1n }))).toBe(true);
    expect(isPlausible(invert({ num: 10n ** 12n + 1n, den: 1n }))).toBe(false);
  });
});

describe('the sources of this folder', () => {
  const files = readdirSync(new URL('.', import.meta.url)).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );

  it.each(files)('%s neither makes a float of a text nor reads the time itself', (name) => {
    const text = readFileSync(new URL(name, import.meta.url), 'utf8');
    expect(text).not.toMatch(/parseFloat|\bNumber\(|\.toFixed\(|\.toPrecision\(/);
    expect(text).not.toMatch(/Date\.now|new Date\(\)|process\.env/);
  });
});
