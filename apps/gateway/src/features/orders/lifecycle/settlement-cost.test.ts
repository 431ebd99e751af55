import { expect, test } from 'vitest';
import { isBeyondBound } from './postings.ts';

// Proves trap 11.
test.each([
  ['0.9', '0.75', false],
  ['0.9', '0.7500000000', false],
  ['0.9', '0.7499999999', true],
  ['0.9000000001', '0.75', true],
  ['0.9', '1.1', false],
  ['1500', '1250', false],
  ['1500', '1249.99', true],
])('an order at %s is beyond the 1.20 bound when the market is at %s: %s', (order, market, beyond) => {
  expect(isBeyondBound(order, market)).toBe(beyond);
});
