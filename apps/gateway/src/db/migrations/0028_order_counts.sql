-- How many orders a partner has, without looking at them: lists show a total, and statistics a year (decision 0059).
--
-- A worker counts an order when it has ended, and marks it with the status that it was counted in (orders.counted_status) in
-- the same statement. What is not counted yet, or has changed since, is in orders_uncounted_by_partner: a partner's open
-- orders and those of the last seconds. A total is the counts, corrected by these; it is exact in every snapshot, and no
-- transaction that writes an order writes a count.

CREATE TABLE order_counts (
  partner_id uuid NOT NULL,
  day date NOT NULL,
  status text NOT NULL,
  order_type order_kind NOT NULL,
  orders bigint NOT NULL,
  PRIMARY KEY (partner_id, day, status, order_type)
) WITH (fillfactor = 70);
COMMENT ON TABLE order_counts IS
  'Orders that a worker has counted, by the day they were created and the status they were counted in.';
COMMENT ON COLUMN order_counts.day IS 'In UTC.';
CALL own_by_partner('order_counts', 'SELECT');

CREATE TABLE order_figures (
  partner_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  order_id uuid NOT NULL,
  status text NOT NULL,
  fiat_currency text NOT NULL,
  fiat_decimals smallint NOT NULL,
  fiat_amount numeric NOT NULL,
  crypto_currency text NOT NULL,
  crypto_decimals smallint NOT NULL,
  crypto_amount numeric NOT NULL,
  completed_at timestamptz,
  PRIMARY KEY (partner_id, created_at, order_id)
);
COMMENT ON TABLE order_figures IS
  'What statistics read of an order that a worker has counted: a tenth of what the order itself is.';
COMMENT ON COLUMN order_figures.status IS 'The one it was counted in, as in order_counts.';
COMMENT ON COLUMN order_figures.completed_at IS 'When both sides had what they traded for; null unless it settled.';
CALL own_by_partner('order_figures', 'SELECT');

CREATE INDEX orders_uncounted_by_partner ON orders (partner_id, created_at)
  INCLUDE (status, order_type, counted_status) WHERE counted_status IS DISTINCT FROM status;

-- No order is ever deleted by the program; where an operator of the database does, the counts follow.
CREATE FUNCTION uncount_deleted_orders() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM order_figures f USING deleted d
   WHERE f.partner_id = d.partner_id AND f.created_at = d.created_at AND f.order_id = d.order_id;
  UPDATE order_counts c SET orders = c.orders - d.orders
    FROM (SELECT partner_id, (created_at AT TIME ZONE 'UTC')::date AS day, counted_status, order_type, count(*) AS orders
            FROM deleted GROUP BY 1, 2, 3, 4) AS d
   WHERE c.partner_id = d.partner_id AND c.day = d.day AND c.status = d.counted_status AND c.order_type = d.order_type;
  RETURN NULL;
END $$;
CREATE TRIGGER orders_uncounted_when_deleted AFTER DELETE ON orders
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION uncount_deleted_orders();

-- What was counted before there were counts.
INSERT INTO order_counts (partner_id, day, status, order_type, orders)
  SELECT partner_id, (created_at AT TIME ZONE 'UTC')::date, counted_status, order_type, count(*)
    FROM orders WHERE counted_status IS NOT NULL GROUP BY 1, 2, 3, 4;
INSERT INTO order_figures
  SELECT partner_id, created_at, order_id, counted_status, fiat_currency, fiat_decimals, fiat_amount, crypto_currency,
         crypto_decimals, crypto_amount,
         CASE WHEN counted_status IN ('completed', 'send_out_pending', 'send_out_completed', 'send_out_failed') THEN
           (jsonb_path_query_first(timeline, '$[*] ? (@.status == "completed")') ->> 'at')::timestamptz END
    FROM orders WHERE counted_status IS NOT NULL;
