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

export interface Standing {
  readonly offer: Pick<Offer, 'offerId' | 'createdAt'>;
  readonly vendor: Pick<Vendor, 'reputation'>;
}

/**
 * Who is served first at the same customer rate: the vendor with the better reputation, then the older offer, then
 * the lower offer id. Ids are unique, so there is always exactly one first, whatever order rows were read in.
 */
export function compareStanding(left: Standing, right: Standing): number {
  const byReputation = compareReputation(right.vendor.reputation, left.vendor.reputation);
  if (byReputation !== 0) return byReputation;
  if (left.offer.createdAt !== right.offer.createdAt) return left.offer.createdAt - right.offer.createdAt;
  if (left.offer.offerId === right.offer.offerId) return 0;
  return left.offer.offerId < right.offer.offerId ? -1 : 1;
}

/**
 * Positive where `left` is better: the share of orders carried out, with one success and one failure added to
 * each, so that a newcomer stands at one half and a single lucky order does not beat a long good record.
 */
export function compareReputation(left: Reputation, right: Reputation): number {
  const gap = successes(left) * trials(right) - successes(right) * trials(left);
  if (gap === 0n) return 0;
  return gap > 0n ? 1 : -1;
}

function successes({ completedOrders }: Reputation): bigint {
  return BigInt(completedOrders) + 1n;
}

function trials({ completedOrders, failedOrders, disputedOrders }: Reputation): bigint {
  return BigInt(completedOrders) + BigInt(failedOrders) + BigInt(disputedOrders) + 2n;
}
