import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FeeLimits, firstFees, replacementFees } from './transaction-fees.ts';

const upTo = (maxFeePerGas: bigint): FeeLimits => ({
  maxFeePerGas,
  minPriorityFeePerGas: 0n,
  maxPriorityFeePerGas: maxFeePerGas,
});
const wei = fc.bigInt({ min: 0n, max: 10n ** 15n });
const fees = fc
  .record({ base: wei, priority: wei })
  .map(({ base, priority }) => firstFees(base, priority, upTo(10n ** 18n)));

describe('fees', () => {
  test('start at twice the base fee and the tip, within the limit, the tip never above the whole', () => {
    expect(firstFees(100n, 7n, upTo(1_000n))).toEqual({ maxFeePerGas: 207n, maxPriorityFeePerGas: 7n });
    expect(firstFees(100n, 7n, upTo(150n))).toEqual({ maxFeePerGas: 150n, maxPriorityFeePerGas: 7n });
    expect(firstFees(0n, 70n, upTo(50n))).toEqual({ maxFeePerGas: 50n, maxPriorityFeePerGas: 50n });
  });

  test('have a tip between the chain’s bounds, whatever a node suggests', () => {
    const limits = { maxFeePerGas: 1_000n, minPriorityFeePerGas: 3n, maxPriorityFeePerGas: 9n };
    const tipOf = (suggested: bigint) => firstFees(100n, suggested, limits);
    expect(tipOf(0n)).toEqual({ maxFeePerGas: 203n, maxPriorityFeePerGas: 3n });
    expect(tipOf(5n)).toEqual({ maxFeePerGas: 205n, maxPriorityFeePerGas: 5n });
    expect(tipOf(10n ** 18n)).toEqual({ maxFeePerGas: 209n, maxPriorityFeePerGas: 9n });
  });

  test('of a replacement rise by more than a tenth, both of them, and follow the network when it rose more', () => {
    fc.assert(
      fc.property(fees, fees, (previous, current) => {
        const next = replacementFees(previous, current, upTo(10n ** 18n));
        expect(next).toBeDefined();
        for (const name of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
          expect(next![name] * 10n).toBeGreaterThan(previous[name] * 11n);
          expect(next![name]).toBeGreaterThanOrEqual(current[name]);
        }
        expect(next!.maxPriorityFeePerGas).toBeLessThanOrEqual(next!.maxFeePerGas);
      }),
    );
  });

  test('are not raised beyond the limit', () => {
    const previous = { maxFeePerGas: 80n, maxPriorityFeePerGas: 8n };
    expect(replacementFees(previous, previous, upTo(91n))).toEqual({
      maxFeePerGas: 91n,
      maxPriorityFeePerGas: 10n,
    });
    expect(replacementFees(previous, previous, upTo(90n))).toBeUndefined();
    const tipUpTo = (maxPriorityFeePerGas: bigint) => ({ ...upTo(1_000n), maxPriorityFeePerGas });
    expect(replacementFees(previous, previous, tipUpTo(10n))?.maxPriorityFeePerGas).toBe(10n);
    expect(replacementFees(previous, previous, tipUpTo(9n))).toBeUndefined();
  });
});
