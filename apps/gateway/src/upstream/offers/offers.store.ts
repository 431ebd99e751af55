import type { ALL_METHODS, Offer, OfferSide, Vendor, VendorKind } from '@causeway/offers';
import { type Announcement, plannedOnce, statement } from '../../db/statement.ts';

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

export interface OfferBookRow {
  offer_id: string;
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

/** One row always, for the horizon; its offer columns are null where nothing has changed. */
export type ChangedOfferRow = (OfferBookRow | { readonly offer_id: null }) & {
  /** Every transaction before it has ended: the next look begins here. */
  readonly horizon: string;
};

const BOOK_COLUMNS = `o.offer_id, o.vendor_id, v.kind, o.side, o.crypto_currency, o.fiat_currency,
          trim_scale(o.fixed_price)::text AS fixed_price, trim_scale(o.margin_pct)::text AS margin_pct,
          trim_scale(o.min_amount)::text AS min_amount, trim_scale(o.max_amount)::text AS max_amount,
          o.payment_options, o.countries, trim_scale(o.available_balance)::text AS available_balance,
          o.authorized, o.withdrawn, o.version::text, o.created_at`;

/** Reads all offers to find them: for a first look, and for what no announcement told. */
export const changedOffers = statement<[since: string], ChangedOfferRow>(
  'offers.changed',
  `SELECT h.horizon, ${BOOK_COLUMNS}
     FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon) h
     LEFT JOIN (offers o JOIN vendors v USING (vendor_id)) ON o.changed_in >= $1::xid8`,
);

export const offersById = plannedOnce(
  statement<[offerIds: readonly string[]], OfferBookRow>(
    'offers.by_id',
    `SELECT ${BOOK_COLUMNS} FROM offers o JOIN vendors v USING (vendor_id) WHERE o.offer_id = ANY($1::uuid[])`,
  ),
);

/** Told after the commit: inside the transaction it would take a lock of the whole server (decision 0018). */
function offerChanged(offerId: string): Announcement {
  return { channel: 'offers_changed', payload: offerId, canWait: true };
}

/**
 * Takes what an order needs from an offer. Orders queue for the best offer's row, so its commit does not wait for the disk:
 * the order that follows commits later in the same log, and its flush carries the reservation along. One that is lost
 * without its order is one that is not needed.
 */
export const reserveOffer = statement<
  [quoteId: string, offerId: string, crypto: string],
  { reserved: boolean }
>('offers.reserve', 'SELECT reserve_balance($1, $2, $3::numeric) AS reserved', ([, offerId], [row]) =>
  row?.reserved === true ? [offerChanged(offerId)] : [],
);

/** What is reserved for a quote is still wanted where the offer serves it, or where another order is just being written for it. */
const STILL_WANTED = `EXISTS (SELECT FROM quotes q WHERE q.quote_id = $1 AND q.serving_offer_id = $2)
     OR EXISTS (SELECT FROM quote_claims c WHERE c.quote_id = $1 AND c.order_id IS NULL)`;

export const releaseReservation = statement<[quoteId: string, offerId: string]>(
  'offers.release_reservation',
  `WITH ended AS (
     DELETE FROM offer_reservations WHERE quote_id = $1 AND offer_id = $2 AND NOT (${STILL_WANTED}) RETURNING offer_id, crypto)
   UPDATE offers o SET available_balance = o.available_balance + e.crypto FROM ended e WHERE o.offer_id = e.offer_id`,
);

export const consumeReservation = statement<[quoteId: string, offerId: string]>(
  'offers.consume_reservation',
  'DELETE FROM offer_reservations WHERE quote_id = $1 AND offer_id = $2',
);

/** Of all quotes the oldest, or all of the given ones, each found by its id however many others there are. */
const ANY_QUOTE = { from: '', first: 'ORDER BY r.reserved_at LIMIT $4' };
const GIVEN_QUOTES = {
  from: 'unnest($4::uuid[]) AS given (quote_id) JOIN',
  on: 'USING (quote_id)',
  first: '',
};
type Among = { readonly from: string; readonly on?: string; readonly first: string };

/** Which reservations of a table are no longer owed, and whether their orders settled. */
const finished = (table: string, key: string, open: string, { from, on = '', first }: Among) => `
     SELECT ${key}, o.status IS NOT NULL AND o.status = ANY($1::text[]) AS is_settled
       FROM ${from} ${table} r ${on}
       LEFT JOIN orders o ON o.quote_id = r.quote_id
       LEFT JOIN quotes q ON q.quote_id = r.quote_id
      WHERE ${open} AND (o.status = ANY($1::text[]) OR o.status = ANY($2::text[]) OR r.offer_id = ANY(o.declined_offer_ids)
         OR ((o.order_id IS NULL OR q.serving_offer_id IS DISTINCT FROM r.offer_id)
             AND r.reserved_at < clock_timestamp() - $3::int * interval '1 millisecond'))
      ${first} FOR UPDATE OF r SKIP LOCKED`;

type Finished = [settled: readonly string[], stopped: readonly string[], abandonedAfterMs: number];
type FinishedParams = [...Finished, limit: number];
type FinishedOfQuotesParams = [...Finished, quoteIds: readonly string[]];

/**
 * Ends reservations: of orders that settled, whose crypto is gone for good; and of orders that stopped, of vendors that declined,
 * of quotes that another vendor serves, and of quotes that no order came of for a while, whose crypto goes back to the
 * offer. The commit does not wait for the disk: what a crash undoes is found again.
 */
const endReservationsAmong = (among: Among) => `WITH due AS (
     ${finished('offer_reservations', 'r.quote_id, r.offer_id', 'true', among)}),
   ended AS (
     DELETE FROM offer_reservations r USING due d WHERE r.quote_id = d.quote_id AND r.offer_id = d.offer_id
     RETURNING r.offer_id, CASE WHEN d.is_settled THEN 0 ELSE r.crypto END AS crypto),
   returned AS (
     UPDATE offers o SET available_balance = o.available_balance + e.crypto, version = o.version + 1,
            changed_in = pg_current_xact_id()
       FROM (SELECT offer_id, sum(crypto) AS crypto FROM ended GROUP BY offer_id HAVING sum(crypto) > 0) e
      WHERE o.offer_id = e.offer_id)
   SELECT count(*)::text AS ended, array_agg(DISTINCT offer_id::text) FILTER (WHERE crypto > 0) AS returned_to,
          set_config('synchronous_commit', 'off', true), set_config('causeway.announced_after_commit', 'on', true)
     FROM ended`;

interface Ended {
  ended: string;
  returned_to: string[] | null;
}

const toldOfEnded = (_params: unknown, [row]: readonly Ended[]) => (row?.returned_to ?? []).map(offerChanged);

export const endReservations = statement<FinishedParams, Ended>(
  'offers.end_reservations',
  endReservationsAmong(ANY_QUOTE),
  toldOfEnded,
);

export const endReservationsOfQuotes = plannedOnce(
  statement<FinishedOfQuotesParams, Ended>(
    'offers.end_reservations_of_quotes',
    endReservationsAmong(GIVEN_QUOTES),
    toldOfEnded,
  ),
);

/** What is reserved at a backend of its own. */
export type RemoteReservationEnd = 'release' | 'consume';

/** One that is open already keeps its id, so that the backend is asked for the same again. */
export const openRemoteReservation = statement<
  [reservationId: string, quoteId: string, offerId: string, crypto: string],
  { reservation_id: string; crypto: string }
>(
  'offers.open_remote_reservation',
  `INSERT INTO remote_offer_reservations (reservation_id, quote_id, offer_id, crypto, reserved_at)
   VALUES ($1, $2, $3, $4::numeric, clock_timestamp())
   ON CONFLICT (quote_id, offer_id) WHERE ending IS NULL DO UPDATE SET reserved_at = excluded.reserved_at
   RETURNING reservation_id, trim_scale(crypto)::text AS crypto`,
);

export const endRemoteReservation = statement<
  [quoteId: string, offerId: string, ending: RemoteReservationEnd],
  { reservation_id: string }
>(
  'offers.end_remote_reservation',
  `UPDATE remote_offer_reservations SET ending = $3
    WHERE quote_id = $1 AND offer_id = $2 AND ending IS NULL AND NOT ($3 = 'release' AND (${STILL_WANTED}))
   RETURNING reservation_id`,
);

/** An answer that never came: the reservation does not count, even where the quote still wants it. */
export const giveUpRemoteReservation = statement<[reservationId: string]>(
  'offers.give_up_remote_reservation',
  `UPDATE remote_offer_reservations SET ending = 'release' WHERE reservation_id = $1 AND ending IS NULL`,
);

const markFinishedAmong = (among: Among) =>
  `WITH due AS (${finished('remote_offer_reservations', 'r.reservation_id', 'r.ending IS NULL', among)})
   UPDATE remote_offer_reservations r SET ending = CASE WHEN d.is_settled THEN 'consume' ELSE 'release' END
     FROM due d WHERE r.reservation_id = d.reservation_id`;

export const markFinishedRemoteReservations = statement<FinishedParams>(
  'offers.mark_finished_remote_reservations',
  markFinishedAmong(ANY_QUOTE),
);

export const markFinishedRemoteReservationsOfQuotes = statement<FinishedOfQuotesParams>(
  'offers.mark_finished_remote_reservations_of_quotes',
  markFinishedAmong(GIVEN_QUOTES),
);

/** Several workers may tell the backend the same: it does it once. */
export const endingRemoteReservations = statement<
  [limit: number],
  { reservation_id: string; ending: RemoteReservationEnd }
>(
  'offers.ending_remote_reservations',
  'SELECT reservation_id, ending FROM remote_offer_reservations WHERE ending IS NOT NULL ORDER BY reserved_at LIMIT $1',
);

export const purgeRemoteReservation = statement<[reservationId: string]>(
  'offers.purge_remote_reservation',
  'DELETE FROM remote_offer_reservations WHERE reservation_id = $1',
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

export function offerOf(row: OfferBookRow): Offer {
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
