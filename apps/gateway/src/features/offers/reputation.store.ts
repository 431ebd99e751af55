import {
  type FailureCode,
  ORDER_COMPLETED,
  ORDER_DISPUTED,
  type OrderStatus,
  orderStatusesWithOutcome,
} from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';
import { COUNT_MARKED, MARKED_COLUMNS } from '../orders/lifecycle/count-orders.ts';

const DECIDED = sqlWords(orderStatusesWithOutcome('settled', 'stopped', 'disputed'));

/** The order was once in this status. */
const passed = (status: OrderStatus) => `timeline @> '[{"status": "${status}"}]'`;

/**
 * An outcome is read off the timeline, so a dispute that was decided before the look counts as well. A cancelled order is
 * the vendor's failure where its code says so: the vendor let its time run out, or had every proof refused. How long the
 * order took says nothing, because a hold stops the clock. The same mark counts the order for lists and statistics of its
 * partner.
 */
export const countOutcomes = statement<
  [limit: number, vendorFailures: readonly FailureCode[]],
  { looked_at: string }
>(
  'reputation.count',
  `WITH due AS (
     SELECT order_id, vendor_id, counted_status, failure_code, timeline, counted_outcomes FROM orders
      WHERE counted_status IS DISTINCT FROM status
        AND status IN (${DECIDED})
      ORDER BY order_id LIMIT $1 FOR UPDATE SKIP LOCKED),
   judged AS (
     SELECT order_id, vendor_id, counted_status, counted_outcomes, array_remove(ARRAY[
       CASE WHEN ${passed(ORDER_COMPLETED)} THEN 'completed' END,
       CASE WHEN ${passed(ORDER_DISPUTED)} THEN 'disputed' END,
       CASE WHEN failure_code = ANY($2::text[]) THEN 'failed' END
     ], NULL) AS outcomes FROM due),
   marked AS (
     UPDATE orders o SET counted_status = o.status, counted_outcomes = j.outcomes
       FROM judged j WHERE o.order_id = j.order_id RETURNING ${MARKED_COLUMNS}),
   ${COUNT_MARKED},
   gained AS (
     SELECT vendor_id, count(*) FILTER (WHERE outcome = 'completed') AS completed,
            count(*) FILTER (WHERE outcome = 'disputed') AS disputed,
            count(*) FILTER (WHERE outcome = 'failed') AS failed
       FROM judged, unnest(outcomes) AS outcome
      WHERE vendor_id IS NOT NULL AND outcome <> ALL (counted_outcomes) GROUP BY vendor_id),
   -- In one order, so that two workers never wait for each other.
   locked AS (
     SELECT vendor_id FROM vendors WHERE vendor_id IN (SELECT vendor_id FROM gained) ORDER BY vendor_id
        FOR NO KEY UPDATE),
   moved AS (
     UPDATE vendors v SET completed_orders = v.completed_orders + g.completed,
            disputed_orders = v.disputed_orders + g.disputed, failed_orders = v.failed_orders + g.failed
       FROM locked l JOIN gained g USING (vendor_id) WHERE v.vendor_id = l.vendor_id)
   SELECT count(*)::text AS looked_at FROM marked`,
);
