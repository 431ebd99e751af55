import { type DecimalRefusal, formatShortest, parseDecimal, powerOfTen } from './decimal.ts';
import { accept, type Result, refuse } from './result.ts';

/** Fiat per 1 crypto, exactly: `numerator` / 10^`scale`. Always above zero when it comes from parseRate. */
export interface Rate {
  readonly numerator: bigint;
  readonly scale: number;
}

export type RateRefusal =
  | DecimalRefusal
  /** A zero rate would price everything at nothing. */
  | 'not_positive';

export function parseRate(text: unknown): Result<Rate, RateRefusal> {
  const decimal = parseDecimal(text);
  if (!decimal.ok) return decimal;
  if (decimal.value.unscaled === 0n) return refuse('not_positive');
  return accept({ numerator: decimal.value.unscaled, scale: decimal.value.scale });
}

/** The shortest decimal string that reads back as the same rate. */
export function formatRate(rate: Rate): string {
  return formatShortest(rate.numerator, rate.scale);
}

export const PERCENT_DECIMALS = 6;
/**
 * With six decimals this makes fifteen digits, the most that a JSON number carries without loss: the contract shows
 * percentages as numbers, so a larger one could not be echoed exactly.
 */
export const MAX_PERCENT_INTEGER_DIGITS = 9;

/** A percentage of zero or above, in millionths of one percent: 1.5 % is 1_500_000n. */
export interface Percent {
  readonly millionths: bigint;
}

/** 100 %, in the unit of Percent: the divisor that turns `millionths` into a share. */
export const WHOLE_IN_MILLIONTHS = 100n * powerOfTen(PERCENT_DECIMALS);

export const ZERO_PERCENT: Percent = { millionths: 0n };

export type PercentRefusal =
  | Exclude<DecimalRefusal, 'not_a_string'>
  /** Neither a string nor a number. */
  | 'not_a_string_or_number'
  /** More than six decimals. */
  | 'excess_precision';

/**
 * Reads a percentage from a string or a JSON number. A number is read through its shortest decimal form, so 0.1 is
 * one tenth; where that form has an exponent (1e-7, 1e21) or is no number (NaN, Infinity) it is refused as malformed.
 */
export function parsePercent(input: unknown): Result<Percent, PercentRefusal> {
  if (typeof input !== 'string' && typeof input !== 'number') return refuse('not_a_string_or_number');
  const decimal = parseDecimal(`${input}`);
  if (!decimal.ok)
    return decimal.reason === 'not_a_string' ? refuse('not_a_string_or_number') : refuse(decimal.reason);
  const { unscaled, scale } = decimal.value;
  if (scale > PERCENT_DECIMALS) return refuse('excess_precision');
  const millionths = unscaled * powerOfTen(PERCENT_DECIMALS - scale);
  if (millionths >= powerOfTen(MAX_PERCENT_INTEGER_DIGITS + PERCENT_DECIMALS))
    return refuse('too_many_digits');
  return accept({ millionths });
}

/** The shortest decimal string that reads back as the same percentage: `1`, `0.25`. */
export function formatPercent(percent: Percent): string {
  return formatShortest(percent.millionths, PERCENT_DECIMALS);
}
