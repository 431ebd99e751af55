import { ORDER_COMPLETED, orderStatusesWithOutcome } from '@causeway/protocol';
import { sqlWords } from '../../../db/statement.ts';

/**
 * How orders are counted for lists and statistics (decision 0059), as SQL of the statement that marks them as counted. An
 * order that is marked again, in another status, leaves the count of the first.
 */

/** What is not counted as it is now; the words of the index orders_uncounted_by_partner. */
export const UNCOUNTED = 'o.counted_status IS DISTINCT FROM o.status';

const SETTLED = `o.status IN (${sqlWords(orderStatusesWithOutcome('settled'))})`;

/** When both sides had what they traded for: most often the last entry, so that the others need not be looked at. */
export const COMPLETED_AT = `CASE WHEN ${SETTLED} THEN (CASE WHEN o.status = ${sqlWords(ORDER_COMPLETED)} THEN o.timeline -> -1
  ELSE jsonb_path_query_first(o.timeline, '$[*] ? (@.status == $sought)',
    jsonb_build_object('sought', ${sqlWords(ORDER_COMPLETED)})) END ->> 'at')::timestamptz END`;

/**
 * What `UPDATE orders o SET counted_status = o.status FROM judged j` returns for the counts. The status it was counted in
 * is of the row that was locked: `old` is the row of the statement's snapshot where another worker has just changed it, on
 * tables with a trigger before updates (PostgreSQL 18.4).
 */
export const MARKED_COLUMNS = `o.order_id, o.partner_id, o.created_at, o.order_type, o.status, j.counted_status AS was_counted,
  o.fiat_currency, o.fiat_decimals, o.fiat_amount, o.crypto_currency, o.crypto_decimals, o.crypto_amount,
  ${COMPLETED_AT} AS completed_at`;

/** Two common table expressions over `marked`. Rows are locked in one order, so that two workers never deadlock. */
export const COUNT_MARKED = `
   counted AS (
     INSERT INTO order_counts (partner_id, day, status, order_type, orders)
     SELECT partner_id, (created_at AT TIME ZONE 'UTC')::date, line.status, order_type, sum(line.orders)
       FROM marked, LATERAL (VALUES (status, 1), (was_counted, -1)) AS line (status, orders)
      WHERE line.status IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
         ON CONFLICT (partner_id, day, status, order_type) DO UPDATE SET orders = order_counts.orders + excluded.orders),
   figured AS (
     INSERT INTO order_figures (partner_id, created_at, order_id, status, fiat_currency, fiat_decimals, fiat_amount,
       crypto_currency, crypto_decimals, crypto_amount, completed_at)
     SELECT partner_id, created_at, order_id, status, fiat_currency, fiat_decimals, fiat_amount, crypto_currency,
            crypto_decimals, crypto_amount, completed_at
       FROM marked
         ON CONFLICT (partner_id, created_at, order_id)
         DO UPDATE SET status = excluded.status, completed_at = excluded.completed_at)`;
