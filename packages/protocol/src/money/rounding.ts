/**
 * Rounding is always named: a plain `/` on bigints rounds towards zero, which is neither of these for negatives.
 * A divisor that is not positive is a programming error, never a partner's input.
 */

/** The largest integer that is not above dividend / divisor. */
export function floorDiv(dividend: bigint, divisor: bigint): bigint {
  if (divisor <= 0n) throw new RangeError('floorDiv needs a positive divisor');
  return dividend >= 0n ? dividend / divisor : (dividend + 1n) / divisor - 1n;
}

/** The smallest integer that is not below dividend / divisor. */
export function ceilDiv(dividend: bigint, divisor: bigint): bigint {
  if (divisor <= 0n) throw new RangeError('ceilDiv needs a positive divisor');
  return dividend > 0n ? (dividend - 1n) / divisor + 1n : dividend / divisor;
}
