import {
  type Asset,
  formatRate,
  formatShortest,
  PERCENT_DECIMALS,
  parseRate,
  powerOfTen,
  type Rate,
  WHOLE_IN_MILLIONTHS,
} from '@causeway/protocol';
import { halfEven } from '../book/customer-rate.ts';
import { directionServedBy, type OfferPrice, type OfferSide, type PairIndex } from '../book/index.ts';
import { countriesOf, walkBestFirst } from '../book/pair-index.ts';
import type { RailLookup } from './match.types.ts';
import { RailReader } from './rail-choice.ts';
import { RangeCollector } from './servable-range.ts';

export interface BestRate {
  /** The customer's rate, spread included: what a quote of a fitting amount would say. */
  readonly rate: string;
  /** Percent of the market that the customer pays for it, a decimal string; below zero where the offer beats the market. */
  readonly spreadPct: string;
}

/**
 * The best rate at which some amount of a pair can be traded in a country now, whatever the amount: the best of the offers
 * that are eligible there, with a live payment method and a balance for at least their smallest trade. Undefined where
 * no vendor serves it.
 */
export function bestRate(
  pair: PairIndex,
  fiat: Asset,
  country: string,
  context: { readonly referenceRate: string; readonly rail: RailLookup },
): BestRate | undefined {
  // Known without a walk through offers that are all made for elsewhere.
  if (!countriesOf(pair).has(country)) return undefined;
  const reference = parseRate(context.referenceRate);
  if (!reference.ok) throw new RangeError(`the reference rate is not a rate: ${context.referenceRate}`);
  const { side } = pair;
  const rails = new RailReader(context.rail, fiat.code, directionServedBy(side));
  let best: BestRate | undefined;
  walkBestFirst(pair.eligible, side, reference.value, (candidate, rate) => {
    if (!candidate.terms.countries.has(country)) return false;
    const choices = rails.choices(candidate.offer.paymentOptions, { country });
    if (typeof choices === 'string') return false;
    const ranges = new RangeCollector(fiat);
    ranges.add(candidate, rate, choices);
    if (ranges.range() === undefined) return false;
    best = {
      rate: formatRate(rate),
      spreadPct: formatShortest(
        spreadOf(candidate.terms.price, side, rate, reference.value),
        PERCENT_DECIMALS,
      ),
    };
    return true;
  });
  return best;
}

/** In millionths of a percent. A margin is the spread itself; that of a fixed price is rounded half-even, for reading. */
function spreadOf(price: OfferPrice, side: OfferSide, rate: Rate, market: Rate): bigint {
  if (price.type === 'margin') return price.millionths;
  const offered = rate.numerator * powerOfTen(market.scale);
  const asked = market.numerator * powerOfTen(rate.scale);
  const paid = side === 'SELL' ? offered - asked : asked - offered;
  const size = halfEven((paid < 0n ? -paid : paid) * WHOLE_IN_MILLIONTHS, asked);
  return paid < 0n ? -size : size;
}
