import {
  type Asset,
  formatAmount,
  type Percent,
  parseDecimal,
  parsePercent,
  parsePositiveAmount,
  parseRate,
} from '@causeway/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { DIRECTIONS, PROVIDER_SCOPES } from '../book/index.ts';
import type { MatchContext, MatchOutcome, MatchRequest, RailLookup, RailView } from '../matching/index.ts';
import { WireFormatError } from './wire-format.error.ts';

/**
 * The body of `POST /match`. The backend knows offers and nothing else, so the caller brings what the currencies
 * backend knows: decimals, the reference rate, and the rails that are live for this currency and direction.
 */
const Slug = Type.String({ minLength: 1, maxLength: 100 });
const Code = Type.String({ pattern: '^[A-Z0-9]{2,10}$' });
const Country = Type.String({ pattern: '^[A-Z]{2}$' });
const DecimalText = Type.String({ minLength: 1, maxLength: 80 });
const Limit = Type.Union([DecimalText, Type.Null()]);

const WireRail = Type.Object({
  network_slug: Slug,
  limits: Type.Union([
    Type.Object({ min_amount: Limit, max_amount: Limit, max_per_transaction: Limit }),
    Type.Null(),
  ]),
  /** Live methods, the one to take where none is named first. */
  methods: Type.Array(Type.Object({ method_slug: Slug, countries: Type.Array(Country, { maxItems: 300 }) }), {
    maxItems: 5_000,
  }),
});

const WireMatchRequest = Type.Object({
  direction: Type.Enum([...DIRECTIONS]),
  crypto_currency: Code,
  crypto_decimals: Type.Integer({ minimum: 0, maximum: 36 }),
  fiat_currency: Code,
  fiat_decimals: Type.Integer({ minimum: 0, maximum: 4 }),
  fiat_amount: Type.Optional(DecimalText),
  crypto_amount: Type.Optional(DecimalText),
  partner_fee_pct: Type.Optional(DecimalText),
  platform_fee_pct: Type.Optional(DecimalText),
  payment_method_slug: Type.Optional(Slug),
  payment_network_slug: Type.Optional(Slug),
  country_code: Type.Optional(Country),
  provider_scope: Type.Optional(Type.Enum([...PROVIDER_SCOPES])),
  has_fiat_settlement_notification: Type.Optional(Type.Boolean()),
  /** Fiat per 1 crypto; absent or null where there is none to be had. */
  reference_rate: Type.Optional(Limit),
  rails: Type.Array(WireRail, { maxItems: 200 }),
});
const wireMatchRequest = Compile(WireMatchRequest);

export interface MatchCall {
  readonly request: MatchRequest;
  readonly context: MatchContext;
}

/** Throws a WireFormatError that names the place. */
export function parseMatchCall(input: unknown): MatchCall {
  if (!wireMatchRequest.Check(input)) {
    const [first] = wireMatchRequest.Errors(input);
    throw new WireFormatError(first?.instancePath ?? '', first?.message ?? 'is not valid');
  }
  const crypto = { code: input.crypto_currency, decimals: input.crypto_decimals };
  const fiat = { code: input.fiat_currency, decimals: input.fiat_decimals };
  const request: MatchRequest = {
    direction: input.direction,
    crypto,
    fiat,
    ...anchorOf(input, crypto, fiat),
    partnerFee: percentOf('/partner_fee_pct', input.partner_fee_pct),
    paymentMethodSlug: input.payment_method_slug,
    paymentNetworkSlug: input.payment_network_slug,
    country: input.country_code,
    providerScope: input.provider_scope ?? 'all',
    settlementNotificationRequired: input.has_fiat_settlement_notification,
  };
  const context: MatchContext = {
    referenceRate: referenceOf(input.reference_rate),
    platformFee: percentOf('/platform_fee_pct', input.platform_fee_pct),
    rail: railLookup(input.rails),
  };
  return { request, context };
}

export function matchOutcomeToWire({ request }: MatchCall, outcome: MatchOutcome): object {
  if (!outcome.ok) {
    const { code, range } = outcome.refusal;
    return {
      matched: false,
      code,
      details:
        range === undefined
          ? {}
          : { currency: range.currency, min_amount: range.minAmount, max_amount: range.maxAmount },
      rejected: outcome.rejected,
    };
  }
  const { match } = outcome;
  const inCrypto = (atomic: bigint) => formatAmount({ atomic, asset: request.crypto });
  const { price } = match;
  return {
    matched: true,
    offer_id: match.offer.offerId,
    offer_version: match.offer.version,
    vendor_id: match.vendor.vendorId,
    kind: match.offer.kind,
    rate: match.rate,
    crypto_amount: inCrypto(price.cryptoAmount),
    fiat_amount: formatAmount({ atomic: price.fiatAmount, asset: request.fiat }),
    platform_fee: inCrypto(price.platformFee),
    partner_fee: inCrypto(price.partnerFee),
    total_fee: inCrypto(price.totalFee),
    ...(match.direction === 'onramp'
      ? { receipt: inCrypto(match.price.receipt) }
      : { deposit: inCrypto(match.price.deposit) }),
    payment_method_slug: match.paymentMethodSlug,
    payment_network_slug: match.paymentNetworkSlug,
    has_fiat_settlement_notification: match.hasFiatSettlementNotification,
    rejected: outcome.rejected,
  };
}

type WireInput = Static<typeof WireMatchRequest>;

function anchorOf(input: WireInput, crypto: Asset, fiat: Asset): Pick<MatchRequest, 'anchor' | 'amount'> {
  const { fiat_amount: fiatAmount, crypto_amount: cryptoAmount } = input;
  if ((fiatAmount === undefined) === (cryptoAmount === undefined)) {
    throw new WireFormatError('/fiat_amount', 'exactly one of fiat_amount and crypto_amount is needed');
  }
  const anchor = fiatAmount === undefined ? 'crypto' : 'fiat';
  const amount = parsePositiveAmount(fiatAmount ?? cryptoAmount, anchor === 'fiat' ? fiat : crypto);
  if (!amount.ok) throw new WireFormatError(`/${anchor}_amount`, amount.reason);
  return { anchor, amount: amount.value.atomic };
}

function percentOf(path: string, text: string | undefined): Percent {
  const percent = parsePercent(text ?? '0');
  if (!percent.ok) throw new WireFormatError(path, percent.reason);
  return percent.value;
}

function referenceOf(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined) return undefined;
  const rate = parseRate(text);
  if (!rate.ok) throw new WireFormatError('/reference_rate', rate.reason);
  return text;
}

function railLookup(rails: WireInput['rails']): RailLookup {
  const views = new Map(
    rails.map((rail, index) => [rail.network_slug, railView(rail, `/rails/${index}/limits`)]),
  );
  return (networkSlug) => views.get(networkSlug);
}

function railView({ limits, methods }: WireInput['rails'][number], path: string): RailView {
  const bySlug = new Map(methods.map(({ method_slug, countries }) => [method_slug, new Set(countries)]));
  return {
    limits: limits && {
      minAmount: limitOf(`${path}/min_amount`, limits.min_amount),
      maxAmount: limitOf(`${path}/max_amount`, limits.max_amount),
      maxPerTransaction: limitOf(`${path}/max_per_transaction`, limits.max_per_transaction),
    },
    liveMethods: (country) =>
      [...bySlug]
        .filter(([, countries]) => country === undefined || countries.has(country))
        .map(([slug]) => slug),
    isLive: (slug, country) => {
      const countries = bySlug.get(slug);
      return countries !== undefined && (country === undefined || countries.has(country));
    },
  };
}

const MAX_LIMIT_DECIMALS = 6;

function limitOf(path: string, text: string | null): string | null {
  if (text === null) return null;
  const decimal = parseDecimal(text);
  if (!decimal.ok) throw new WireFormatError(path, decimal.reason);
  if (decimal.value.scale > MAX_LIMIT_DECIMALS) throw new WireFormatError(path, 'excess_precision');
  return text;
}

/** The body of `POST /reservations`: the caller names the reservation, so that asking again is asking for the same one. */
const WireReservation = Type.Object({
  reservation_id: Type.String({ pattern: '^[0-9A-Za-z-]{1,64}$' }),
  offer_id: Type.String({ minLength: 1, maxLength: 100 }),
  crypto: Type.String({ minLength: 1, maxLength: 80 }),
});
const wireReservation = Compile(WireReservation);

export function parseReservationCall(body: unknown): Static<typeof WireReservation> {
  if (wireReservation.Check(body)) return body;
  const [problem] = wireReservation.Errors(body);
  throw new WireFormatError(problem?.instancePath ?? '', problem?.message ?? 'is not a reservation');
}
