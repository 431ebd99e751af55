/** Math.min and Math.max do not take bigints. */

export function smaller(left: bigint, right: bigint): bigint {
  if (left < right) return left;
  return right;
}

export function larger(left: bigint, right: bigint): bigint {
  if (left > right) return left;
  return right;
}
