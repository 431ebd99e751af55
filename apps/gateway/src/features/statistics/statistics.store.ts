import {
  DELIVERY_DELIVERED,
  DELIVERY_FAILED,
  DELIVERY_PENDING,
  ORDER_COMPLETED,
  type OrderStatus,
  orderStatusesWithOutcome,
} from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';

/**
 * SQL of a partner's statistics. Amounts are sums of atomic units, as decimal text: they are put into units by the program,
 * which never rounds. All of it is found along orders_by_partner, by partner and period.
 */
type PeriodOfPartner = [partnerId: string, from: Date, to: Date];

const IN_PERIOD = 'o.partner_id = $1 AND o.created_at >= $2 AND o.created_at < $3';
const SETTLED = `o.status IN (${sqlWords(orderStatusesWithOutcome('settled'))})`;

/** Either of one interval and pair of currencies, or of one status; the times are of the whole period, in every row. */
export interface FigureRow {
  status: OrderStatus | null;
  /** From 1, in the order of the starts; null in the row of a status. */
  bucket: number | null;
  fiat_currency: string;
  fiat_decimals: number;
  crypto_currency: string;
  crypto_decimals: number;
  orders: string;
  settled: string;
  fiat_amount: string;
  crypto_amount: string;
  median_seconds: number | null;
  p90_seconds: number | null;
}

/** When both sides had what they traded for: most often the last entry, so that the others need not be looked at. */
const COMPLETED_AT = `CASE WHEN o.status = ${sqlWords(ORDER_COMPLETED)} THEN o.timeline -> -1
  ELSE jsonb_path_query_first(o.timeline, '$[*] ? (@.status == $sought)',
    jsonb_build_object('sought', ${sqlWords(ORDER_COMPLETED)})) END ->> 'at'`;

/** One pass over the orders of the period; what is counted of them is small and counted twice. */
export const orderFigures = statement<[...PeriodOfPartner, starts: readonly Date[]], FigureRow>(
  'statistics.order_figures',
  `WITH o AS MATERIALIZED (
     SELECT o.status, width_bucket(o.created_at, $4::timestamptz[]) AS bucket, o.fiat_currency, o.fiat_decimals,
            o.crypto_currency, o.crypto_decimals, o.fiat_amount, o.crypto_amount, ${SETTLED} AS is_settled,
            CASE WHEN ${SETTLED} THEN extract(epoch FROM (${COMPLETED_AT})::timestamptz - o.created_at) END AS seconds
       FROM orders o WHERE ${IN_PERIOD}),
   times AS (SELECT percentile_disc(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY seconds) AS percentile FROM o)
   SELECT o.status, o.bucket, o.fiat_currency, o.fiat_decimals, o.crypto_currency, o.crypto_decimals,
          count(*)::text AS orders, count(*) FILTER (WHERE is_settled)::text AS settled,
          coalesce(sum(o.fiat_amount) FILTER (WHERE is_settled), 0)::text AS fiat_amount,
          coalesce(sum(o.crypto_amount) FILTER (WHERE is_settled), 0)::text AS crypto_amount,
          (SELECT round(percentile[1])::int FROM times) AS median_seconds,
          (SELECT round(percentile[2])::int FROM times) AS p90_seconds
     FROM o
    GROUP BY GROUPING SETS (
      (o.bucket, o.fiat_currency, o.fiat_decimals, o.crypto_currency, o.crypto_decimals), (o.status))`,
);

export interface DeliveryFigures {
  deliveries: string;
  delivered: string;
  failed: string;
  waiting: string;
  oldest_waiting_at: Date | null;
}

/** What waits is found by the queues of the partner’s endpoints, its default one included. */
export const deliveryFigures = statement<[...PeriodOfPartner, most: number], DeliveryFigures>(
  'statistics.delivery_figures',
  `SELECT sent.*, waiting.*
     FROM (SELECT count(*)::text AS deliveries, count(*) FILTER (WHERE d.status = ${sqlWords(DELIVERY_DELIVERED)})::text AS delivered,
                  count(*) FILTER (WHERE d.status = ${sqlWords(DELIVERY_FAILED)})::text AS failed
             FROM webhook_deliveries d
            WHERE d.partner_id = $1 AND d.created_at >= $2 AND d.created_at < $3) sent,
          (SELECT count(*)::text AS waiting, min(w.created_at) AS oldest_waiting_at
             FROM (SELECT d.created_at FROM webhook_deliveries d
                    WHERE d.partner_id = $1 AND d.status = ${sqlWords(DELIVERY_PENDING)}
                      AND d.queue_id = ANY (ARRAY(SELECT e.endpoint_id FROM webhook_endpoints e WHERE e.partner_id = $1) || $1)
                    LIMIT $4) w) waiting`,
);
