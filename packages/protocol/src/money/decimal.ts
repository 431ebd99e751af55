import { accept, type Result, refuse } from './result.ts';

/** Far above any real amount; it bounds the work an attacker's string can cause. */
export const MAX_INTEGER_DIGITS = 40;
export const MAX_FRACTION_DIGITS = 30;

/** An exact decimal: `unscaled` / 10^`scale`. */
export interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

export type DecimalRefusal =
  /** Not a string at all. */
  | 'not_a_string'
  /** The empty string. */
  | 'empty'
  /** Anything but ASCII digits with at most one inner dot: signs, exponents, spaces, `1.`, `.5`, `007`, `-0`. */
  | 'malformed'
  /** A well-formed negative where only zero and above is allowed. */
  | 'negative'
  /** More digits than the documented cap. */
  | 'too_many_digits';

// One spelling per value keeps idempotent requests and signatures comparable, so `007`, `.5` and `1.` are refused.
const SPELLING = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;
// sign + integer digits + dot + fraction digits
const MAX_LENGTH = 1 + MAX_INTEGER_DIGITS + 1 + MAX_FRACTION_DIGITS;

/** Reads a decimal string of zero or above; nothing is rounded, trimmed or guessed. */
export function parseDecimal(text: unknown): Result<Decimal, DecimalRefusal> {
  const parsed = parseSignedDecimal(text);
  if (parsed.ok && parsed.value.unscaled < 0n) return refuse('negative');
  return parsed;
}

/** As parseDecimal, for figures such as ledger differences that may be below zero. */
export function parseSignedDecimal(text: unknown): Result<Decimal, Exclude<DecimalRefusal, 'negative'>> {
  if (typeof text !== 'string') return refuse('not_a_string');
  if (text.length === 0) return refuse('empty');
  // Before the pattern, so that the work is bounded whatever is sent.
  if (text.length > MAX_LENGTH) return refuse(/^-?[0-9.]+$/.test(text) ? 'too_many_digits' : 'malformed');
  const match = SPELLING.exec(text);
  if (match === null) return refuse('malformed');
  const [, sign = '', integer = '', fraction = ''] = match;
  if (integer.length > MAX_INTEGER_DIGITS || fraction.length > MAX_FRACTION_DIGITS) {
    return refuse('too_many_digits');
  }
  const magnitude = BigInt(integer + fraction);
  if (sign === '-' && magnitude === 0n) return refuse('malformed');
  return accept({ unscaled: sign === '-' ? -magnitude : magnitude, scale: fraction.length });
}

/** Every decimal written out: `0.000000`, `12.50`, `-3`. */
export function formatFixed(unscaled: bigint, scale: number): string {
  if (scale === 0) return unscaled.toString();
  const negative = unscaled < 0n;
  const digits = (negative ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${negative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The shortest string that reads back as the same value: `1`, `0`, `0.5`. */
export function formatShortest(unscaled: bigint, scale: number): string {
  const fixed = formatFixed(unscaled, scale);
  if (scale === 0) return fixed;
  let end = fixed.length;
  while (fixed.charCodeAt(end - 1) === ZERO) end -= 1;
  if (fixed.charCodeAt(end - 1) === DOT) end -= 1;
  return fixed.slice(0, end);
}

const ZERO = 0x30;
const DOT = 0x2e;

// Token decimals, rate scale and fiat minor units add up to far less than this.
const HIGHEST_EXPONENT = 128;

// A table, because 10n ** n allocates and multiplies on every price.
const POWERS: readonly bigint[] = Array.from(
  { length: HIGHEST_EXPONENT + 1 },
  (_, exponent) => 10n ** BigInt(exponent),
);

export function powerOfTen(exponent: number): bigint {
  const power = POWERS[exponent];
  if (power === undefined)
    throw new RangeError(`exponent must be an integer within 0..${HIGHEST_EXPONENT}, got ${exponent}`);
  return power;
}

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
