import { expect, test } from 'vitest';
import { compareReputation } from './offer.ts';

const of = (completedOrders: number, failedOrders: number, disputedOrders: number) => ({
  completedOrders,
  failedOrders,
  disputedOrders,
});

test.each([
  ['more failures are worse', of(10, 1, 0), of(10, 2, 0)],
  ['more disputes are worse', of(10, 1, 0), of(10, 1, 1)],
  ['a long good record beats a single lucky order', of(500, 3, 0), of(1, 0, 0)],
  ['a newcomer beats a bad record', of(0, 0, 0), of(3, 9, 0)],
])('%s', (_, better, worse) => {
  expect(compareReputation(better, worse)).toBe(1);
  expect(compareReputation(worse, better)).toBe(-1);
});

test('equal shares are equal', () => {
  expect(compareReputation(of(1, 1, 0), of(3, 2, 1))).toBe(0);
});
