import { statement } from '../../db/statement.ts';

/** As the table keeps it: without slugs of its own an option takes every method. */
export interface StoredPaymentOption {
  readonly network_slug: string;
  readonly method_slugs: readonly string[] | 'all';
}

export interface OfferRow {
  offer_id: string;
  vendor_id: string;
  side: 'SELL' | 'BUY';
  crypto_currency: string;
  fiat_currency: string;
  fixed_price: string | null;
  margin_pct: string | null;
  min_amount: string;
  max_amount: string;
  payment_options: readonly StoredPaymentOption[];
  countries: readonly string[];
  available_balance: string;
  authorized: boolean;
  version: string;
  created_at: Date;
}

export interface ReviewedOfferRow extends OfferRow {
  vendor_name: string;
}

const COLUMNS = `o.offer_id, o.vendor_id, o.side, o.crypto_currency, o.fiat_currency,
  trim_scale(o.fixed_price)::text AS fixed_price, trim_scale(o.margin_pct)::text AS margin_pct,
  trim_scale(o.min_amount)::text AS min_amount, trim_scale(o.max_amount)::text AS max_amount, o.payment_options,
  o.countries, trim_scale(o.available_balance)::text AS available_balance, o.authorized, o.version::text, o.created_at`;

export const listOffers = statement<[vendorId: string, limit: number, offset: number], OfferRow>(
  'vendor_offers.list',
  `SELECT ${COLUMNS} FROM offers o WHERE o.vendor_id = $1 AND NOT o.withdrawn
    ORDER BY o.created_at DESC, o.offer_id DESC LIMIT $2 OFFSET $3`,
);

/** No key share: a foreign key to the vendor must not wait for it. */
export const lockVendor = statement<[vendorId: string], { vendor_id: string }>(
  'vendor_offers.lock_vendor',
  'SELECT vendor_id FROM vendors WHERE vendor_id = $1 FOR NO KEY UPDATE',
);

export const countOffers = statement<[vendorId: string], { total: string }>(
  'vendor_offers.count',
  'SELECT count(*)::text AS total FROM offers WHERE vendor_id = $1 AND NOT withdrawn',
);

/** Locked, because open orders take from the balance while a vendor changes the rest. */
export const lockOffer = statement<[offerId: string, vendorId: string], OfferRow>(
  'vendor_offers.lock',
  `SELECT ${COLUMNS} FROM offers o WHERE o.offer_id = $1 AND o.vendor_id = $2 AND NOT o.withdrawn FOR UPDATE`,
);

export const insertOffer = statement<
  [
    offerId: string,
    vendorId: string,
    side: string,
    crypto: string,
    fiat: string,
    fixedPrice: string | null,
    marginPct: string | null,
    min: string,
    max: string,
    options: string,
    countries: readonly string[],
    balance: string,
    at: Date,
  ],
  OfferRow
>(
  'vendor_offers.insert',
  `INSERT INTO offers AS o (offer_id, vendor_id, side, crypto_currency, fiat_currency, fixed_price, margin_pct, min_amount,
     max_amount, payment_options, countries, available_balance, created_at)
   VALUES ($1, $2, $3, $4, $5, $6::numeric, $7::numeric, $8::numeric, $9::numeric, $10::jsonb, $11::text[], $12::numeric, $13)
   RETURNING ${COLUMNS}`,
);

/** A new price or balance needs no new authorization: vendors follow the market all day. Everything else does. */
export const updateOffer = statement<
  [
    offerId: string,
    fixedPrice: string | null,
    marginPct: string | null,
    min: string,
    max: string,
    options: string,
    countries: readonly string[],
    balance: string,
  ],
  OfferRow
>(
  'vendor_offers.update',
  `UPDATE offers o SET fixed_price = $2::numeric, margin_pct = $3::numeric, min_amount = $4::numeric,
     max_amount = $5::numeric, payment_options = $6::jsonb, countries = $7::text[], available_balance = $8::numeric,
     authorized = authorized AND min_amount = $4::numeric AND max_amount = $5::numeric
       AND payment_options = $6::jsonb AND countries = $7::text[]
   WHERE o.offer_id = $1 RETURNING ${COLUMNS}`,
);

/** The row stays: quotes and holds name it. */
export const withdrawOffer = statement<[offerId: string, vendorId: string], { offer_id: string }>(
  'vendor_offers.withdraw',
  `UPDATE offers SET withdrawn = true, authorized = false
    WHERE offer_id = $1 AND vendor_id = $2 AND NOT withdrawn RETURNING offer_id`,
);

export const setOnline = statement<[vendorId: string, online: boolean], { online: boolean }>(
  'vendor_offers.set_online',
  'UPDATE vendors SET online = $2 WHERE vendor_id = $1 RETURNING online',
);

export const offersToReview = statement<
  [authorized: boolean | null, vendorId: string | null, limit: number, offset: number],
  ReviewedOfferRow
>(
  'vendor_offers.review',
  `SELECT ${COLUMNS}, v.name AS vendor_name FROM offers o JOIN vendors v USING (vendor_id)
    WHERE NOT o.withdrawn AND ($1::boolean IS NULL OR o.authorized = $1) AND ($2::uuid IS NULL OR o.vendor_id = $2)
    ORDER BY o.created_at, o.offer_id LIMIT $3 OFFSET $4`,
);

export const findReviewedOffer = statement<[offerId: string], ReviewedOfferRow>(
  'vendor_offers.find_reviewed',
  `SELECT ${COLUMNS}, v.name AS vendor_name FROM offers o JOIN vendors v USING (vendor_id) WHERE o.offer_id = $1`,
);

export const countOffersToReview = statement<
  [authorized: boolean | null, vendorId: string | null],
  { total: string }
>(
  'vendor_offers.count_review',
  `SELECT count(*)::text AS total FROM offers
    WHERE NOT withdrawn AND ($1::boolean IS NULL OR authorized = $1) AND ($2::uuid IS NULL OR vendor_id = $2)`,
);

export const lockReviewed = statement<[offerId: string], { authorized: boolean; version: string }>(
  'vendor_offers.lock_reviewed',
  'SELECT authorized, version::text FROM offers WHERE offer_id = $1 AND NOT withdrawn FOR UPDATE',
);

export const setAuthorized = statement<
  [offerId: string, authorized: boolean],
  { authorized: boolean; version: string }
>(
  'vendor_offers.set_authorized',
  'UPDATE offers SET authorized = $2 WHERE offer_id = $1 RETURNING authorized, version::text',
);
