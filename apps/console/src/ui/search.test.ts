import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAmount } from './amount.ts';
import { listOfSearch, parseSearch, type Search, stringifySearch } from './search.ts';

/** What somebody may type into a filter, or a program may have put into an address. */
const text = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }).map((given) => given.toWellFormed()),
  fc.constantFrom('100%41', '%', 'a+b c', 'a&b=c#d?e', '__proto__', '0', '٠', 'null', ' '),
);
const name = fc.oneof(
  fc.stringMatching(/^[a-z_]{1,12}$/),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'status', 'q'),
);
const search = fc
  .array(fc.tuple(name, fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 4 }))), { maxLength: 6 })
  .map((pairs): Search => {
    const filters: Record<string, string | string[]> = Object.create(null);
    for (const [one, value] of pairs) filters[one] = value;
    return filters;
  });

/** As lists: a list of one and the value itself are one filter. */
const filtersOf = (given: Search) =>
  new Map(Object.keys(given).map((one) => [one, listOfSearch(given[one])] as const));

describe('filters in the address', () => {
  it('come back as they were set, whatever they are', () => {
    fc.assert(
      fc.property(search, (given) => {
        expect(filtersOf(parseSearch(stringifySearch(given)))).toEqual(filtersOf(given));
      }),
      { numRuns: 1_000 },
    );
  });

  it('are the same address after any number of round trips', () => {
    fc.assert(
      fc.property(search, (given) => {
        const once = stringifySearch(given);
        expect(stringifySearch(parseSearch(once))).toBe(once);
      }),
    );
  });

  it('leave out what is not set', () => {
    expect(stringifySearch({ status: undefined, q: '', from: [] })).toBe('');
    expect(stringifySearch({ status: ['completed', 'failed'], q: 'a b' })).toBe(
      '?status=completed&status=failed&q=a+b',
    );
  });
});

describe('amounts', () => {
  const decimal = fc
    .tuple(fc.boolean(), fc.stringMatching(/^(0|[1-9]\d{0,40})(\.\d{1,30})?$/))
    .map(([isNegative, amount]) => (isNegative ? `-${amount}` : amount));

  it('lose no digit, no sign and no zero', () => {
    fc.assert(
      fc.property(decimal, (amount) => {
        expect(
          formatAmount(amount)
            .replaceAll(/[^\d.−]/gu, '')
            .replace('−', '-'),
        ).toBe(amount);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are set apart in groups of three before the point, and nowhere after it', () => {
    fc.assert(
      fc.property(decimal, (amount) => {
        const [whole = '', fraction] = formatAmount(amount).split('.');
        expect(whole.replace('−', '')).toMatch(/^\d{1,3}(\D\d{3})*$/u);
        expect(fraction).toBe(amount.split('.')[1]);
      }),
    );
  });

  it('stay as they are where they are none', () => {
    fc.assert(
      fc.property(fc.string(), (given) => {
        fc.pre(!/^-?\d+(\.\d+)?$/.test(given));
        expect(formatAmount(given)).toBe(given);
      }),
    );
  });
});
