import {
  type AmountRefusal,
  type Asset,
  CausewayError,
  type DetailsOf,
  type ErrorCode,
  type Percent,
  type PricingRequest,
  parsePercent,
  parsePositiveAmount,
  ZERO_PERCENT,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { invalidFields, invalidRequest } from '../../http/errors.ts';
import { upperCode } from '../../lib/iso-codes.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { Catalogue, Currencies } from '../../ports/currencies.ts';
import {
  type Direction,
  type Exclusion,
  explainRefusal,
  type Match,
  type MatchOutcome,
  type MatchRequest,
  matchOffer,
  type Offers,
  PROVIDER_SCOPES,
  type ProviderScope,
  REJECTION_REASONS,
  type RejectionCounts,
} from '../../ports/offers.ts';
import { railLookupOf } from '../../upstream/offers/offers-market.ts';
import type { RateTable } from '../../upstream/rates/rate-table.ts';

const known = new WeakMap<RateTable, Map<string, string | undefined>>();

/**
 * The market's rate, fiat per 1 crypto; undefined where there is none that may be priced on. Crossing currencies takes
 * longer than a match, so each pair is worked out once for each publication.
 */
export function referenceRateOf(rates: RateTable, crypto: string, fiat: string): string | undefined {
  let pairs = known.get(rates);
  if (pairs === undefined) {
    pairs = new Map();
    known.set(rates, pairs);
  }
  const key = `${crypto}/${fiat}`;
  if (pairs.has(key)) return pairs.get(key);
  const decision = rates.requireRate(crypto, fiat);
  const rate = decision.ok ? decision.rate.rate : undefined;
  pairs.set(key, rate);
  return rate;
}

/** What pricing looks at: everything is in memory, nothing is queried. */
export interface PricingDeps {
  readonly currencies: Currencies;
  readonly offers: Offers;
  readonly metrics: Pick<Metrics, 'quotesRefusedTotal'>;
  readonly logger: Logger;
}

type Refused = Extract<MatchOutcome, { ok: false }>;

/** The best offer that can really serve the request, or the refusal that the partner gets to see. */
export function findMatch(deps: PricingDeps, request: MatchRequest, platformFee: Percent): Match {
  const { reference, rates } = deps.currencies.current();
  const book = deps.offers.book();
  const context = {
    referenceRate: referenceRateOf(rates, request.crypto.code, request.fiat.code),
    platformFee,
    rail: railLookupOf(reference.catalogue),
  };
  const outcome = matchOffer(book, request, context);
  if (outcome.ok) return outcome.match;
  const { error, reason } = refusalOf(outcome, request.anchor, () => explainRefusal(book, request, context));
  deps.metrics.quotesRefusedTotal.inc({ direction: request.direction, reason });
  deps.logger.info(
    {
      direction: request.direction,
      crypto_currency: request.crypto.code,
      fiat_currency: request.fiat.code,
      payment_network_slug: request.paymentNetworkSlug,
      payment_method_slug: request.paymentMethodSlug,
      country_code: request.country,
      provider_scope: request.providerScope,
      code: error.code,
      reason,
      rejected: outcome.rejected,
    },
    'no offer serves the request',
  );
  throw error;
}

function refusalOf(
  { refusal, rejected }: Refused,
  anchor: MatchRequest['anchor'],
  explain: () => readonly Exclusion[],
): { error: CausewayError; reason: string } {
  // Offers that follow the market wait for a rate they may be priced on; an old one is no substitute.
  if (rejected.no_reference_rate !== undefined) {
    return {
      error: new CausewayError('SERVICE_UNAVAILABLE', {
        message: 'There is no current market rate for this pair. Try again shortly.',
      }),
      reason: 'no_reference_rate',
    };
  }
  // Some offer takes the amount, and the fees leave nothing of it: another amount is not what is needed.
  if (rejected.fees !== undefined && refusal.code === 'AMOUNT_OUT_OF_RANGE') {
    return { error: new CausewayError('INVALID_PARTNER_FEE'), reason: 'fees' };
  }
  switch (refusal.code) {
    case 'NO_OFFERS_AVAILABLE':
      return {
        error: new CausewayError('NO_OFFERS_AVAILABLE', { details: { excluded_by: excludedBy(explain()) } }),
        reason: mainReason(rejected),
      };
    case 'AMOUNT_OUT_OF_RANGE': {
      const { range } = refusal;
      const details = { ...rangeView(range), excluded_by: excludedBy(explain()) };
      const message = `${anchor}_amount is outside the range that can be served.`;
      return {
        error: new CausewayError('AMOUNT_OUT_OF_RANGE', { message, details }),
        reason: mainReason(rejected),
      };
    }
    default:
      return { error: new CausewayError(refusal.code), reason: 'fees' };
  }
}

type ExcludedBy = NonNullable<DetailsOf<'NO_OFFERS_AVAILABLE'>['excluded_by']>;

function excludedBy(exclusions: readonly Exclusion[]): ExcludedBy {
  return exclusions.map(({ condition, available, range }) => ({
    condition,
    ...(available === undefined ? {} : { available: [...available] }),
    ...rangeView(range),
  }));
}

function rangeView(range: Exclusion['range']) {
  if (range === undefined) return {};
  return { currency: range.currency, min_amount: range.minAmount, max_amount: range.maxAmount };
}

/** What kept most offers from serving; among equals the one that matching names first. */
function mainReason(rejected: RejectionCounts): string {
  let main = 'no_offers_for_pair';
  let most = 0;
  for (const reason of REJECTION_REASONS) {
    const count = rejected[reason] ?? 0;
    if (count > most) {
      main = reason;
      most = count;
    }
  }
  return main;
}

type Request = Static<typeof PricingRequest> & { readonly has_fiat_settlement_notification?: boolean };

/** What a request asks to be priced, every field read and understood; or a 400 that names the field that is not. */
export function readTerms(
  direction: Direction,
  request: Request,
  catalogue: Catalogue,
  tokens: readonly Asset[],
): MatchRequest {
  const crypto = cryptoOf(request.crypto_currency, tokens);
  const fiat = fiatOf(request.fiat_currency, catalogue);
  const { anchor, amount } = anchorOf(request, crypto, fiat);
  return {
    direction,
    crypto,
    fiat,
    anchor,
    amount,
    partnerFee:
      request.partner_fee_pct === undefined
        ? ZERO_PERCENT
        : readPercent(request.partner_fee_pct, 'partner_fee_pct'),
    paymentMethodSlug: knownMethod(request.payment_method_slug, catalogue),
    paymentNetworkSlug: knownNetwork(request.payment_network_slug, catalogue),
    country: knownCountry(request.country_code, catalogue),
    providerScope: scopeOf(request.provider_scope),
    settlementNotificationRequired: request.has_fiat_settlement_notification,
  };
}

export function readPercent(value: string | number, path: string): Percent {
  const parsed = parsePercent(value);
  if (!parsed.ok) throw invalidRequest(path, `is not a valid percentage (${parsed.reason})`);
  return parsed.value;
}

export function cryptoOf(code: string, tokens: readonly Asset[]): Asset {
  const wanted = upperCode(code);
  const token = tokens.find((candidate) => candidate.code === wanted);
  if (token === undefined) {
    throw new CausewayError('UNSUPPORTED_CRYPTO_CURRENCY', { message: 'crypto_currency is not supported.' });
  }
  return { code: token.code, decimals: token.decimals };
}

export function fiatOf(code: string, catalogue: Catalogue): Asset {
  const currency = catalogue.fiatCurrency(upperCode(code));
  if (currency === undefined) {
    throw new CausewayError('UNSUPPORTED_FIAT_CURRENCY', { message: 'fiat_currency is not supported.' });
  }
  return { code: currency.code, decimals: currency.minorUnits };
}

function anchorOf(
  { fiat_amount: fiatText, crypto_amount: cryptoText }: Request,
  crypto: Asset,
  fiat: Asset,
): { anchor: 'fiat' | 'crypto'; amount: bigint } {
  if ((fiatText === undefined) === (cryptoText === undefined)) {
    const message = 'give exactly one of fiat_amount and crypto_amount';
    throw invalidFields([
      { path: 'fiat_amount', message },
      { path: 'crypto_amount', message },
    ]);
  }
  const anchor = fiatText === undefined ? 'crypto' : 'fiat';
  const asset = anchor === 'fiat' ? fiat : crypto;
  return { anchor, amount: readAmount(`${anchor}_amount`, fiatText ?? cryptoText ?? '', asset) };
}

export function readAmount(path: string, text: string, asset: Asset): bigint {
  const amount = parsePositiveAmount(text, asset);
  if (!amount.ok) throw invalidRequest(path, amountProblem(amount.reason, asset));
  return amount.value.atomic;
}

/** Decimals are counted as written: `100.00` of a currency without minor units may be meant as 10000 of them. */
function amountProblem(reason: AmountRefusal, { code, decimals }: Asset): string {
  switch (reason) {
    case 'excess_precision':
      return `has more decimals than ${code} takes (${decimals})`;
    case 'not_positive':
      return 'must be above zero';
    default:
      return `is not a valid amount (${reason})`;
  }
}

function knownMethod(slug: string | undefined, catalogue: Catalogue): string | undefined {
  if (slug !== undefined && catalogue.paymentMethods.bySlug(slug) === undefined) {
    throw invalidRequest('payment_method_slug', 'is not a known payment method');
  }
  return slug;
}

/** A rail that is not live at present is known all the same: it has no offers, which is another answer. */
function knownNetwork(slug: string | undefined, catalogue: Catalogue): string | undefined {
  if (slug === undefined || catalogue.rail(slug) !== undefined) return slug;
  if (!catalogue.data.rails.some((rail) => rail.slug === slug)) {
    throw invalidRequest('payment_network_slug', 'is not a known payment network');
  }
  return slug;
}

export function knownCountry(code: string | undefined, catalogue: Catalogue): string | undefined {
  const country = code?.toUpperCase();
  if (country !== undefined && !catalogue.hasCountry(country)) {
    throw invalidRequest('country_code', 'is not an ISO 3166-1 country');
  }
  return country;
}

function scopeOf(text: string | undefined): ProviderScope {
  if (text === undefined) return 'all';
  const scope = PROVIDER_SCOPES.find((known) => known === text);
  if (scope === undefined) throw new CausewayError('INVALID_PROVIDER_SCOPE');
  return scope;
}

/** What pricing can refuse, in estimates and quotes alike. */
export const PRICING_ERRORS: readonly ErrorCode[] = [
  'INVALID_PARTNER_FEE',
  'UNSUPPORTED_CRYPTO_CURRENCY',
  'UNSUPPORTED_FIAT_CURRENCY',
  'INVALID_PROVIDER_SCOPE',
  'AMOUNT_OUT_OF_RANGE',
  'NO_OFFERS_AVAILABLE',
  'SERVICE_UNAVAILABLE',
];
