import { type DecimalRefusal, formatShortest, parseDecimal } from './decimal.ts';
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
