-- What of an order has gone into its vendor's reputation. The worker counts, so that no partner's transaction waits for a
-- vendor's row; the mark is written with the count, so that nothing is counted twice.
ALTER TABLE orders
  ADD COLUMN counted_status text,
  ADD COLUMN counted_outcomes text[] NOT NULL DEFAULT '{}';
CREATE INDEX orders_uncounted ON orders (order_id)
  WHERE counted_status IS DISTINCT FROM status
    AND status IN ('completed', 'send_out_pending', 'send_out_completed', 'send_out_failed', 'cancelled', 'failed',
      'dispute_started');
