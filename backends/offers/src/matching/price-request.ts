import {
  type OfframpPrice,
  type OnrampPrice,
  type Percent,
  type PriceRefusal,
  type PriceTerms,
  priceOfframpCryptoAnchored,
  priceOfframpFiatAnchored,
  priceOnrampCryptoAnchored,
  priceOnrampFiatAnchored,
  priceTerms,
  type Rate,
  type Result,
  WHOLE_IN_MILLIONTHS,
} from '@causeway/protocol';
import type { MatchRequest } from './match.types.ts';

type PricedRequest = Pick<MatchRequest, 'direction' | 'crypto' | 'fiat' | 'anchor' | 'amount' | 'partnerFee'>;

/** One of the four fee cases, at the given customer rate. */
export function priceOnramp(
  request: PricedRequest,
  rate: Rate,
  platformFee: Percent,
): Result<OnrampPrice, PriceRefusal> {
  const terms = termsOf(request, rate, platformFee);
  return request.anchor === 'fiat'
    ? priceOnrampFiatAnchored(request.amount, terms)
    : priceOnrampCryptoAnchored(request.amount, terms);
}

export function priceOfframp(
  request: PricedRequest,
  rate: Rate,
  platformFee: Percent,
): Result<OfframpPrice, PriceRefusal> {
  const terms = termsOf(request, rate, platformFee);
  return request.anchor === 'fiat'
    ? priceOfframpFiatAnchored(request.amount, terms)
    : priceOfframpCryptoAnchored(request.amount, terms);
}

function termsOf({ crypto, fiat, partnerFee }: PricedRequest, rate: Rate, platformFee: Percent): PriceTerms {
  return priceTerms({ rate, crypto, fiat, platformFee, partnerFee });
}

/** A fee that no rate and no amount can make possible: known before any offer is looked at. */
export function isImpossibleFee({ direction, anchor, partnerFee }: PricedRequest): boolean {
  const capped = direction === 'onramp' || anchor === 'crypto';
  return capped && partnerFee.millionths >= WHOLE_IN_MILLIONTHS;
}

/** Crypto the vendor must have, or be able to buy: a seller locks all of it, a buyer gets it less the platform's fee. */
export function cryptoTheVendorTrades(
  direction: MatchRequest['direction'],
  price: { readonly cryptoAmount: bigint; readonly platformFee: bigint },
): bigint {
  return direction === 'onramp' ? price.cryptoAmount : price.cryptoAmount - price.platformFee;
}
