import type { ALL_METHODS, Offer, OfferSide, Vendor, VendorKind } from '@causeway/offers';
import { statement } from '../db/statement.ts';

/** All SQL of the offers backend in this process. */
export interface VendorBookRow {
  vendor_id: string;
  name: string;
  kind: VendorKind;
  active: boolean;
  online: boolean;
  completed_orders: number;
  failed_orders: number;
  disputed_orders: number;
}

export const allVendors = statement<[], VendorBookRow>(
  'offers.vendors',
  `SELECT vendor_id, name, kind, active, online, completed_orders, failed_orders, disputed_orders FROM vendors`,
);

interface WirePaymentOption {
  network_slug: string;
  method_slugs: string[] | typeof ALL_METHODS;
}

/** One row always, for the horizon; its offer columns are null where nothing has changed. */
export interface OfferBookRow {
  /** Every transaction before it has ended: the next look begins here. */
  horizon: string;
  offer_id: string | null;
  vendor_id: string;
  kind: VendorKind;
  side: OfferSide;
  crypto_currency: string;
  fiat_currency: string;
  fixed_price: string | null;
  margin_pct: string | null;
  min_amount: string;
  max_amount: string;
  payment_options: WirePaymentOption[];
  countries: string[];
  available_balance: string;
  authorized: boolean;
  withdrawn: boolean;
  version: string;
  created_at: Date;
}

export const changedOffers = statement<[since: string], OfferBookRow>(
  'offers.changed',
  `SELECT h.horizon, o.offer_id, o.vendor_id, v.kind, o.side, o.crypto_currency, o.fiat_currency,
          trim_scale(o.fixed_price)::text AS fixed_price, trim_scale(o.margin_pct)::text AS margin_pct,
          trim_scale(o.min_amount)::text AS min_amount, trim_scale(o.max_amount)::text AS max_amount,
          o.payment_options, o.countries, trim_scale(o.available_balance)::text AS available_balance,
          o.authorized, o.withdrawn, o.version::text, o.created_at
     FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon) h
     LEFT JOIN (offers o JOIN vendors v USING (vendor_id)) ON o.changed_in >= $1::xid8`,
);

export const takeBalance = statement<[offerId: string, crypto: string], { taken: boolean | null }>(
  'offers.take_balance',
  'SELECT take_offer_balance($1, $2::numeric) AS taken',
);

export const giveBackBalance = statement<[offerId: string, crypto: string]>(
  'offers.give_back_balance',
  'SELECT return_offer_balance($1, $2::numeric)',
);

export function vendorOf(row: VendorBookRow): Vendor {
  return {
    vendorId: row.vendor_id,
    name: row.name,
    kind: row.kind,
    active: row.active,
    online: row.online,
    reputation: {
      completedOrders: row.completed_orders,
      failedOrders: row.failed_orders,
      disputedOrders: row.disputed_orders,
    },
  };
}

export function offerOf(row: OfferBookRow & { offer_id: string }): Offer {
  return {
    offerId: row.offer_id,
    vendorId: row.vendor_id,
    kind: row.kind,
    side: row.side,
    cryptoCurrency: row.crypto_currency,
    fiatCurrency: row.fiat_currency,
    pricing:
      row.fixed_price === null
        ? { type: 'margin', percent: row.margin_pct ?? '' }
        : { type: 'fixed', price: row.fixed_price },
    minAmount: row.min_amount,
    maxAmount: row.max_amount,
    paymentOptions: row.payment_options.map(({ network_slug, method_slugs }) => ({
      networkSlug: network_slug,
      methodSlugs: method_slugs,
    })),
    countries: row.countries,
    availableBalance: row.available_balance,
    authorized: row.authorized,
    version: Number(row.version),
    createdAt: row.created_at.getTime(),
  };
}

/**
 * A whole market at once. Vendors are found by name, because every deployment gives its vendors ids of its own; an offer
 * that is there already stays as it is.
 */
export const seedOffers = statement<[offers: string]>(
  'offers.seed',
  `INSERT INTO offers (offer_id, vendor_id, side, crypto_currency, fiat_currency, fixed_price, margin_pct, min_amount,
     max_amount, payment_options, countries, available_balance, authorized, created_at)
   SELECT s.offer_id, v.vendor_id, s.side, s.crypto_currency, s.fiat_currency, s.fixed_price, s.margin_pct, s.min_amount,
     s.max_amount, s.payment_options, s.countries, s.available_balance, true, s.created_at
     FROM jsonb_to_recordset($1::jsonb) AS s(offer_id uuid, vendor_name text, side text, crypto_currency text,
       fiat_currency text, fixed_price numeric, margin_pct numeric, min_amount numeric, max_amount numeric,
       payment_options jsonb, countries text[], available_balance numeric, created_at timestamptz)
     JOIN vendors v ON v.name = s.vendor_name
   ON CONFLICT (offer_id) DO NOTHING`,
);

/** What seedOffers reads. */
export function seedRowOf(offer: Offer, vendorName: string): object {
  return {
    offer_id: offer.offerId,
    vendor_name: vendorName,
    side: offer.side,
    crypto_currency: offer.cryptoCurrency,
    fiat_currency: offer.fiatCurrency,
    fixed_price: offer.pricing.type === 'fixed' ? offer.pricing.price : null,
    margin_pct: offer.pricing.type === 'margin' ? offer.pricing.percent : null,
    min_amount: offer.minAmount,
    max_amount: offer.maxAmount,
    payment_options: offer.paymentOptions.map(({ networkSlug, methodSlugs }) => ({
      network_slug: networkSlug,
      method_slugs: methodSlugs,
    })),
    countries: offer.countries,
    available_balance: offer.availableBalance,
    created_at: new Date(offer.createdAt).toISOString(),
  };
}
