/**
 * Exact arithmetic for rates. A rate is a positive ratio of two bigints; it becomes text only where it is published.
 * No function here takes or returns a JavaScript number that stands for a rate.
 */
export interface Ratio {
  readonly num: bigint;
  readonly den: bigint;
}

/** Every division says which way it goes. All operands are non-negative, so `floor` is also truncation. */
export type Rounding = 'floor' | 'ceil' | 'half-even';

export const ONE: Ratio = { num: 1n, den: 1n };

/** Fifteen significant digits: a relative error below 5e-15 for every pair, whether it reads 0.00006 or 89500. */
export const RATE_DIGITS = 15;

export const PPM = 1_000_000n;

/** Beyond a trillion (or below one in a trillion) no currency pair exists: it is a fault of the feed. */
const RATE_CEILING = 10n ** 12n;

const PLAIN_DECIMAL = /^(\d{1,40})(?:\.(\d{1,40}))?$/;
const EXPONENT_DECIMAL = /^(\d{1,40})(?:\.(\d{1,40}))?[eE]([+-]?\d{1,2})$/;

export function divide(num: bigint, den: bigint, rounding: Rounding): bigint {
  const quotient = num / den;
  const rest = num - quotient * den;
  if (rest === 0n || rounding === 'floor') return quotient;
  if (rounding === 'ceil') return quotient + 1n;
  const twice = rest * 2n;
  const up = twice > den || (twice === den && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
}

/** Reads a plain decimal text greater than zero; signs, blanks, exponents and words such as NaN are refused. */
export function parseRate(text: string): Ratio | undefined {
  const match = PLAIN_DECIMAL.exec(text);
  if (match === null) return undefined;
  const fraction = match[2] ?? '';
  const num = BigInt(`${match[1] ?? ''}${fraction}`);
  return num === 0n ? undefined : { num, den: 10n ** BigInt(fraction.length) };
}

/**
 * Feeds written in Python or Go print small rates as 6.1e-05. The exponent only moves the decimal point, so the text is
 * rewritten digit by digit; any other text is handed back as it came, for `parseRate` to judge.
 */
export function expandExponent(text: string): string {
  const match = EXPONENT_DECIMAL.exec(text);
  if (match === null) return text;
  const whole = match[1] ?? '';
  const digits = `${whole}${match[2] ?? ''}`;
  const point = whole.length + Number.parseInt(match[3] ?? '0', 10);
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return digits + '0'.repeat(point - digits.length);
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}

export function isPlausible(rate: Ratio): boolean {
  return rate.num <= rate.den * RATE_CEILING && rate.num * RATE_CEILING >= rate.den;
}

export function invert(rate: Ratio): Ratio {
  return { num: rate.den, den: rate.num };
}

export function multiply(left: Ratio, right: Ratio): Ratio {
  return { num: left.num * right.num, den: left.den * right.den };
}

export function compare(left: Ratio, right: Ratio): -1 | 0 | 1 {
  const a = left.num * right.den;
  const b = right.num * left.den;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export function midpoint(left: Ratio, right: Ratio): Ratio {
  return { num: left.num * right.den + right.num * left.den, den: 2n * left.den * right.den };
}

/** Of an even number of values, the midpoint of the two in the middle. */
export function median(values: readonly Ratio[]): Ratio {
  const sorted = [...values].sort(compare);
  const upper = sorted[sorted.length >> 1];
  if (upper === undefined) throw new RangeError('the median of no values is not defined');
  if (sorted.length % 2 === 1) return upper;
  return midpoint(sorted[(sorted.length >> 1) - 1] ?? upper, upper);
}

/** Whether |value - reference| is more than `limitPpm` millionths of the reference. */
export function deviatesBeyond(value: Ratio, reference: Ratio, limitPpm: bigint): boolean {
  const a = value.num * reference.den;
  const b = reference.num * value.den;
  const gap = a > b ? a - b : b - a;
  return gap * PPM > limitPpm * b;
}

/** The shortest text of the rate rounded half-even to `digits` significant digits; never in exponent notation. */
export function formatRate(rate: Ratio, digits: number = RATE_DIGITS): string {
  const decimals = decimalsFor(rate, digits);
  const scale = 10n ** BigInt(decimals);
  const text = divide(rate.num * scale, rate.den, 'half-even')
    .toString()
    .padStart(decimals + 1, '0');
  if (decimals === 0) return text;
  const fraction = text.slice(-decimals).replace(/0+$/, '');
  const whole = text.slice(0, -decimals);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** How many decimals show `digits` significant digits of this rate. */
export function decimalsFor(rate: Ratio, digits: number = RATE_DIGITS): number {
  const whole = rate.num / rate.den;
  if (whole > 0n) return Math.max(0, digits - whole.toString().length);
  let leadingZeros = Math.max(0, rate.den.toString().length - rate.num.toString().length - 1);
  while (rate.num * 10n ** BigInt(leadingZeros + 1) < rate.den) leadingZeros += 1;
  return leadingZeros + digits;
}
