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

/** Of values in any order; a share of 0.99 is the p99. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** For a normal distribution: from the median absolute deviation to sigma, and from a mean's error to a median's. */
const MAD_TO_SIGMA = 1.4826;
const MEDIAN_TO_MEAN_ERROR = 1.2533;

/** The standard error of a median, from the rounds' own spread. One wild round hardly moves it. */
export function medianError(values: readonly number[]): number {
  const middle = median(values);
  const deviation = median(values.map((value) => Math.abs(value - middle)));
  return (MEDIAN_TO_MEAN_ERROR * MAD_TO_SIGMA * deviation) / Math.sqrt(values.length);
}
