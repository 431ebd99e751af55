import type { Asset, OfframpPrice, OnrampPrice, Percent, PRICE_REFUSAL_CODES } from '@causeway/protocol';
import type { Direction, Ineligibility, Offer, ProviderScope, Vendor } from '../book/index.ts';

export interface MatchRequest {
  readonly direction: Direction;
  /** With the decimals of the settlement chain's token. */
  readonly crypto: Asset;
  readonly fiat: Asset;
  /** Which of the two amounts is given; the other follows from the rate and the fees. */
  readonly anchor: 'fiat' | 'crypto';
  /** Atomic units of the anchor's asset. */
  readonly amount: bigint;
  readonly partnerFee: Percent;
  /** Slugs narrow the choice; without them the best that is available is taken. */
  readonly paymentMethodSlug?: string | undefined;
  readonly paymentNetworkSlug?: string | undefined;
  readonly country?: string | undefined;
  readonly providerScope: ProviderScope;
  /** True takes only providers that send settlement notifications. */
  readonly settlementNotificationRequired?: boolean | undefined;
}

/** Fiat decimal strings; null is no limit. */
export interface RailLimits {
  readonly minAmount: string | null;
  readonly maxAmount: string | null;
  readonly maxPerTransaction: string | null;
}

/** A rail as the currencies backend knows it, for one currency and direction. */
export interface RailView {
  readonly limits: RailLimits | null;
  /** Methods live now, the one to take where none is named first. No country means any. */
  liveMethods(country: string | undefined): readonly string[];
  isLive(methodSlug: string, country: string | undefined): boolean;
}

/** Undefined where the rail is not live for this currency and direction. */
export type RailLookup = (
  networkSlug: string,
  fiatCurrency: string,
  direction: Direction,
) => RailView | undefined;

/** What matching needs to know of the world outside the book. */
export interface MatchContext {
  /** Market rate, fiat per 1 crypto. Without one only fixed prices can be matched. */
  readonly referenceRate: string | undefined;
  readonly platformFee: Percent;
  readonly rail: RailLookup;
}

/** Why an offer of the pair does not serve a request. Counted for logs and metrics, never shown to a partner. */
export const REJECTION_REASONS = [
  'vendor_inactive',
  'vendor_offline',
  'offer_not_authorized',
  'no_reference_rate',
  'provider_scope',
  'no_settlement_notification',
  'country',
  'payment_network',
  'payment_method',
  'institution_not_live',
  'fees',
  'amount_below_offer',
  'amount_above_offer',
  'rail_limits',
  'insufficient_balance',
] as const satisfies readonly (Ineligibility | string)[];
export type RejectionReason = (typeof REJECTION_REASONS)[number];

/** Only reasons that occurred. */
export type RejectionCounts = Readonly<Partial<Record<RejectionReason, number>>>;

interface MatchedOffer {
  readonly offer: Offer;
  readonly vendor: Vendor;
  /** The customer's rate, spread included. */
  readonly rate: string;
  readonly paymentMethodSlug: string;
  readonly paymentNetworkSlug: string;
  readonly hasFiatSettlementNotification: boolean;
}

export interface OnrampMatch extends MatchedOffer {
  readonly direction: 'onramp';
  readonly price: OnrampPrice;
}

export interface OfframpMatch extends MatchedOffer {
  readonly direction: 'offramp';
  readonly price: OfframpPrice;
}

export type Match = OnrampMatch | OfframpMatch;

export type MatchRefusalCode =
  | 'NO_OFFERS_AVAILABLE'
  /** Some offer would serve another amount. */
  | 'AMOUNT_OUT_OF_RANGE'
  | (typeof PRICE_REFUSAL_CODES)[keyof typeof PRICE_REFUSAL_CODES];

/** What offers and their rails would serve, from the smallest to the largest; there may be gaps between. */
export interface ServableRange {
  /** The fiat currency. */
  readonly currency: string;
  readonly minAmount: string;
  readonly maxAmount: string;
}

export interface MatchRefusal {
  readonly code: MatchRefusalCode;
  /** With AMOUNT_OUT_OF_RANGE, where another amount could be served. */
  readonly range?: ServableRange;
}

export type MatchOutcome =
  /** `rejected` counts the offers with a better rate that could not serve. */
  | { readonly ok: true; readonly match: Match; readonly rejected: RejectionCounts }
  /** `rejected` counts every offer of the pair. */
  | { readonly ok: false; readonly refusal: MatchRefusal; readonly rejected: RejectionCounts };
