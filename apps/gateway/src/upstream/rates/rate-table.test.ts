import { RateBook, type RateReading } from '@causeway/currencies';
import { expect, test } from 'vitest';
import { parsePublishedLegs, toPublishedLegs } from './rate-publisher.ts';
import { RateTable } from './rate-table.ts';

const AT = Date.UTC(2026, 0, 31, 12);

function bookWith(quotes: readonly (readonly [base: string, quote: string, rate: string])[]): RateBook {
  const book = new RateBook({ clock: { now: () => AT } });
  const observed = quotes.map(([base, quote, rate]) => ({ base, quote, rate, observedAt: AT - 500 }));
  book.observe({ name: 'one', kind: 'ticker' }, observed);
  book.observe({ name: 'two', kind: 'ticker' }, observed);
  return book;
}

function tableOf(book: RateBook): RateTable {
  const legs = parsePublishedLegs(JSON.parse(JSON.stringify(toPublishedLegs(book.snapshot().rates))));
  if (legs === undefined) throw new Error('the legs did not survive');
  return new RateTable({ publishedAt: AT, legs });
}

const QUOTES = [
  ['USDC', 'USD', '1.0001'],
  ['USD', 'KES', '129.25'],
  ['EUR', 'USD', '1.08'],
  ['USD', 'GHS', '16.02'],
] as const;

test('a published book reads like the book itself, crossings included', () => {
  const book = bookWith(QUOTES);
  const table = tableOf(book);
  for (const base of ['USDC', 'USD', 'KES', 'EUR', 'GHS']) {
    for (const quote of ['USDC', 'USD', 'KES', 'EUR', 'GHS']) {
      const [read, meant] = [table.rate(base, quote), book.rate(base, quote)];
      expect(read).toMatchObject({ status: 'fresh', base, quote, sources: meant.sources });
      // Legs are published with 15 digits, so a crossing may differ in the last of them.
      expect(read.rate?.slice(0, 13)).toBe(meant.rate?.slice(0, 13));
    }
  }
  expect(table.requireRate('USDC', 'KES')).toMatchObject({ ok: true, rate: { asOf: AT - 500 } });
});

test.each(['stale', 'guarded'] as const)('a pair that needs a %s leg is refused', (status) => {
  const legs: RateReading[] = [
    { base: 'USDC', quote: 'USD', rate: '1', asOf: AT, sources: ['one'], status: 'fresh' },
    { base: 'USD', quote: 'KES', rate: '129', asOf: AT - 90_000, sources: [], status },
  ];
  const table = new RateTable({ publishedAt: AT, legs });
  expect(table.requireRate('USDC', 'USD').ok).toBe(true);
  expect(table.requireRate('USDC', 'KES')).toMatchObject({ ok: false, refusal: { code: 'RATE_STALE' } });
  expect(table.rate('USDC', 'KES')).toMatchObject({ rate: '129', status: 'stale' });
});

test('a pair without a quote is refused as missing', () => {
  expect(tableOf(bookWith(QUOTES)).requireRate('USDC', 'NGN')).toMatchObject({
    ok: false,
    refusal: { code: 'RATE_MISSING' },
  });
});

test('an outdated table shows its values and cannot be priced on', () => {
  const outdated = tableOf(bookWith(QUOTES)).outdated();
  expect(outdated.rate('USDC', 'USD')).toMatchObject({ rate: '1.0001', status: 'stale' });
  expect(outdated.legs.every(({ status }) => status === 'stale')).toBe(true);
  expect(outdated.requireRate('USDC', 'KES')).toMatchObject({ ok: false, refusal: { code: 'RATE_STALE' } });
  expect(outdated.requireRate('USDC', 'NGN')).toMatchObject({ ok: false, refusal: { code: 'RATE_MISSING' } });
  expect(outdated.outdated()).toBe(outdated);
});

test.each([
  ['no list', {}],
  [
    'a rate that is a number',
    [{ base: 'USD', quote: 'KES', rate: 1, as_of: 1, sources: [], status: 'fresh' }],
  ],
  ['a negative rate', [{ base: 'USD', quote: 'KES', rate: '-1', as_of: 1, sources: [], status: 'fresh' }]],
  ['an unknown status', [{ base: 'USD', quote: 'KES', rate: '1', as_of: 1, sources: [], status: 'good' }]],
  [
    'a code in lower case',
    [{ base: 'usd', quote: 'KES', rate: '1', as_of: 1, sources: [], status: 'fresh' }],
  ],
])('legs with %s are not believed', (_name, value) => {
  expect(parsePublishedLegs(value)).toBeUndefined();
});
