-- A CHECK of a table is read and planned anew by every statement that writes a row, nine microseconds each, and an order had
-- nine of them (decision 0070). The same rules as types and as functions, which a connection prepares once. Like the CHECKs
-- before them they refuse with check_violation and the name of the rule; db/guards.test.ts tries each.

CREATE PROCEDURE refuse_row(rule text, row_of text) LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'new row for relation "%" violates "%"', row_of, rule
    USING ERRCODE = 'check_violation', TABLE = row_of, CONSTRAINT = rule;
END $$;

-- Orders. Where nothing that a rule is about is set, which is so until something happens to an order, one look is enough.
CREATE FUNCTION check_order() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  broken text;
BEGIN
  IF num_nonnulls(NEW.recipient_id, NEW.recipient_context_sealed, NEW.failure_code, NEW.cancelled_by, NEW.hold_reason,
       NEW.held_at, NEW.customer_wallet) = 0 AND NEW.deposit_shortfall = 0 THEN
    RETURN NEW;
  END IF;
  broken := CASE
    WHEN NEW.payment_details_id IS NOT NULL AND NEW.recipient_id IS NOT NULL THEN 'orders_one_payee'
    WHEN (NEW.recipient_id IS NULL) <> (NEW.recipient_context_sealed IS NULL) THEN 'orders_recipient_snapshot'
    WHEN NEW.deposit_shortfall NOT BETWEEN 0 AND NEW.platform_fee THEN 'orders_deposit_shortfall'
    WHEN NEW.failure_code !~ '^[A-Z][A-Z_]{2,59}$' THEN 'orders_failure_code'
    WHEN NEW.cancelled_by NOT IN ('partner', 'customer', 'vendor', 'operator', 'system') THEN 'orders_cancelled_by'
    WHEN NEW.cancelled_by IS NOT NULL AND NEW.failure_code IS NULL THEN 'orders_cancelled_with_reason'
    WHEN NEW.hold_reason !~ '^[A-Z][A-Z_]{2,59}$' THEN 'orders_hold_reason'
    WHEN (NEW.hold_reason IS NULL) <> (NEW.held_at IS NULL) THEN 'orders_hold'
    WHEN NEW.customer_wallet !~ '^0x[0-9a-fA-F]{40}$' THEN 'orders_customer_wallet'
  END;
  IF broken IS NOT NULL THEN CALL refuse_row(broken, TG_TABLE_NAME); END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER orders_checked BEFORE INSERT OR UPDATE OF payment_details_id, recipient_id, recipient_context_sealed,
    deposit_shortfall, platform_fee, failure_code, cancelled_by, hold_reason, held_at, customer_wallet
  ON orders FOR EACH ROW EXECUTE FUNCTION check_order();
ALTER TABLE orders
  DROP CONSTRAINT orders_one_payee,
  DROP CONSTRAINT orders_recipient_snapshot,
  DROP CONSTRAINT orders_check,
  DROP CONSTRAINT orders_failure_code,
  DROP CONSTRAINT orders_cancelled_by,
  DROP CONSTRAINT orders_cancelled_with_reason,
  DROP CONSTRAINT orders_hold_reason,
  DROP CONSTRAINT orders_hold,
  DROP CONSTRAINT orders_customer_wallet_check;

-- Quotes. Only new ones: quotes_say_the_same refuses every change of these columns.
CREATE FUNCTION check_quote() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  fields integer := num_nonnulls(NEW.recipient_id, NEW.recipient_version, NEW.recipient_destination_id,
    NEW.recipient_destination_version, NEW.recipient_context_sealed);
BEGIN
  IF fields = 0 THEN RETURN NEW; END IF;
  IF fields <> 5 THEN CALL refuse_row('quotes_recipient_snapshot', TG_TABLE_NAME); END IF;
  IF NEW.payment_details_id IS NOT NULL THEN CALL refuse_row('quotes_one_payee', TG_TABLE_NAME); END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER quotes_checked BEFORE INSERT ON quotes FOR EACH ROW EXECUTE FUNCTION check_quote();
ALTER TABLE quotes DROP CONSTRAINT quotes_check, DROP CONSTRAINT quotes_check1;

-- Offers. Reserving changes the balance alone, which is a type.
CREATE FUNCTION check_offer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.max_amount <= 0 OR NEW.max_amount < NEW.min_amount OR scale(NEW.max_amount) > 6 THEN
    CALL refuse_row('offers_max_amount', TG_TABLE_NAME);
  ELSIF (NEW.fixed_price IS NULL) = (NEW.margin_pct IS NULL) THEN
    CALL refuse_row('offers_one_price', TG_TABLE_NAME);
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER offers_checked BEFORE INSERT OR UPDATE OF min_amount, max_amount, fixed_price, margin_pct
  ON offers FOR EACH ROW EXECUTE FUNCTION check_offer();
ALTER TABLE offers DROP CONSTRAINT offers_check, DROP CONSTRAINT offers_check1;

-- A type without a rule takes the place of its base without the table being written anew. The rule that follows is not tried
-- on the rows that are there: the CHECK before it has done so.
CREATE DOMAIN event_identifier AS text;
ALTER TABLE events DROP CONSTRAINT events_event_id_check;
ALTER TABLE events ALTER event_id TYPE event_identifier;
ALTER DOMAIN event_identifier ADD CONSTRAINT event_identifier CHECK (VALUE ~ '^evt_[0-9a-f-]{36}$') NOT VALID;

CREATE DOMAIN open_order_count AS integer;
CREATE DOMAIN open_order_value AS numeric;
ALTER TABLE open_order_totals
  DROP CONSTRAINT open_order_totals_open_orders_check,
  DROP CONSTRAINT open_order_totals_crypto_check;
ALTER TABLE open_order_totals ALTER open_orders TYPE open_order_count, ALTER crypto TYPE open_order_value;
ALTER DOMAIN open_order_count ADD CONSTRAINT open_order_count CHECK (VALUE >= 0) NOT VALID;
ALTER DOMAIN open_order_value ADD CONSTRAINT open_order_value CHECK (VALUE >= 0) NOT VALID;

-- As in 0029, but whether the quote has a claim already is looked up only where a limit refuses, and the setting is an
-- expression instead of a query.
CREATE OR REPLACE FUNCTION open_quote_claim(of_quote uuid, of_partner uuid, of_user uuid, wanted numeric,
  orders_limit integer, value_limit bigint, customer_orders_limit integer, customer_value_limit bigint) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  everyone constant uuid := '00000000-0000-0000-0000-000000000000';
  committed_without_waiting constant text := set_config('synchronous_commit', 'off', true);
  line open_order_totals;
BEGIN
  UPDATE open_order_totals SET open_orders = open_orders + 1, crypto = crypto + wanted
   WHERE partner_id = of_partner AND user_id = everyone AND open_orders < orders_limit AND crypto + wanted <= value_limit;
  IF NOT FOUND THEN
    line := lock_open_orders(of_partner, everyone);
    IF EXISTS (SELECT FROM quote_claims WHERE quote_id = of_quote) THEN RETURN NULL; END IF;
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
      RETURN CASE WHEN EXISTS (SELECT FROM quote_claims WHERE quote_id = of_quote) THEN NULL
        WHEN line.open_orders >= customer_orders_limit THEN
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
