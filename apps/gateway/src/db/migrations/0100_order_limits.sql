-- How much a partner and each of its customers may have open at a time. Opening an order costs its asker nothing and binds a
-- vendor's liquidity, so without a limit one partner could bind all there is.

-- A place for an order, taken before the order is written and given back when it ends, or where no order came of it. It is
-- taken in a short transaction of its own, as the vendor's crypto is: the limits are exact, and no line below stays locked
-- while an order waits for the disk.
CREATE TABLE order_reservations (
  quote_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- Whole crypto: dollar tokens, so that it is also what the order is worth.
  crypto numeric NOT NULL,
  -- Null while the order is being written.
  order_id uuid,
  -- Machine time: it tells a forgotten reservation from one whose order is being written.
  reserved_at timestamptz NOT NULL
);
CREATE INDEX order_reservations_unclaimed ON order_reservations (reserved_at) WHERE order_id IS NULL;
CALL own_by_partner('order_reservations', 'SELECT, UPDATE');

-- The sums of the above, a line for each partner (user_id zero) and one for each of its customers.
CREATE TABLE open_order_totals (
  partner_id uuid NOT NULL,
  user_id uuid NOT NULL,
  open_orders integer NOT NULL DEFAULT 0 CHECK (open_orders >= 0),
  crypto numeric NOT NULL DEFAULT 0 CHECK (crypto >= 0),
  PRIMARY KEY (partner_id, user_id)
) WITH (fillfactor = 50);
CALL own_by_partner('open_order_totals', 'SELECT');

-- Null: the deployment's own limit.
ALTER TABLE partners
  ADD COLUMN open_order_limit integer CHECK (open_order_limit >= 0),
  ADD COLUMN held_value_limit bigint CHECK (held_value_limit >= 0),
  ADD COLUMN customer_open_order_limit integer CHECK (customer_open_order_limit >= 0),
  ADD COLUMN customer_held_value_limit bigint CHECK (customer_held_value_limit >= 0);

-- Whatever ends a reservation, the sums follow; their lines are locked in one order, so that two endings never wait for
-- each other.
CREATE FUNCTION subtract_ended_reservations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM open_order_totals t
    WHERE EXISTS (SELECT FROM ended e WHERE e.partner_id = t.partner_id
                     AND t.user_id IN (e.user_id, '00000000-0000-0000-0000-000000000000'))
    ORDER BY t.partner_id, t.user_id FOR UPDATE;
  UPDATE open_order_totals t SET open_orders = t.open_orders - e.orders, crypto = t.crypto - e.crypto
    FROM (SELECT partner_id, user_id, count(*) AS orders, sum(crypto) AS crypto FROM (
            SELECT partner_id, user_id, crypto FROM ended
            UNION ALL SELECT partner_id, '00000000-0000-0000-0000-000000000000', crypto FROM ended) AS lines
           GROUP BY partner_id, user_id) AS e
   WHERE t.partner_id = e.partner_id AND t.user_id = e.user_id;
  RETURN NULL;
END $$;
CREATE TRIGGER order_reservations_subtracted AFTER DELETE ON order_reservations
  REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION subtract_ended_reservations();

-- Locks the line of a sum, which may be the first of its kind.
CREATE FUNCTION lock_open_orders(of_partner uuid, of_user uuid) RETURNS open_order_totals LANGUAGE plpgsql AS $$
DECLARE
  line open_order_totals;
BEGIN
  SELECT * INTO line FROM open_order_totals WHERE partner_id = of_partner AND user_id = of_user FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO open_order_totals (partner_id, user_id) VALUES (of_partner, of_user)
      ON CONFLICT (partner_id, user_id) DO UPDATE SET open_orders = open_order_totals.open_orders
      RETURNING * INTO line;
  END IF;
  RETURN line;
END $$;

-- Takes a place for the order that a quote becomes; null where it is taken, else which limit does not allow it. Taking the
-- same again takes nothing more. Its commit does not wait for the disk: the order's own, later in the same log, carries it.
CREATE FUNCTION reserve_order(of_quote uuid, of_partner uuid, of_user uuid, wanted numeric, orders_limit integer,
  value_limit bigint, customer_orders_limit integer, customer_value_limit bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  everyone constant uuid := '00000000-0000-0000-0000-000000000000';
  line open_order_totals;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  IF EXISTS (SELECT FROM order_reservations WHERE quote_id = of_quote) THEN RETURN NULL; END IF;
  line := lock_open_orders(of_partner, everyone);
  IF line.open_orders >= orders_limit THEN
    RETURN jsonb_build_object('scope', 'partner', 'unit', 'orders', 'limit', orders_limit, 'current', line.open_orders);
  ELSIF line.crypto + wanted > value_limit THEN
    RETURN jsonb_build_object('scope', 'partner', 'unit', 'usd', 'limit', value_limit, 'current', floor(line.crypto));
  END IF;
  line := lock_open_orders(of_partner, of_user);
  IF line.open_orders >= customer_orders_limit THEN
    RETURN jsonb_build_object('scope', 'customer', 'unit', 'orders', 'limit', customer_orders_limit,
      'current', line.open_orders);
  ELSIF line.crypto + wanted > customer_value_limit THEN
    RETURN jsonb_build_object('scope', 'customer', 'unit', 'usd', 'limit', customer_value_limit,
      'current', floor(line.crypto));
  END IF;
  INSERT INTO order_reservations (quote_id, partner_id, user_id, crypto, reserved_at)
    VALUES (of_quote, of_partner, of_user, wanted, clock_timestamp()) ON CONFLICT (quote_id) DO NOTHING;
  IF FOUND THEN
    UPDATE open_order_totals SET open_orders = open_orders + 1, crypto = crypto + wanted
     WHERE partner_id = of_partner AND user_id IN (everyone, of_user);
  END IF;
  RETURN NULL;
END $$;

-- Orders that are open already.
INSERT INTO order_reservations (quote_id, partner_id, user_id, crypto, order_id, reserved_at)
  SELECT quote_id, partner_id, user_id, crypto_amount / 10::numeric ^ crypto_decimals, order_id, clock_timestamp()
    FROM orders WHERE status NOT IN ('completed', 'send_out_pending', 'send_out_completed', 'send_out_failed',
                                     'cancelled', 'failed');
INSERT INTO open_order_totals (partner_id, user_id, open_orders, crypto)
  SELECT partner_id, user_id, count(*), sum(crypto) FROM (
    SELECT partner_id, user_id, crypto FROM order_reservations
    UNION ALL SELECT partner_id, '00000000-0000-0000-0000-000000000000', crypto FROM order_reservations) AS lines
   GROUP BY partner_id, user_id;

-- Takes what an order needs from an offer; false where too little is left or the offer is gone. Several attempts on one quote
-- may hold at once now that none of them has locked it: who finds the hold there has taken nothing more.
CREATE FUNCTION hold_offer(of_quote uuid, of_offer uuid, wanted numeric) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE offer_holds SET held_at = clock_timestamp() WHERE quote_id = of_quote AND offer_id = of_offer;
  IF FOUND THEN RETURN true; END IF;
  UPDATE offers SET available_balance = available_balance - wanted
   WHERE offer_id = of_offer AND authorized AND NOT withdrawn AND available_balance >= wanted;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO offer_holds (quote_id, offer_id, crypto, held_at) VALUES (of_quote, of_offer, wanted, clock_timestamp())
    ON CONFLICT (quote_id, offer_id) DO NOTHING;
  IF NOT FOUND THEN
    UPDATE offers SET available_balance = available_balance + wanted WHERE offer_id = of_offer;
  END IF;
  RETURN true;
END $$;
