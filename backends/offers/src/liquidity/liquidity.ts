import { decimalToWireNumber, formatShortest, parseRate, powerOfTen } from '@causeway/protocol';
import { halfEven } from '../book/customer-rate.ts';
import {
  ALL_METHODS,
  directionServedBy,
  type OfferBook,
  type PairIndex,
  type PaymentOption,
  partnerTradeType,
  type TradeType,
} from '../book/index.ts';
import { FIAT_SCALE } from '../book/offer-terms.ts';
import type { RailLookup, RailView } from '../matching/index.ts';

/** As C2.7 writes it: JSON numbers, no price and no vendor. */
export interface LiquidityPair {
  readonly crypto_currency_code: string;
  readonly fiat_currency_code: string;
  readonly trade_type: TradeType;
  readonly min_amount: number;
  readonly max_amount: number;
  readonly min_amount_usd: number;
  readonly max_amount_usd: number;
  readonly payment_methods: readonly string[];
}

export interface LiquidityContext {
  readonly rail: RailLookup;
  /** USD per 1 of the fiat currency, as a decimal string. These figures are informative: an old rate beats none. */
  usdRate(fiatCurrency: string): string | undefined;
}

/**
 * Aggregates eligible offers (authorized, vendor active and online, at least one live payment method) by crypto, fiat
 * and trade type. A pair whose currency has no USD rate is left out: its USD range could only be made up. Sorted by
 * crypto, fiat and trade type.
 */
export function aggregateLiquidity(book: OfferBook, context: LiquidityContext): readonly LiquidityPair[] {
  const pairs: LiquidityPair[] = [];
  for (const index of book.pairs()) {
    const pair = aggregatePair(index, context);
    if (pair !== undefined) pairs.push(pair);
  }
  return pairs.sort((left, right) => (sortKey(left) < sortKey(right) ? -1 : 1));
}

function aggregatePair(index: PairIndex, context: LiquidityContext): LiquidityPair | undefined {
  const direction = directionServedBy(index.side);
  const methods = new Set<string>();
  let min: bigint | undefined;
  let max: bigint | undefined;
  for (const { offer, terms } of [...index.eligible.fixed, ...index.eligible.margin]) {
    const live = offer.paymentOptions.flatMap((option) =>
      liveMethods(option, context.rail(option.networkSlug, index.fiatCurrency, direction)),
    );
    if (live.length === 0) continue;
    for (const slug of live) methods.add(slug);
    if (min === undefined || terms.minFiat < min) min = terms.minFiat;
    if (max === undefined || terms.maxFiat > max) max = terms.maxFiat;
  }
  const usdRate = context.usdRate(index.fiatCurrency);
  if (min === undefined || max === undefined || usdRate === undefined) return undefined;
  return {
    crypto_currency_code: index.cryptoCurrency,
    fiat_currency_code: index.fiatCurrency,
    trade_type: partnerTradeType(index.side),
    min_amount: wireAmount(min, FIAT_SCALE),
    max_amount: wireAmount(max, FIAT_SCALE),
    min_amount_usd: wireAmount(inUsdCents(min, usdRate), USD_DECIMALS),
    max_amount_usd: wireAmount(inUsdCents(max, usdRate), USD_DECIMALS),
    payment_methods: [...methods].sort(),
  };
}

const USD_DECIMALS = 2;

function liveMethods({ methodSlugs }: PaymentOption, rail: RailView | undefined): readonly string[] {
  if (rail === undefined) return [];
  if (methodSlugs === ALL_METHODS) return rail.liveMethods(undefined);
  return methodSlugs.filter((slug) => rail.isLive(slug, undefined));
}

/** Rounded half-even, once: the figure is for reading, nothing is calculated from it. */
function inUsdCents(fiat: bigint, usdRate: string): bigint {
  const rate = parseRate(usdRate);
  if (!rate.ok) throw new RangeError(`the USD rate is not a rate: ${JSON.stringify(usdRate)}`);
  const { numerator, scale } = rate.value;
  return halfEven(fiat * numerator, powerOfTen(FIAT_SCALE - USD_DECIMALS + scale));
}

function wireAmount(unscaled: bigint, scale: number): number {
  return decimalToWireNumber(formatShortest(unscaled, scale));
}

function sortKey(pair: LiquidityPair): string {
  return `${pair.crypto_currency_code}/${pair.fiat_currency_code}/${pair.trade_type}`;
}
