/**
 * What vendors and automated providers offer. A row is plain data as stored or received; amounts, prices and
 * percentages are decimal strings and become whole numbers only inside the book.
 */

/** `p2p` is the vendor marketplace; `direct` is an automated provider, which sends settlement notifications. */
export const VENDOR_KINDS = ['p2p', 'direct'] as const;
export type VendorKind = (typeof VENDOR_KINDS)[number];

export const PROVIDER_SCOPES = ['all', ...VENDOR_KINDS] as const;
export type ProviderScope = (typeof PROVIDER_SCOPES)[number];

export const DIRECTIONS = ['onramp', 'offramp'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** What the vendor does with crypto: it sells to an on-ramp customer and buys from an off-ramp customer. */
export const OFFER_SIDES = ['SELL', 'BUY'] as const;
export type OfferSide = (typeof OFFER_SIDES)[number];

/** The same trade seen by the partner, as the contract's trade_type. */
export type TradeType = OfferSide;

export interface Reputation {
  readonly completedOrders: number;
  /** Accepted and not carried out: timed out or cancelled by the vendor. */
  readonly failedOrders: number;
  readonly disputedOrders: number;
}

interface VendorRecord {
  readonly vendorId: string;
  readonly name: string;
  /** Admitted by the operator and not suspended. */
  readonly active: boolean;
  /** Takes orders at present; the vendor's own switch. */
  readonly online: boolean;
  readonly reputation: Reputation;
}

export interface P2pVendor extends VendorRecord {
  readonly kind: 'p2p';
}

/** Confirms by itself that fiat has reached the recipient. */
export interface DirectProvider extends VendorRecord {
  readonly kind: 'direct';
}

export type Vendor = P2pVendor | DirectProvider;

export type OfferPricing =
  /** Fiat per 1 crypto, whatever the market does. */
  | { readonly type: 'fixed'; readonly price: string }
  /** Percent of the reference rate that the vendor keeps; below zero it gives some away. */
  | { readonly type: 'margin'; readonly percent: string };

/** Every method of the rail that is live when asked. */
export const ALL_METHODS = 'all';

export interface PaymentOption {
  /** The rail. */
  readonly networkSlug: string;
  /** Institutions on that rail, the vendor's preferred one first. */
  readonly methodSlugs: readonly string[] | typeof ALL_METHODS;
}

export interface Offer {
  readonly offerId: string;
  readonly vendorId: string;
  readonly kind: VendorKind;
  readonly side: OfferSide;
  readonly cryptoCurrency: string;
  readonly fiatCurrency: string;
  readonly pricing: OfferPricing;
  /** Fiat, both ends included. */
  readonly minAmount: string;
  readonly maxAmount: string;
  /** The vendor's preferred rail first; this order decides where a request leaves the choice open. */
  readonly paymentOptions: readonly PaymentOption[];
  readonly countries: readonly string[];
  /** Crypto that the vendor can still sell or, on the BUY side, that its fiat can still buy. */
  readonly availableBalance: string;
  /** By the operator. */
  readonly authorized: boolean;
  /** Grows with every change of the offer. */
  readonly version: number;
  /** Milliseconds since 1970; the older of two equal offers is served first. */
  readonly createdAt: number;
}

export interface OfferRows {
  readonly vendors: readonly Vendor[];
  readonly offers: readonly Offer[];
}

export function sideServing(direction: Direction): OfferSide {
  return direction === 'onramp' ? 'SELL' : 'BUY';
}

export function directionServedBy(side: OfferSide): Direction {
  return side === 'SELL' ? 'onramp' : 'offramp';
}

/** A vendor that sells is one the partner buys from. */
export function partnerTradeType(side: OfferSide): TradeType {
  return side === 'SELL' ? 'BUY' : 'SELL';
}

export function sendsSettlementNotifications(kind: VendorKind): boolean {
  return kind === 'direct';
}
