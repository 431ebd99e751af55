import {
  type Asset,
  type OfferInput,
  type OfferPatchInput,
  parseAmount,
  parseRate,
  parseSignedDecimal,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { invalidFields, invalidRequest } from '../../http/errors.ts';
import type { Catalogue } from '../../ports/currencies.ts';
import type { OfferRow, StoredPaymentOption } from './offer.store.ts';

/** What an offer is judged against. */
export interface OfferGround {
  readonly catalogue: Catalogue;
  /** Of every chain; the same code may have other decimals elsewhere. */
  readonly tokens: readonly Asset[];
}

export type OfferTerms = Pick<
  OfferRow,
  | 'side'
  | 'crypto_currency'
  | 'fiat_currency'
  | 'fixed_price'
  | 'margin_pct'
  | 'min_amount'
  | 'max_amount'
  | 'payment_options'
  | 'countries'
  | 'available_balance'
>;

const MARGIN_DECIMALS = 6;
const WHOLE_PERCENT = 100n;

/** A new offer, every field understood; or a 400 that names the field that is not. */
export function readNewOffer(given: Static<typeof OfferInput>, ground: OfferGround): OfferTerms {
  const { price, margin_pct } = given;
  if ((price === undefined) === (margin_pct === undefined)) throw oneOfPrices();
  return judged(
    {
      ...given,
      crypto_currency: given.crypto_currency.toUpperCase(),
      fiat_currency: given.fiat_currency.toUpperCase(),
      fixed_price: price ?? null,
      margin_pct: margin_pct ?? null,
      payment_options: given.payment_options.map(storedOption),
      countries: countriesOf(given.countries),
    },
    ground,
  );
}

/** An offer with some terms changed, judged as the whole it becomes. */
export function readOfferChange(
  offer: OfferTerms,
  change: Static<typeof OfferPatchInput>,
  ground: OfferGround,
): OfferTerms {
  const { price, margin_pct } = change;
  if (price !== undefined && margin_pct !== undefined) throw oneOfPrices();
  const repriced = price !== undefined || margin_pct !== undefined;
  return judged(
    {
      side: offer.side,
      crypto_currency: offer.crypto_currency,
      fiat_currency: offer.fiat_currency,
      fixed_price: repriced ? (price ?? null) : offer.fixed_price,
      margin_pct: repriced ? (margin_pct ?? null) : offer.margin_pct,
      min_amount: change.min_amount ?? offer.min_amount,
      max_amount: change.max_amount ?? offer.max_amount,
      payment_options: change.payment_options?.map(storedOption) ?? offer.payment_options,
      countries: change.countries === undefined ? offer.countries : countriesOf(change.countries),
      available_balance: change.available_balance ?? offer.available_balance,
    },
    ground,
  );
}

function oneOfPrices() {
  const message = 'give exactly one of price and margin_pct';
  return invalidFields([
    { path: 'price', message },
    { path: 'margin_pct', message },
  ]);
}

function storedOption(option: { network_slug: string; method_slugs?: string[] }): StoredPaymentOption {
  return { network_slug: option.network_slug, method_slugs: option.method_slugs ?? 'all' };
}

function countriesOf(codes: readonly string[]): string[] {
  return [...new Set(codes.map((code) => code.toUpperCase()))];
}

function judged(terms: OfferTerms, ground: OfferGround): OfferTerms {
  checkPrice(terms);
  checkAmounts(terms, ground);
  checkPlaces(terms, ground.catalogue);
  return terms;
}

function checkPrice({ fixed_price, margin_pct }: OfferTerms): void {
  if (fixed_price !== null) {
    const rate = parseRate(fixed_price);
    if (!rate.ok) throw invalidRequest('price', `is not a valid price (${rate.reason})`);
  }
  if (margin_pct === null) return;
  const percent = parseSignedDecimal(margin_pct);
  if (!percent.ok) throw invalidRequest('margin_pct', `is not a valid percentage (${percent.reason})`);
  const { unscaled, scale } = percent.value;
  if (scale > MARGIN_DECIMALS) throw invalidRequest('margin_pct', 'has more than 6 decimals');
  const whole = WHOLE_PERCENT * 10n ** BigInt(scale);
  if (unscaled >= whole || unscaled <= -whole) {
    throw invalidRequest('margin_pct', 'must lie between -100 and 100');
  }
}

function checkAmounts(terms: OfferTerms, { catalogue, tokens }: OfferGround): void {
  const fiat = catalogue.fiatCurrency(terms.fiat_currency);
  if (fiat === undefined) throw invalidRequest('fiat_currency', 'is not supported');
  const decimals = tokens.filter(({ code }) => code === terms.crypto_currency).map((token) => token.decimals);
  if (decimals.length === 0) throw invalidRequest('crypto_currency', 'is not supported');
  const fiatAsset = { code: fiat.code, decimals: fiat.minorUnits };
  const min = amountOf('min_amount', terms.min_amount, fiatAsset);
  const max = amountOf('max_amount', terms.max_amount, fiatAsset);
  if (max === 0n || max < min) {
    throw invalidRequest('max_amount', 'must be above zero and not below min_amount');
  }
  // An order on any chain may have taken from the balance, so the finest token decides.
  const finest = Math.max(...decimals);
  amountOf('available_balance', terms.available_balance, { code: terms.crypto_currency, decimals: finest });
}

function amountOf(path: string, text: string, asset: Asset): bigint {
  const amount = parseAmount(text, asset);
  if (!amount.ok) throw invalidRequest(path, `is not a valid amount (${amount.reason})`);
  return amount.value.atomic;
}

function checkPlaces(terms: OfferTerms, catalogue: Catalogue): void {
  const unknown = terms.countries.find((code) => !catalogue.hasCountry(code));
  if (unknown !== undefined) throw invalidRequest('countries', 'must be ISO 3166-1 countries');
  const direction = terms.side === 'SELL' ? 'onramp' : 'offramp';
  const seen = new Set<string>();
  for (const [index, option] of terms.payment_options.entries()) {
    const path = `payment_options/${index}`;
    const rail = catalogue.data.rails.find(({ slug }) => slug === option.network_slug);
    if (rail === undefined) throw invalidRequest(`${path}/network_slug`, 'is not a known payment network');
    if (!rail.currencies.includes(terms.fiat_currency) || !rail.directions.includes(direction)) {
      throw invalidRequest(`${path}/network_slug`, 'does not carry this currency in this direction');
    }
    if (seen.has(rail.slug)) throw invalidRequest(`${path}/network_slug`, 'is named twice');
    seen.add(rail.slug);
    const methods = option.method_slugs === 'all' ? [] : option.method_slugs;
    if (methods.some((slug) => catalogue.paymentMethods.bySlug(slug) === undefined)) {
      throw invalidRequest(`${path}/method_slugs`, 'must be known payment methods');
    }
  }
}
