import { powerOfTen, type Rate, WHOLE_IN_MILLIONTHS } from '@causeway/protocol';
import type { OfferSide } from './offer.ts';
import type { OfferTerms } from './offer-terms.ts';

/**
 * Most significant digits of a rate that comes from a margin. Two margins differ by at least a millionth of a percent
 * (1e-8 of the reference) and neighbouring rates by at most 1e-9, so different margins never end at the same rate:
 * the order of margins is the order of rates, which is what lets the book sort them before it knows the reference.
 */
export const RATE_SIGNIFICANT_DIGITS = 10;

/**
 * The customer's rate, fiat per 1 crypto, spread included; the same text in estimate, quote and order.
 *
 * Margin: reference * (1 + margin) where the vendor sells, reference * (1 - margin) where it buys, rounded half-even
 * once. Neither vendor nor customer gains from that on average; amounts are then calculated from the rounded rate as
 * published and rounded once more, against one party and as the fee cases name it, never twice against the same.
 * A fixed price is the vendor's word and is not rounded.
 *
 * Undefined where the price needs a reference and there is none.
 */
export function customerRate(
  terms: OfferTerms,
  side: OfferSide,
  reference: Rate | undefined,
): Rate | undefined {
  if (terms.price.type === 'fixed') return terms.price.rate;
  if (reference === undefined) return undefined;
  const { millionths } = terms.price;
  const share = side === 'SELL' ? WHOLE_IN_MILLIONTHS + millionths : WHOLE_IN_MILLIONTHS - millionths;
  return roundRate({ numerator: reference.numerator * share, scale: reference.scale + SHARE_SCALE });
}

/** Negative where `left` is the lower rate. */
export function compareRates(left: Rate, right: Rate): number {
  if (left.scale === right.scale) return compareWhole(left.numerator, right.numerator);
  return compareWhole(left.numerator * powerOfTen(right.scale), right.numerator * powerOfTen(left.scale));
}

export function compareWhole(left: bigint, right: bigint): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Negative where `left` is better for the customer, who pays less to a seller and gets more from a buyer. */
export function compareForCustomer(side: OfferSide, left: Rate, right: Rate): number {
  return side === 'SELL' ? compareRates(left, right) : compareRates(right, left);
}

// WHOLE_IN_MILLIONTHS is 10^8.
const SHARE_SCALE = 8;

// Digits before the point are never rounded away: a rate of twelve whole digits keeps them all.
function roundRate({ numerator, scale }: Rate): Rate {
  const excess = numerator.toString().length - RATE_SIGNIFICANT_DIGITS;
  const dropped = excess < scale ? excess : scale;
  if (dropped <= 0) return { numerator, scale };
  return { numerator: halfEven(numerator, powerOfTen(dropped)), scale: scale - dropped };
}

/** Both operands above zero. */
export function halfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twiceTheRest = (dividend - quotient * divisor) * 2n;
  const up = twiceTheRest > divisor || (twiceTheRest === divisor && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
}
