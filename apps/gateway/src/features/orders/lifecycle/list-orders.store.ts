import type { OrderStatus } from '@causeway/protocol';
import { plannedOnce, statement } from '../../../db/statement.ts';
import { OPEN_DEPOSITS_SQL } from '../escrow/escrow.store.ts';
import { UNCOUNTED } from './count-orders.ts';
import { ORDER_COLUMNS, ORDER_TABLES } from './order.store.ts';
import type { OrderRow } from './order.ts';

/**
 * Lists of a partner's orders; row-level security narrows them to the partner. A page is found in an index alone and only
 * its rows are read. A kept plan knows no values: a customer or a reference written as "null or equal" would be looked for
 * among all orders of the partner, so each has statements of its own.
 */
type Matching = [
  statuses: readonly OrderStatus[] | null,
  orderType: string | null,
  createdFrom: Date | '-infinity',
  createdTo: Date | 'infinity',
];

const OF_TYPE = '($2::text IS NULL OR o.order_type = $2)';
const MATCHES = `($1::text[] IS NULL OR o.status = ANY($1)) AND ${OF_TYPE}
  AND o.created_at >= $3::timestamptz AND o.created_at < $4::timestamptz`;

const DAY = `(o.created_at AT TIME ZONE 'UTC')::date`;
const startOf = (day: string) => `(${day})::timestamp AT TIME ZONE 'UTC'`;
const oneIf = (column: string) =>
  `CASE WHEN ${column} IS NOT NULL AND ($1::text[] IS NULL OR ${column} = ANY($1)) THEN 1 ELSE 0 END`;

/**
 * How many orders match, a day each: whole days by the counts, corrected by what is not counted as it is now, and the parts
 * of days at both ends of the period by their orders. Integers, because PostgreSQL adds up a bigint as a numeric.
 */
const DAYS = `SELECT day, sum(orders)::integer AS orders FROM (
     SELECT c.day, c.orders::integer AS orders FROM order_counts c
      WHERE c.day >= ($5::timestamptz AT TIME ZONE 'UTC')::date AND c.day < ($6::timestamptz AT TIME ZONE 'UTC')::date
        AND ($1::text[] IS NULL OR c.status = ANY($1)) AND ($2::text IS NULL OR c.order_type = $2)
     UNION ALL
     SELECT ${DAY}, ${oneIf('o.status')} - ${oneIf('o.counted_status')} FROM orders o
      WHERE ${UNCOUNTED} AND o.created_at >= $5 AND o.created_at < $6 AND ${OF_TYPE}
     UNION ALL
     SELECT ${DAY}, 1 FROM orders o WHERE ${MATCHES} AND o.created_at < $5
     UNION ALL
     SELECT ${DAY}, 1 FROM orders o WHERE ${MATCHES} AND o.created_at >= $6) AS lines
   GROUP BY day HAVING sum(orders) > 0`;

/** A row of a page with the total beside it; one row without an order where the page is empty. */
export type ListedOrderRow = { total: string } & (OrderRow | { order_id: null });

/**
 * A page of all orders, and their total, in one snapshot. The days say where a page begins, so that neither a late page
 * nor a rare status is walked to: only days that hold orders of the page are looked at.
 */
export const pageOfOrders = plannedOnce(
  statement<
    [...Matching, wholeFrom: Matching[2] | Matching[3], wholeTo: Matching[3], limit: number, offset: number],
    ListedOrderRow
  >(
    'orders.list',
    `WITH days AS MATERIALIZED (${DAYS}),
   placed AS (SELECT day, orders, (sum(orders) OVER (ORDER BY day DESC) - orders) AS before FROM days),
   looked_at AS MATERIALIZED (
     SELECT day, before FROM placed WHERE before < $8::bigint + $7::bigint AND before + orders > $8::bigint),
   found AS (
     SELECT o.order_id FROM looked_at l CROSS JOIN LATERAL (
         SELECT o.order_id, o.created_at FROM orders o
          WHERE ${MATCHES} AND o.created_at >= ${startOf('l.day')} AND o.created_at < ${startOf('l.day + 1')}
          ORDER BY o.created_at DESC, o.order_id DESC LIMIT $8 + $7 - l.before) AS o
      ORDER BY o.created_at DESC, o.order_id DESC LIMIT $7 OFFSET $8 - (SELECT min(before) FROM looked_at))
   SELECT t.total, listed.* FROM (SELECT coalesce(sum(orders), 0)::text AS total FROM days) t
     LEFT JOIN LATERAL (
       SELECT ${ORDER_COLUMNS} ${ORDER_TABLES} WHERE o.order_id = ANY(ARRAY(SELECT order_id FROM found))) listed ON true
    ORDER BY listed.created_at DESC, listed.order_id DESC`,
  ),
);

export type OrderFilters = [...Matching, userId: string | null, referenceId: string | null];

/** Of one customer or with one reference: few enough to be counted. */
function listOf(name: string, sought: string) {
  return {
    // An array, because its rows are then found one by one, however long the planner expects the page to be.
    page: statement<[...OrderFilters, limit: number, offset: number], OrderRow>(
      `orders.list${name}`,
      `SELECT ${ORDER_COLUMNS} ${ORDER_TABLES} WHERE o.order_id = ANY(ARRAY(
         SELECT o.order_id FROM orders o WHERE ${MATCHES} AND ${sought}
          ORDER BY o.created_at DESC, o.order_id DESC LIMIT $7 OFFSET $8))
        ORDER BY o.created_at DESC, o.order_id DESC`,
    ),
    count: statement<OrderFilters, { total: string }>(
      `orders.count${name}`,
      `SELECT count(*)::text AS total FROM orders o WHERE ${MATCHES} AND ${sought}`,
    ),
  };
}

export const ordersOfUser = listOf('_of_user', 'o.user_id = $5 AND $6::text IS NULL');
export const ordersByReference = listOf(
  '_by_reference',
  'o.reference_id = $6 AND ($5::uuid IS NULL OR o.user_id = $5)',
);

/**
 * Orders that may wait for the partner, newest first: by status, and of those that have ended only where crypto is still in
 * the escrow. Whether one does is for the machine to say.
 */
export const ordersThatMayWaitForPartner = statement<
  [partnerId: string, underWay: readonly OrderStatus[], ended: readonly OrderStatus[], limit: number],
  OrderRow
>(
  'orders.may_wait_for_partner',
  `SELECT ${ORDER_COLUMNS} ${ORDER_TABLES} WHERE o.order_id = ANY(ARRAY(
     (SELECT o.order_id FROM orders o
       WHERE o.partner_id = $1 AND o.status = ANY($2) ORDER BY o.created_at DESC, o.order_id DESC LIMIT $4)
     UNION ALL
     (SELECT o.order_id FROM orders o
       WHERE o.partner_id = $1 AND o.status = ANY($3) AND o.facts ->> 'escrow' = 'funded'
       ORDER BY o.created_at DESC, o.order_id DESC LIMIT $4)))
    ORDER BY o.created_at DESC, o.order_id DESC`,
);

/** SQL of what vendors and operators read of orders. */

export interface BackofficeOrderRow extends OrderRow {
  /** When the present vendor was asked. */
  offered_at: Date;
}

const BACKOFFICE = `SELECT ${ORDER_COLUMNS}, coalesce(o.offered_at, o.created_at) AS offered_at ${ORDER_TABLES}`;

type VendorFilters = [vendorId: string, statuses: readonly string[] | null, direction: string | null];

const VENDOR_MATCHES = `o.vendor_id = $1 AND ($2::text[] IS NULL OR o.status = ANY($2))
  AND ($3::text IS NULL OR o.direction = $3)`;

export const ordersOfVendor = statement<
  [...VendorFilters, limit: number, offset: number],
  BackofficeOrderRow
>(
  'backoffice.orders_of_vendor',
  `${BACKOFFICE} WHERE ${VENDOR_MATCHES} ORDER BY o.created_at DESC, o.order_id DESC LIMIT $4 OFFSET $5`,
);

export const countOrdersOfVendor = statement<VendorFilters, { total: string }>(
  'backoffice.count_orders_of_vendor',
  `SELECT count(*)::text AS total FROM orders o WHERE ${VENDOR_MATCHES}`,
);

export const someOrdersOfVendor = statement<
  [vendorId: string, orderIds: readonly string[]],
  BackofficeOrderRow
>(
  'backoffice.some_orders_of_vendor',
  `${BACKOFFICE} WHERE o.vendor_id = $1 AND o.order_id = ANY($2::uuid[])`,
);

/** Which payouts of an order's escrow are signed. */
export const signedPayouts = statement<[orderId: string], { purpose: string; signer: string }>(
  'backoffice.signed_payouts',
  'SELECT purpose, signer FROM escrow_signatures WHERE order_id = $1 ORDER BY created_at, purpose',
);

type Period = [vendorId: string, from: Date | null, to: Date | null];

/** A vendor has earned when the escrow has paid: the books say when, and they never change. */
const EARNED = `FROM orders o JOIN ledger_entries e ON e.order_id = o.order_id AND e.kind = 'escrow_released'
  WHERE o.vendor_id = $1 AND ($2::timestamptz IS NULL OR e.created_at >= $2)
    AND ($3::timestamptz IS NULL OR e.created_at < $3)`;

export interface EarningRow {
  order_id: string;
  direction: OrderRow['direction'];
  chain: string;
  crypto_currency: string;
  crypto_decimals: number;
  fiat_currency: string;
  fiat_decimals: number;
  rate: string;
  crypto_amount: string;
  platform_fee: string;
  fiat_amount: string;
  tx_hash: string | null;
  settled_at: Date;
}

export const earnings = statement<[...Period, limit: number, offset: number], EarningRow>(
  'backoffice.earnings',
  `SELECT o.order_id, o.direction, o.chain, o.crypto_currency, o.crypto_decimals, o.fiat_currency, o.fiat_decimals, o.rate,
          o.crypto_amount::text, o.platform_fee::text, o.fiat_amount::text, o.tx_hash, e.created_at AS settled_at
     ${EARNED} ORDER BY e.created_at DESC, o.order_id DESC LIMIT $4 OFFSET $5`,
);

export type EarningSumRow = Omit<EarningRow, 'order_id' | 'rate' | 'tx_hash' | 'settled_at'> & {
  orders: string;
};

/** Sums of whole atomic units: dividing is left to the view, which never rounds. */
export const earningSums = statement<Period, EarningSumRow>(
  'backoffice.earning_sums',
  `SELECT o.direction, o.chain, o.crypto_currency, o.crypto_decimals, o.fiat_currency, o.fiat_decimals,
          count(*)::text AS orders, sum(o.crypto_amount)::text AS crypto_amount,
          sum(o.platform_fee)::text AS platform_fee, sum(o.fiat_amount)::text AS fiat_amount
     ${EARNED}
    GROUP BY o.direction, o.chain, o.crypto_currency, o.crypto_decimals, o.fiat_currency, o.fiat_decimals
    ORDER BY o.direction, o.crypto_currency, o.chain, o.fiat_currency`,
);

type OperatorFilters = [
  statuses: readonly string[] | null,
  partnerId: string | null,
  vendorId: string | null,
  userId: string | null,
  referenceId: string | null,
  direction: string | null,
  held: boolean | null,
  stuck: boolean | null,
  createdFrom: Date | null,
  createdTo: Date | null,
  lateBefore: Date,
];

/** What an operator calls stuck: an effect that needs a person, or a payment into the escrow that fits nothing. */
const STUCK = `(EXISTS (SELECT FROM intents i WHERE i.payload ? 'order_id' AND i.payload->>'order_id' = o.order_id::text
    AND ((i.status = 'unknown' AND i.last_error IS NOT NULL)
         OR (i.status IN ('prepared', 'submitted', 'unknown') AND i.run_at < $11)
         OR (i.status = 'failed' AND i.closed_at IS NULL AND NOT EXISTS (
               SELECT FROM intents later WHERE later.payload ? 'order_id'
                  AND later.payload->>'order_id' = o.order_id::text AND later.kind = i.kind AND later.position > i.position))))
  OR EXISTS (SELECT FROM deposit_observations d WHERE d.order_id = o.order_id AND d.disposition IN (${OPEN_DEPOSITS_SQL})))`;

const OPERATOR_MATCHES = `($1::text[] IS NULL OR o.status = ANY($1)) AND ($2::uuid IS NULL OR o.partner_id = $2)
  AND ($3::uuid IS NULL OR o.vendor_id = $3) AND ($4::uuid IS NULL OR o.user_id = $4)
  AND ($5::text IS NULL OR o.reference_id = $5) AND ($6::text IS NULL OR o.direction = $6)
  AND ($7::boolean IS NULL OR (o.facts->>'held')::boolean = $7) AND ($8::boolean IS NULL OR ${STUCK} = $8)
  AND ($9::timestamptz IS NULL OR o.created_at >= $9) AND ($10::timestamptz IS NULL OR o.created_at < $10)`;

/** Ids sort by time, so the primary key serves; a sort over all partners' orders would need an index more. */
export const ordersForOperator = statement<
  [...OperatorFilters, limit: number, before: string | null, among: readonly string[] | null],
  BackofficeOrderRow
>(
  'backoffice.orders_for_operator',
  `${BACKOFFICE} WHERE ${OPERATOR_MATCHES} AND ($13::uuid IS NULL OR o.order_id < $13)
    AND ($14::uuid[] IS NULL OR o.order_id = ANY($14))
    ORDER BY o.order_id DESC LIMIT $12`,
);

export interface NamedOrdersRow {
  order_ids: string[];
  partner_id: string | null;
  vendor_id: string | null;
  user_id: string | null;
}

const MOST_NAMED = 500;

/** Each look is one of an index; a text that is no id is looked for among hashes, addresses and references only. */
export const ordersNamed = statement<[text: string, id: string | null], NamedOrdersRow>(
  'backoffice.orders_named',
  `SELECT ARRAY(
     SELECT order_id FROM (
       SELECT order_id FROM orders WHERE order_id = $2::uuid
       UNION SELECT order_id FROM orders WHERE quote_id = $2::uuid
       UNION SELECT order_id FROM orders WHERE reference_id = $1
       UNION SELECT order_id FROM orders WHERE tx_hash = lower($1)
       UNION SELECT order_id FROM orders WHERE send_out_tx_hash = lower($1)
       UNION SELECT order_id FROM orders WHERE lower(escrow ->> 'address') = lower($1)
       UNION SELECT order_id FROM deposit_observations WHERE tx_hash = lower($1)
       UNION SELECT order_id FROM deposit_observations WHERE deposit_id = $2::uuid
       UNION SELECT (payload ->> 'order_id')::uuid FROM intents WHERE intent_id = $2::uuid AND payload ? 'order_id'
       UNION SELECT (i.payload ->> 'order_id')::uuid
         FROM chain_signed_versions JOIN chain_transactions t USING (transaction_id)
         JOIN intents i ON i.intent_id = CASE WHEN t.effect_key ~ '^[0-9a-f]{8}-' THEN left(t.effect_key, 36)::uuid END
        WHERE tx_hash = lower($1) AND i.payload ? 'order_id'
       UNION SELECT a.order_id
         FROM chain_signed_versions JOIN chain_transactions t USING (transaction_id)
         JOIN forward_authorizations a
           ON a.authorization_id = CASE WHEN starts_with(t.effect_key, 'forward:') THEN substr(t.effect_key, 9, 36)::uuid END
        WHERE chain_signed_versions.tx_hash = lower($1)
     ) AS named WHERE order_id IS NOT NULL ORDER BY order_id DESC LIMIT ${MOST_NAMED}) AS order_ids,
     (SELECT partner_id FROM partners WHERE partner_id = $2::uuid) AS partner_id,
     (SELECT vendor_id FROM vendors WHERE vendor_id = $2::uuid) AS vendor_id,
     (SELECT user_id FROM users WHERE user_id = $2::uuid) AS user_id`,
);

export const orderForOperator = statement<[orderId: string], BackofficeOrderRow>(
  'backoffice.order_for_operator',
  `${BACKOFFICE} WHERE o.order_id = $1`,
);

/** The SQL of what orders keep of people, and of erasing it. */

export const countOpenOrders = statement<[userId: string, ended: readonly string[]], { open: string }>(
  'orders.count_open_of_user',
  'SELECT count(*) AS open FROM orders WHERE user_id = $1 AND status <> ALL($2::text[])',
);

export const countOpenPayouts = statement<[recipientId: string, ended: readonly string[]], { open: string }>(
  'orders.count_open_to_recipient',
  'SELECT count(*) AS open FROM orders WHERE recipient_id = $1 AND status <> ALL($2::text[])',
);

export const saveStopReason = statement<[orderId: string, partnerId: string, reasonSealed: string]>(
  'orders.save_stop_reason',
  `INSERT INTO order_stop_reasons (order_id, partner_id, reason_sealed) VALUES ($1, $2, $3)
   ON CONFLICT (order_id) DO UPDATE SET reason_sealed = excluded.reason_sealed`,
);

/** Of an order's parties nothing stays but their ids; a slip and a reason may name both, so they go with either. */
export const eraseParties = statement<[userId: string]>(
  'orders.erase_parties',
  `WITH mine AS (SELECT order_id FROM orders WHERE user_id = $1),
     statements AS (DELETE FROM dispute_statements WHERE order_id IN (SELECT order_id FROM mine)),
     proofs AS (DELETE FROM payment_proofs WHERE order_id IN (SELECT order_id FROM mine)),
     reasons AS (DELETE FROM order_stop_reasons WHERE order_id IN (SELECT order_id FROM mine))
   UPDATE orders SET payer_details_sealed = NULL, vendor_payment_details_sealed = NULL
    WHERE user_id = $1 AND num_nonnulls(payer_details_sealed, vendor_payment_details_sealed) > 0`,
);

export const erasePayee = statement<[recipientId: string]>(
  'orders.erase_payee',
  `WITH paid AS (SELECT order_id FROM orders WHERE recipient_id = $1),
     statements AS (DELETE FROM dispute_statements WHERE order_id IN (SELECT order_id FROM paid)),
     proofs AS (DELETE FROM payment_proofs WHERE order_id IN (SELECT order_id FROM paid))
   DELETE FROM order_stop_reasons WHERE order_id IN (SELECT order_id FROM paid)`,
);
