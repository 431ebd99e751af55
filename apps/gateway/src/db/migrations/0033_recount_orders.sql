-- Counted anew: where two workers counted while an order changed, its first status could stay counted (decision 0059).
LOCK TABLE orders IN SHARE ROW EXCLUSIVE MODE;
DELETE FROM order_counts;
INSERT INTO order_counts (partner_id, day, status, order_type, orders)
  SELECT partner_id, (created_at AT TIME ZONE 'UTC')::date, counted_status, order_type, count(*)
    FROM orders WHERE counted_status IS NOT NULL GROUP BY 1, 2, 3, 4;
