import {
  accept,
  type Decimal,
  PERCENT_DECIMALS,
  parseDecimal,
  parseRate,
  parseSignedDecimal,
  powerOfTen,
  type Rate,
  type Result,
  refuse,
  WHOLE_IN_MILLIONTHS,
} from '@causeway/protocol';
import { ALL_METHODS, type Offer, type OfferPricing, type Vendor } from './offer.ts';

/**
 * Offers state fiat and crypto as decimals without saying how many decimals the asset has, so the book keeps both at
 * one scale that holds every asset: ISO 4217 knows at most 4 minor digits, tokens at most 36.
 */
export const FIAT_SCALE = 6;
export const CRYPTO_SCALE = 36;

/** Null where the decimal has more digits than the scale: nothing is cut off. */
export function atScale(decimal: Decimal, scale: number): bigint | null {
  return decimal.scale > scale ? null : decimal.unscaled * powerOfTen(scale - decimal.scale);
}

/** An offer's figures as whole numbers, read once when the offer enters the book. */
export interface OfferTerms {
  readonly price: OfferPrice;
  /** At FIAT_SCALE. */
  readonly minFiat: bigint;
  readonly maxFiat: bigint;
  /** At CRYPTO_SCALE. */
  readonly balance: bigint;
  readonly countries: ReadonlySet<string>;
}

export type OfferPrice =
  | { readonly type: 'fixed'; readonly rate: Rate }
  /** Millionths of one percent; may be below zero. */
  | { readonly type: 'margin'; readonly millionths: bigint };

/** Why a row cannot be used. It is left out of the book and listed, so that one bad row does not take others down. */
export type OfferProblem =
  | 'unknown_vendor'
  | 'kind_differs_from_vendor'
  | 'invalid_price'
  | 'invalid_margin'
  | 'invalid_range'
  | 'invalid_balance'
  | 'no_payment_option'
  | 'repeated_payment_network'
  | 'invalid_version';

/** Rows never change, and a vendor's reputation moves with every order: what was read of an offer is kept with it. */
const known = new WeakMap<Offer, Result<OfferTerms, OfferProblem>>();

export function readOfferTerms(offer: Offer, vendor: Vendor | undefined): Result<OfferTerms, OfferProblem> {
  if (vendor === undefined) return refuse('unknown_vendor');
  if (vendor.kind !== offer.kind) return refuse('kind_differs_from_vendor');
  let terms = known.get(offer);
  if (terms === undefined) {
    terms = readFigures(offer);
    known.set(offer, terms);
  }
  return terms;
}

function readFigures(offer: Offer): Result<OfferTerms, OfferProblem> {
  if (!Number.isSafeInteger(offer.version) || offer.version < 1) return refuse('invalid_version');
  const price = readPrice(offer.pricing);
  if (!price.ok) return price;
  const minFiat = readScaled(offer.minAmount, FIAT_SCALE);
  const maxFiat = readScaled(offer.maxAmount, FIAT_SCALE);
  if (minFiat === null || maxFiat === null || maxFiat === 0n || minFiat > maxFiat)
    return refuse('invalid_range');
  const balance = readScaled(offer.availableBalance, CRYPTO_SCALE);
  if (balance === null) return refuse('invalid_balance');
  const problem = paymentOptionProblem(offer);
  if (problem !== undefined) return refuse(problem);
  return accept({ price: price.value, minFiat, maxFiat, balance, countries: new Set(offer.countries) });
}

function readPrice(pricing: OfferPricing): Result<OfferPrice, 'invalid_price' | 'invalid_margin'> {
  if (pricing.type === 'fixed') {
    const rate = parseRate(pricing.price);
    return rate.ok ? accept({ type: 'fixed', rate: rate.value }) : refuse('invalid_price');
  }
  const percent = parseSignedDecimal(pricing.percent);
  const millionths = percent.ok ? atScale(percent.value, PERCENT_DECIMALS) : null;
  // At 100 % and beyond one side's rate would be zero or negative.
  if (millionths === null || millionths >= WHOLE_IN_MILLIONTHS || millionths <= -WHOLE_IN_MILLIONTHS) {
    return refuse('invalid_margin');
  }
  return accept({ type: 'margin', millionths });
}

function readScaled(text: string, scale: number): bigint | null {
  const decimal = parseDecimal(text);
  return decimal.ok ? atScale(decimal.value, scale) : null;
}

function paymentOptionProblem(offer: Offer): 'no_payment_option' | 'repeated_payment_network' | undefined {
  const options = offer.paymentOptions;
  const usable = options.every(({ methodSlugs }) => methodSlugs === ALL_METHODS || methodSlugs.length > 0);
  if (options.length === 0 || !usable) return 'no_payment_option';
  const networks = new Set(options.map(({ networkSlug }) => networkSlug));
  return networks.size === options.length ? undefined : 'repeated_payment_network';
}
