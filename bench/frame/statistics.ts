/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)];
  const lower = sorted[Math.ceil(middle) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('no median of nothing');
  return (lower + upper) / 2;
}

/** How far the rounds lie apart, as a share of their median: a figure with a wide spread deserves little trust. */
export function relativeSpread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}
