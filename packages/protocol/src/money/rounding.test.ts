import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ceilDiv, floorDiv } from './decimal.ts';

const dividend = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
const divisor = fc.bigInt({ min: 1n, max: 10n ** 30n });

test('floorDiv is the largest integer not above the quotient, for negatives too', () => {
  fc.assert(
    fc.property(dividend, divisor, (n, d) => {
      const q = floorDiv(n, d);
      expect(q * d <= n && (q + 1n) * d > n).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('ceilDiv is the smallest integer not below the quotient, for negatives too', () => {
  fc.assert(
    fc.property(dividend, divisor, (n, d) => {
      const q = ceilDiv(n, d);
      expect(q * d >= n && (q - 1n) * d < n).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  [-7n, 2n, -4n, -3n],
  [7n, 2n, 3n, 4n],
  [-8n, 2n, -4n, -4n],
  [0n, 5n, 0n, 0n],
  [1n, 5n, 0n, 1n],
  [-1n, 5n, -1n, 0n],
])('%s over %s is floored to %s and ceiled to %s', (n, d, floored, ceiled) => {
  expect([floorDiv(n, d), ceilDiv(n, d)]).toEqual([floored, ceiled]);
});

test.each([0n, -1n])('a divisor of %s is a programming error', (d) => {
  expect(() => floorDiv(1n, d)).toThrow('floorDiv needs a positive divisor');
  expect(() => ceilDiv(1n, d)).toThrow('ceilDiv needs a positive divisor');
});
