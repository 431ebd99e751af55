import { type Asset, parseRate, powerOfTen, type Rate } from '@causeway/protocol';
import { compareForCustomer } from '../book/customer-rate.ts';
import {
  type Candidate,
  type Direction,
  type OfferBook,
  type ProviderScope,
  sendsSettlementNotifications,
  sideServing,
} from '../book/index.ts';
import { CRYPTO_SCALE, FIAT_SCALE } from '../book/offer-terms.ts';
import { NO_CANDIDATES, walkBestFirst } from '../book/pair-index.ts';
import type { Match, MatchRequest, RailLookup, RejectionCounts, RejectionReason } from './match.types.ts';
import { cryptoTheVendorTrades } from './price-request.ts';
import { admits, RailReader } from './rail-choice.ts';

/** What a quote keeps of its match. The order is made of these figures and no others. */
export interface FirmQuote {
  readonly direction: Direction;
  readonly crypto: Asset;
  readonly fiat: Asset;
  readonly offerId: string;
  /** The offer as it was priced; for the record, since a later version does not undo the quote. */
  readonly offerVersion: number;
  /** The customer's rate. */
  readonly rate: string;
  /** Atomic units. */
  readonly cryptoAmount: bigint;
  readonly fiatAmount: bigint;
  readonly platformFee: bigint;
  readonly paymentMethodSlug: string;
  readonly paymentNetworkSlug: string;
  readonly country?: string | undefined;
  readonly providerScope: ProviderScope;
  /** As the quote showed it: a promise of true is kept by another vendor too. */
  readonly hasFiatSettlementNotification: boolean;
}

export interface FillContext {
  /** Prices the offers of other vendors; the quote itself needs no market. */
  readonly referenceRate: string | undefined;
  readonly rail: RailLookup;
}

export type FilledQuote =
  | {
      readonly outcome: 'same_vendor';
      readonly serving: Candidate;
      /** The vendor has changed the offer since; it serves the quote at the old price all the same. */
      readonly offerChanged: boolean;
    }
  /** Another vendor, to whom the quoted price is its own price or better. */
  | {
      readonly outcome: 'reassigned';
      readonly serving: Candidate;
      readonly quotedVendor: QuotedVendorObstacle;
    }
  | {
      readonly outcome: 'refused';
      readonly quotedVendor: QuotedVendorObstacle;
      /** Why no other vendor of the pair takes it over. */
      readonly others: RejectionCounts;
    };

export type QuotedVendorObstacle =
  /** Withdrawn, no longer authorized, made for another pair, or its vendor is inactive or offline. */
  'offer_gone' | OtherObstacle;

type OtherObstacle = Extract<
  RejectionReason,
  | 'country'
  | 'payment_network'
  | 'payment_method'
  | 'institution_not_live'
  | 'rail_limits'
  | 'insufficient_balance'
>;

/** What a quote is to keep of a match. */
export function firmQuote(request: MatchRequest, match: Match): FirmQuote {
  return {
    direction: request.direction,
    crypto: request.crypto,
    fiat: request.fiat,
    offerId: match.offer.offerId,
    offerVersion: match.offer.version,
    rate: match.rate,
    cryptoAmount: match.price.cryptoAmount,
    fiatAmount: match.price.fiatAmount,
    platformFee: match.price.platformFee,
    paymentMethodSlug: match.paymentMethodSlug,
    paymentNetworkSlug: match.paymentNetworkSlug,
    country: request.country,
    providerScope: request.providerScope,
    hasFiatSettlementNotification: match.hasFiatSettlementNotification,
  };
}

/**
 * Who serves a quote that is initiated in time. The customer always gets the quoted figures. The quoted vendor is bound
 * by its price and range as they were; it is released only by what makes serving impossible. Then any other vendor
 * that would now trade at the quoted rate or at one better for the customer takes over at the quoted rate, so it earns
 * its own price or more. Time and single use are the quote machine's to judge.
 */
export function fillQuote(book: OfferBook, quote: FirmQuote, context: FillContext): FilledQuote {
  const side = sideServing(quote.direction);
  const rails = new RailReader(context.rail, quote.fiat.code, quote.direction);
  const quoted = book.eligibleOffer(quote.offerId);
  const isSamePair =
    quoted?.offer.side === side &&
    quoted.offer.cryptoCurrency === quote.crypto.code &&
    quoted.offer.fiatCurrency === quote.fiat.code;
  const quotedVendor = isSamePair ? obstacleTo(quoted, quote, rails) : 'offer_gone';
  if (isSamePair && quotedVendor === undefined) {
    const offerChanged = quoted.offer.version !== quote.offerVersion;
    return { outcome: 'same_vendor', serving: quoted, offerChanged };
  }

  const released = quotedVendor ?? 'offer_gone';
  const quotedRate = readRate(quote.rate);
  const reference = context.referenceRate === undefined ? undefined : readRate(context.referenceRate);
  const pair = book.pair(side, quote.crypto.code, quote.fiat.code);
  const others: Partial<Record<RejectionReason, number>> = {};
  let serving: Candidate | undefined;
  walkBestFirst(
    pair?.byNetwork.get(quote.paymentNetworkSlug) ?? NO_CANDIDATES,
    side,
    reference,
    (candidate, rate) => {
      // From here on every price is worse for the customer than the quote: such a vendor would lose by it.
      if (compareForCustomer(side, rate, quotedRate) > 0) return true;
      if (candidate.offer.offerId === quote.offerId) return false;
      const reason = reassignmentObstacle(candidate, quote, rails);
      if (reason === undefined) serving = candidate;
      else others[reason] = (others[reason] ?? 0) + 1;
      return reason === undefined;
    },
  );
  return serving === undefined
    ? { outcome: 'refused', quotedVendor: released, others }
    : { outcome: 'reassigned', serving, quotedVendor: released };
}

/** Another vendor has made no promise yet: its range and kind count as well. */
function reassignmentObstacle(
  candidate: Candidate,
  quote: FirmQuote,
  rails: RailReader,
): RejectionReason | undefined {
  const { offer, terms } = candidate;
  if (quote.providerScope !== 'all' && offer.kind !== quote.providerScope) return 'provider_scope';
  if (quote.hasFiatSettlementNotification && !sendsSettlementNotifications(offer.kind)) {
    return 'no_settlement_notification';
  }
  const fiat = fiatAtBookScale(quote);
  if (fiat < terms.minFiat) return 'amount_below_offer';
  if (fiat > terms.maxFiat) return 'amount_above_offer';
  return obstacleTo(candidate, quote, rails);
}

function obstacleTo(
  { offer, terms }: Candidate,
  quote: FirmQuote,
  rails: RailReader,
): OtherObstacle | undefined {
  if (quote.country !== undefined && !terms.countries.has(quote.country)) return 'country';
  const choices = rails.choices(offer.paymentOptions, quote);
  if (typeof choices === 'string') return choices;
  if (!choices.some(({ bounds }) => admits(bounds, fiatAtBookScale(quote)))) return 'rail_limits';
  const needed =
    cryptoTheVendorTrades(quote.direction, quote) * powerOfTen(CRYPTO_SCALE - quote.crypto.decimals);
  return needed > terms.balance ? 'insufficient_balance' : undefined;
}

function fiatAtBookScale({ fiat, fiatAmount }: FirmQuote): bigint {
  return fiatAmount * powerOfTen(FIAT_SCALE - fiat.decimals);
}

function readRate(text: string): Rate {
  const rate = parseRate(text);
  if (!rate.ok) throw new RangeError(`not a rate: ${JSON.stringify(text)}`);
  return rate.value;
}
