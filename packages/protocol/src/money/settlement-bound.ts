/**
 * The contract's 1.20 safety bound for a fiat-anchored off-ramp order: it fails only when the crypto cost is above
 * 1.20 times the expected amount, so exactly 1.20 still settles. Whole numbers on both sides, nothing is rounded.
 */
export function costExceedsBound(costAtomic: bigint, expectedAtomic: bigint): boolean {
  return costAtomic * 100n > expectedAtomic * 120n;
}
