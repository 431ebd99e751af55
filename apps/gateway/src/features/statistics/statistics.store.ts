import {
  DELIVERY_DELIVERED,
  DELIVERY_FAILED,
  DELIVERY_PENDING,
  type OrderStatus,
  orderStatusesWithOutcome,
} from '@causeway/protocol';
import { plannedOnce, sqlWords, statement } from '../../db/statement.ts';
import { COMPLETED_AT, UNCOUNTED } from '../orders/lifecycle/count-orders.ts';

/**
 * SQL of a partner's statistics. Amounts are sums of atomic units, as decimal text: they are put into units by the program,
 * which never rounds. Orders that a worker has counted are read as figures (decision 0059), the others as they are.
 */
type PeriodOfPartner = [partnerId: string, from: Date, to: Date];

const inPeriod = (row: 'o' | 'f') =>
  `${row}.partner_id = $1 AND ${row}.created_at >= $2 AND ${row}.created_at < $3`;
const SETTLED = sqlWords(orderStatusesWithOutcome('settled'));
const PAIR = 'fiat_currency, fiat_decimals, crypto_currency, crypto_decimals';
const FIGURES = (row: 'o' | 'f') =>
  `${row}.status, ${row}.created_at, ${row}.fiat_currency, ${row}.fiat_decimals, ${row}.fiat_amount,
   ${row}.crypto_currency, ${row}.crypto_decimals, ${row}.crypto_amount`;

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

/**
 * Two passes over the orders of the period, neither of which keeps them: one counts them as finely as anything is asked for,
 * and the other sorts how long each took. Planned for the year at hand, it would read all orders for the few uncounted ones;
 * these are a list to look in, because a join would keep the others to look them up.
 */
export const orderFigures = plannedOnce(
  statement<[...PeriodOfPartner, starts: readonly Date[]], FigureRow>(
    'statistics.order_figures',
    `WITH o AS NOT MATERIALIZED (
     SELECT ${FIGURES('f')}, f.completed_at - f.created_at AS lasted
       FROM order_figures f
      WHERE ${inPeriod('f')} AND f.order_id NOT IN (
        SELECT o.order_id FROM orders o WHERE ${UNCOUNTED} AND ${inPeriod('o')})
     UNION ALL
     SELECT ${FIGURES('o')}, ${COMPLETED_AT} - o.created_at FROM orders o WHERE ${UNCOUNTED} AND ${inPeriod('o')}),
   counted AS MATERIALIZED (
     SELECT status, width_bucket(created_at, $4::timestamptz[]) AS bucket, ${PAIR}, count(*) AS orders,
            sum(fiat_amount) AS fiat_amount, sum(crypto_amount) AS crypto_amount
       FROM o GROUP BY status, bucket, ${PAIR}),
   times AS (SELECT percentile_disc(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY lasted) AS percentile FROM o)
   SELECT status, bucket, ${PAIR}, sum(orders)::text AS orders,
          coalesce(sum(orders) FILTER (WHERE status IN (${SETTLED})), 0)::text AS settled,
          coalesce(sum(fiat_amount) FILTER (WHERE status IN (${SETTLED})), 0)::text AS fiat_amount,
          coalesce(sum(crypto_amount) FILTER (WHERE status IN (${SETTLED})), 0)::text AS crypto_amount,
          (SELECT round(extract(epoch FROM percentile[1]))::int FROM times) AS median_seconds,
          (SELECT round(extract(epoch FROM percentile[2]))::int FROM times) AS p90_seconds
     FROM counted
    GROUP BY GROUPING SETS ((bucket, ${PAIR}), (status))`,
  ),
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
