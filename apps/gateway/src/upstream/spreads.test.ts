import { formatPercent } from '@causeway/protocol';
import { expect, test } from 'vitest';
import { loadSpreadRecords, SpreadTable } from './spreads.ts';

const record = (id: string, data: Record<string, unknown>) => ({ kind: 'spreads', id, data });
const fallback = record('default', { currency: 'default', onrampPct: '1', offrampPct: '2' });

test('a currency without a spread of its own takes the default', () => {
  const table = new SpreadTable([
    fallback,
    record('NGN', { currency: 'NGN', onrampPct: '1.5', offrampPct: '1.25' }),
  ]);
  expect(formatPercent(table.of('NGN').offramp)).toBe('1.25');
  expect(formatPercent(table.of('KES').offramp)).toBe('2');
});

test('the spreads that come with the code can be read', () => {
  expect(formatPercent(new SpreadTable(loadSpreadRecords()).of('USD').onramp)).toBe('0.3');
});

test.each([
  ['a spread of the whole', { currency: 'NGN', onrampPct: '100', offrampPct: '1' }],
  ['a negative spread', { currency: 'NGN', onrampPct: '-1', offrampPct: '1' }],
  ['seven decimals', { currency: 'NGN', onrampPct: '0.1234567', offrampPct: '1' }],
  ['a number', { currency: 'NGN', onrampPct: 1, offrampPct: '1' }],
  ['a missing side', { currency: 'NGN', onrampPct: '1' }],
  ['another field', { currency: 'NGN', onrampPct: '1', offrampPct: '1', note: 'x' }],
])('%s is refused by name', (_name, data) => {
  expect(() => new SpreadTable([fallback, record('NGN', data)])).toThrow(/spreads\/NGN/);
});

test('there is always a default', () => {
  expect(() => new SpreadTable([])).toThrow(/default/);
});
