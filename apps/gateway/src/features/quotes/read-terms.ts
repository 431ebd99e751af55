import {
  type AmountRefusal,
  type Asset,
  CausewayError,
  type Percent,
  type PricingRequest,
  parsePercent,
  parsePositiveAmount,
  ZERO_PERCENT,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { invalidFields, invalidRequest } from '../../http/errors.ts';
import type { Catalogue } from '../../upstream/currencies.port.ts';
import {
  type Direction,
  type MatchRequest,
  PROVIDER_SCOPES,
  type ProviderScope,
} from '../../upstream/offers.port.ts';

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

function cryptoOf(code: string, tokens: readonly Asset[]): Asset {
  const wanted = code.toUpperCase();
  const token = tokens.find((candidate) => candidate.code === wanted);
  if (token === undefined) {
    throw new CausewayError('UNSUPPORTED_CRYPTO_CURRENCY', { message: 'crypto_currency is not supported.' });
  }
  return { code: token.code, decimals: token.decimals };
}

function fiatOf(code: string, catalogue: Catalogue): Asset {
  const currency = catalogue.fiatCurrency(code.toUpperCase());
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
  const amount = parsePositiveAmount(fiatText ?? cryptoText, asset);
  if (!amount.ok) throw invalidRequest(`${anchor}_amount`, amountProblem(amount.reason, asset));
  return { anchor, amount: amount.value.atomic };
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

function knownCountry(code: string | undefined, catalogue: Catalogue): string | undefined {
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
