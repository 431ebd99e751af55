-- What opening an order costs the database (decision 0060): the same rules in fewer statements.

-- Orders are written one at a time: a table of what was written cost more than the row itself.
DROP TRIGGER orders_told_to_vendors ON orders;
CREATE OR REPLACE FUNCTION tell_vendor_of_new_orders() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO vendor_events (vendor_id, order_id, event_type, status, created_at)
    VALUES (NEW.vendor_id, NEW.order_id, 'order.offered', NEW.status, NEW.created_at);
  RETURN NULL;
END $$;
CREATE TRIGGER orders_told_to_vendors AFTER INSERT ON orders FOR EACH ROW
  WHEN (NEW.vendor_id IS NOT NULL) EXECUTE FUNCTION tell_vendor_of_new_orders();

-- As before, but each total is changed by the statement that looks at it, and looked at again only where that refuses. The
-- partner's row comes first in every case, so that two claims never wait for each other.
CREATE OR REPLACE FUNCTION open_quote_claim(of_quote uuid, of_partner uuid, of_user uuid, wanted numeric,
  orders_limit integer, value_limit bigint, customer_orders_limit integer, customer_value_limit bigint) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  everyone constant uuid := '00000000-0000-0000-0000-000000000000';
  line open_order_totals;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  IF EXISTS (SELECT FROM quote_claims WHERE quote_id = of_quote) THEN RETURN NULL; END IF;
  UPDATE open_order_totals SET open_orders = open_orders + 1, crypto = crypto + wanted
   WHERE partner_id = of_partner AND user_id = everyone AND open_orders < orders_limit AND crypto + wanted <= value_limit;
  IF NOT FOUND THEN
    line := lock_open_orders(of_partner, everyone);
    IF line.open_orders >= orders_limit THEN
      RETURN jsonb_build_object('scope', 'partner', 'unit', 'orders', 'limit', orders_limit, 'current', line.open_orders);
    ELSIF line.crypto + wanted > value_limit THEN
      RETURN jsonb_build_object('scope', 'partner', 'unit', 'usd', 'limit', value_limit, 'current', floor(line.crypto));
    END IF;
    UPDATE open_order_totals SET open_orders = open_orders + 1, crypto = crypto + wanted
     WHERE partner_id = of_partner AND user_id = everyone;
  END IF;
  UPDATE open_order_totals SET open_orders = open_orders + 1, crypto = crypto + wanted
   WHERE partner_id = of_partner AND user_id = of_user AND open_orders < customer_orders_limit
     AND crypto + wanted <= customer_value_limit;
  IF NOT FOUND THEN
    line := lock_open_orders(of_partner, of_user);
    IF line.open_orders >= customer_orders_limit OR line.crypto + wanted > customer_value_limit THEN
      UPDATE open_order_totals SET open_orders = open_orders - 1, crypto = crypto - wanted
       WHERE partner_id = of_partner AND user_id = everyone;
      RETURN CASE WHEN line.open_orders >= customer_orders_limit THEN
          jsonb_build_object('scope', 'customer', 'unit', 'orders', 'limit', customer_orders_limit,
            'current', line.open_orders)
        ELSE jsonb_build_object('scope', 'customer', 'unit', 'usd', 'limit', customer_value_limit,
            'current', floor(line.crypto)) END;
    END IF;
    UPDATE open_order_totals SET open_orders = open_orders + 1, crypto = crypto + wanted
     WHERE partner_id = of_partner AND user_id = of_user;
  END IF;
  INSERT INTO quote_claims (quote_id, partner_id, user_id, crypto, claimed_at)
    VALUES (of_quote, of_partner, of_user, wanted, clock_timestamp()) ON CONFLICT (quote_id) DO NOTHING;
  IF NOT FOUND THEN
    -- Another attempt on the same quote was first, and has taken this.
    UPDATE open_order_totals SET open_orders = open_orders - 1, crypto = crypto - wanted
     WHERE partner_id = of_partner AND user_id IN (everyone, of_user);
  END IF;
  RETURN NULL;
END $$;
