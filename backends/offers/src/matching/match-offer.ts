import {
  formatRate,
  type OfframpPrice,
  type OnrampPrice,
  PRICE_REFUSAL_CODES,
  type PriceRefusal,
  parseRate,
  powerOfTen,
  type Rate,
} from '@causeway/protocol';
import { type Candidate, type OfferBook, sendsSettlementNotifications, sideServing } from '../book/index.ts';
import { CRYPTO_SCALE, FIAT_SCALE } from '../book/offer-terms.ts';
import { countCandidates, NO_CANDIDATES, type PairIndex, walkBestFirst } from '../book/pair-index.ts';
import type {
  Match,
  MatchContext,
  MatchOutcome,
  MatchRefusal,
  MatchRequest,
  RejectionReason,
} from './match.types.ts';
import { cryptoTheVendorTrades, isImpossibleFee, priceOfframp, priceOnramp } from './price-request.ts';
import { admits, type RailChoice, RailReader } from './rail-choice.ts';
import { RangeCollector } from './servable-range.ts';

/**
 * The best customer rate among the offers that can really serve the request: the pair's offers are tried from the best
 * rate on, equals by standing, and the first that passes every check is taken.
 */
export function matchOffer(book: OfferBook, request: MatchRequest, context: MatchContext): MatchOutcome {
  if (isImpossibleFee(request)) return { ok: false, refusal: { code: 'INVALID_PARTNER_FEE' }, rejected: {} };
  const side = sideServing(request.direction);
  const pair = book.pair(side, request.crypto.code, request.fiat.code);
  const search = new Search(request, context);
  const reference = readReference(context.referenceRate);
  if (pair !== undefined) {
    const { paymentNetworkSlug: wanted } = request;
    const list = wanted === undefined ? pair.eligible : (pair.byNetwork.get(wanted) ?? NO_CANDIDATES);
    walkBestFirst(list, side, reference, (candidate, rate) => search.tries(candidate, rate));
    if (search.match !== undefined) return { ok: true, match: search.match, rejected: search.rejected };
    search.reject('payment_network', countCandidates(pair.eligible) - countCandidates(list));
    if (reference === undefined) search.reject('no_reference_rate', list.margin.length);
    countIneligible(search, pair);
  }
  return { ok: false, refusal: search.refusal(), rejected: search.rejected };
}

/** One request on its way through the candidates. */
export class Search {
  match: Match | undefined;
  readonly rejected: Partial<Record<RejectionReason, number>> = {};
  readonly #request: MatchRequest;
  readonly #context: MatchContext;
  readonly #rails: RailReader;
  readonly #ranges: RangeCollector;
  readonly #fiatUnit: bigint;
  readonly #cryptoUnit: bigint;
  #amountIsWrong = false;
  #priceRefusal: PriceRefusal | undefined;

  constructor(request: MatchRequest, context: MatchContext) {
    this.#request = request;
    this.#context = context;
    this.#rails = new RailReader(context.rail, request.fiat.code, request.direction);
    this.#ranges = new RangeCollector(request.fiat);
    this.#fiatUnit = powerOfTen(FIAT_SCALE - request.fiat.decimals);
    this.#cryptoUnit = powerOfTen(CRYPTO_SCALE - request.crypto.decimals);
  }

  reject(reason: RejectionReason, count = 1): void {
    if (count > 0) this.rejected[reason] = (this.rejected[reason] ?? 0) + count;
  }

  /** True ends the search. */
  tries(candidate: Candidate, rate: Rate): boolean {
    const reason = this.obstacle(candidate, rate);
    if (reason !== undefined) this.reject(reason);
    return reason === undefined;
  }

  /** Why the offer does not serve the request; undefined where it does. */
  obstacle(candidate: Candidate, rate: Rate): RejectionReason | undefined {
    return this.#filter(candidate) ?? this.#fit(candidate, rate);
  }

  refusal(): MatchRefusal {
    if (this.#amountIsWrong) {
      const range = this.#ranges.range();
      if (range !== undefined) return { code: 'AMOUNT_OUT_OF_RANGE', range };
    }
    if (this.#priceRefusal !== undefined) return { code: PRICE_REFUSAL_CODES[this.#priceRefusal] };
    return { code: 'NO_OFFERS_AVAILABLE' };
  }

  /** What the amount has no part in. */
  #filter({ offer, terms }: Candidate): RejectionReason | undefined {
    const { providerScope, settlementNotificationRequired, country } = this.#request;
    if (providerScope !== 'all' && offer.kind !== providerScope) return 'provider_scope';
    if (settlementNotificationRequired === true && !sendsSettlementNotifications(offer.kind)) {
      return 'no_settlement_notification';
    }
    if (country !== undefined && !terms.countries.has(country)) return 'country';
    return undefined;
  }

  #fit(candidate: Candidate, rate: Rate): RejectionReason | undefined {
    const choices = this.#rails.choices(candidate.offer.paymentOptions, this.#request);
    if (typeof choices === 'string') return choices;
    const { anchor, amount } = this.#request;
    // Known without a price, which is most of the work on an offer that is not the one.
    const early = anchor === 'fiat' ? offerMisfit(candidate, amount * this.#fiatUnit) : undefined;
    if (early !== undefined) return this.#rejectAmount(early, candidate, rate, choices);
    const priced = this.#price(rate);
    if (!priced.ok) return this.#rejectPrice(priced.reason, candidate, rate, choices);

    const fiat = priced.value.price.fiatAmount * this.#fiatUnit;
    const misfit = offerMisfit(candidate, fiat);
    if (misfit !== undefined) return this.#rejectAmount(misfit, candidate, rate, choices);
    const choice = choices.find(({ bounds }) => admits(bounds, fiat));
    if (choice === undefined) return this.#rejectAmount('rail_limits', candidate, rate, choices);
    const needed = cryptoTheVendorTrades(this.#request.direction, priced.value.price) * this.#cryptoUnit;
    if (needed > candidate.terms.balance) {
      this.#ranges.add(candidate, rate, choices);
      return 'insufficient_balance';
    }
    this.match = {
      ...priced.value,
      offer: candidate.offer,
      vendor: candidate.vendor,
      rate: formatRate(rate),
      paymentMethodSlug: choice.methodSlug,
      paymentNetworkSlug: choice.networkSlug,
      hasFiatSettlementNotification: sendsSettlementNotifications(candidate.offer.kind),
    };
    return undefined;
  }

  #price(rate: Rate): { ok: true; value: PricedDirection } | { ok: false; reason: PriceRefusal } {
    const { platformFee } = this.#context;
    if (this.#request.direction === 'onramp') {
      const result = priceOnramp(this.#request, rate, platformFee);
      return result.ok ? { ok: true, value: { direction: 'onramp', price: result.value } } : result;
    }
    const result = priceOfframp(this.#request, rate, platformFee);
    return result.ok ? { ok: true, value: { direction: 'offramp', price: result.value } } : result;
  }

  #rejectPrice(
    reason: PriceRefusal,
    candidate: Candidate,
    rate: Rate,
    choices: readonly RailChoice[],
  ): RejectionReason {
    this.#priceRefusal ??= reason;
    if (reason !== 'amount_too_small') return 'fees';
    return this.#rejectAmount('amount_below_offer', candidate, rate, choices);
  }

  #rejectAmount(
    reason: RejectionReason,
    candidate: Candidate,
    rate: Rate,
    choices: readonly RailChoice[],
  ): RejectionReason {
    this.#amountIsWrong = true;
    this.#ranges.add(candidate, rate, choices);
    return reason;
  }
}

type PricedDirection =
  | { readonly direction: 'onramp'; readonly price: OnrampPrice }
  | { readonly direction: 'offramp'; readonly price: OfframpPrice };

function offerMisfit(
  { terms }: Candidate,
  fiat: bigint,
): 'amount_below_offer' | 'amount_above_offer' | undefined {
  if (fiat < terms.minFiat) return 'amount_below_offer';
  return fiat > terms.maxFiat ? 'amount_above_offer' : undefined;
}

function countIneligible(search: Search, { ineligible }: PairIndex): void {
  search.reject('vendor_inactive', ineligible.vendor_inactive);
  search.reject('vendor_offline', ineligible.vendor_offline);
  search.reject('offer_not_authorized', ineligible.offer_not_authorized);
}

export function readReference(text: string | undefined): Rate | undefined {
  if (text === undefined) return undefined;
  const rate = parseRate(text);
  if (!rate.ok) throw new RangeError(`the reference rate is not a rate: ${JSON.stringify(text)}`);
  return rate.value;
}
