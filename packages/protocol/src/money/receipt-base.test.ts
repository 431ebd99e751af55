import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { smallestBaseForReceipt } from './receipt-base.ts';

const WHOLE = 100_000_000n;

function receiptOf(base: bigint, feeA: bigint, feeB: bigint): bigint {
  return base - (base * feeA) / WHOLE - (base * feeB) / WHOLE;
}

/** The definition itself: try every base from zero on. */
function firstBaseByTrying(receipt: bigint, feeA: bigint, feeB: bigint, upTo: bigint): bigint | null {
  for (let base = 0n; base <= upTo; base += 1n) if (receiptOf(base, feeA, feeB) === receipt) return base;
  return null;
}

/** Fees whose sum is below 100 %, biased towards sums that leave very little. */
const feePair = (leastKept: bigint) =>
  fc
    .oneof(fc.bigInt({ min: leastKept, max: WHOLE }), fc.bigInt({ min: leastKept, max: leastKept * 20n }))
    .chain((kept) =>
      fc.bigInt({ min: 0n, max: WHOLE - kept }).map((feeA): [bigint, bigint] => [feeA, WHOLE - kept - feeA]),
    );

test('the receipt may fall when the base grows, yet it never skips a value upwards', () => {
  // 20 % and 50 %: both fees rise from base 9 to base 10, so the receipt falls from 4 to 3.
  expect([9n, 10n].map((base) => receiptOf(base, 20_000_000n, 50_000_000n))).toEqual([4n, 3n]);
  fc.assert(
    fc.property(feePair(1n), fc.bigInt({ min: 0n, max: 10n ** 30n }), ([feeA, feeB], base) => {
      const step = receiptOf(base + 1n, feeA, feeB) - receiptOf(base, feeA, feeB);
      expect(step <= 1n && step >= -1n).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('for small receipts the base is the first one found by trying every base', () => {
  fc.assert(
    fc.property(feePair(2_000_000n), fc.bigInt({ min: 1n, max: 30n }), ([feeA, feeB], receipt) => {
      const expected = firstBaseByTrying(receipt, feeA, feeB, 2000n);
      expect(expected).not.toBeNull();
      expect(smallestBaseForReceipt(receipt, feeA, feeB)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('for any receipt the base is exact and no smaller base in reach is', () => {
  const receipt = fc
    .integer({ min: 0, max: 90 })
    .chain((bits) => fc.bigInt({ min: 1n, max: 1n << BigInt(bits) }));
  fc.assert(
    fc.property(feePair(500_000n), receipt, ([feeA, feeB], wanted) => {
      const base = smallestBaseForReceipt(wanted, feeA, feeB);
      if (base === null) throw new Error('a sum of fees below 100 % always has a base');
      expect(receiptOf(base, feeA, feeB)).toBe(wanted);
      // A base needs base * kept + (two fractional parts, below 2) >= wanted.
      const kept = WHOLE - feeA - feeB;
      let smaller = wanted > 2n ? ((wanted - 2n) * WHOLE) / kept : 0n;
      for (; smaller < base; smaller += 1n) expect(receiptOf(smaller, feeA, feeB) === wanted).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

describe('fees that leave next to nothing', () => {
  // Plain counters with carried remainders, all below 2^31: an independent walk over up to a hundred million bases.
  function firstBaseByWalking(receipt: number, feeA: number, feeB: number): number {
    const whole = 100_000_000;
    let [base, received, partA, partB] = [0, 0, 0, 0];
    while (received !== receipt) {
      base += 1;
      received += 1;
      partA += feeA;
      partB += feeB;
      if (partA >= whole) {
        partA -= whole;
        received -= 1;
      }
      if (partB >= whole) {
        partB -= whole;
        received -= 1;
      }
    }
    return base;
  }

  test.each([
    [2, 1_000_000, 98_999_999],
    [2, 1, 99_999_998],
    [2, 49_999_999, 50_000_000],
    [2, 0, 99_999_999],
    [3, 33_333_333, 66_666_660],
    [40, 500_000, 99_499_000],
    [7, 61_803_398, 38_196_500],
    [1000, 30_000_001, 69_990_000],
    [12, 99_000_000, 999_970],
  ])('a receipt of %s after %s and %s millionths of a percent', (receipt, feeA, feeB) => {
    const expected = BigInt(firstBaseByWalking(receipt, feeA, feeB));
    expect(smallestBaseForReceipt(BigInt(receipt), BigInt(feeA), BigInt(feeB))).toBe(expected);
    expect(smallestBaseForReceipt(BigInt(receipt), BigInt(feeB), BigInt(feeA))).toBe(expected);
  });

  test('random fees agree with the walk', () => {
    fc.assert(
      fc.property(feePair(1500n), fc.integer({ min: 1, max: 4 }), ([feeA, feeB], receipt) => {
        const expected = BigInt(firstBaseByWalking(receipt, Number(feeA), Number(feeB)));
        expect(smallestBaseForReceipt(BigInt(receipt), feeA, feeB)).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });

  test('are solved for a billion tokens of 18 decimals without a walk', () => {
    fc.assert(
      fc.property(feePair(1n), fc.bigInt({ min: 1n, max: 10n ** 27n }), ([feeA, feeB], receipt) => {
        const base = smallestBaseForReceipt(receipt, feeA, feeB);
        expect(base !== null && receiptOf(base, feeA, feeB) === receipt).toBe(true);
        expect(base !== null && receiptOf(base - 1n, feeA, feeB) < receipt).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('fees that sum to 100 % or more', () => {
  const excessivePair = fc
    .bigInt({ min: 1n, max: WHOLE - 1n })
    .chain((feeA) =>
      fc.bigInt({ min: WHOLE - feeA, max: WHOLE - 1n }).map((feeB): [bigint, bigint] => [feeA, feeB]),
    );

  test('leave one atomic unit at a base of one, and never more', () => {
    fc.assert(
      fc.property(excessivePair, fc.bigInt({ min: 2n, max: 200n }), ([feeA, feeB], receipt) => {
        expect(smallestBaseForReceipt(1n, feeA, feeB)).toBe(firstBaseByTrying(1n, feeA, feeB, 5n));
        expect(firstBaseByTrying(receipt, feeA, feeB, 300n)).toBeNull();
        expect(smallestBaseForReceipt(receipt, feeA, feeB)).toBeNull();
      }),
      { numRuns: 500 },
    );
  });
});
