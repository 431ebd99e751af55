import type { RateBook, RateRefusal, UsableRate } from './rate-book.ts';
import { divide, parseRate, type Rounding } from './ratio.ts';

export interface RateAsset {
  readonly code: string;
  /** Decimal places of one unit: ISO 4217 minor units or the token's decimals. */
  readonly decimals: number;
}

export interface AssetAmount {
  readonly atomic: bigint;
  readonly asset: RateAsset;
}

export type Conversion =
  | { readonly ok: true; readonly amount: AssetAmount; readonly rate: UsableRate }
  | { readonly ok: false; readonly refusal: RateRefusal };

/** What `amount` is worth in `to`, by the book's current rate and rounded once, as named. */
export function convert(
  book: Pick<RateBook, 'requireRate'>,
  amount: AssetAmount,
  to: RateAsset,
  rounding: Rounding,
): Conversion {
  const decision = book.requireRate(amount.asset.code, to.code);
  if (!decision.ok) return decision;
  const { rate } = decision;
  return {
    ok: true,
    amount: { atomic: convertAtomic(amount, to.decimals, rate.rate, rounding), asset: to },
    rate,
  };
}

/**
 * The published text of the rate is what counts, not a longer number behind it: a reader who multiplies the figures we show
 * gets the figure we show.
 */
export function convertAtomic(
  amount: AssetAmount,
  toDecimals: number,
  rate: string,
  rounding: Rounding,
): bigint {
  const ratio = parseRate(rate);
  if (ratio === undefined) throw new RangeError('a rate is a decimal text greater than zero');
  if (amount.atomic < 0n) throw new RangeError('only amounts of zero or more are converted');
  const scaledUp = amount.atomic * ratio.num * 10n ** BigInt(toDecimals);
  return divide(scaledUp, ratio.den * 10n ** BigInt(amount.asset.decimals), rounding);
}
