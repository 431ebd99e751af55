-- Quotes, and the limits on the orders that they become. Amounts are atomic units, and decimals are stored with them: a
-- token has 18 on one chain and 6 on another.

CREATE DOMAIN order_direction AS text CHECK (VALUE IN ('onramp', 'offramp'));
CREATE DOMAIN quote_anchor AS text CHECK (VALUE IN ('fiat', 'crypto'));
CREATE DOMAIN quote_status AS text CHECK (VALUE IN ('active', 'used'));
CREATE DOMAIN provider_scope AS text CHECK (VALUE IN ('all', 'p2p', 'direct'));
CREATE DOMAIN units AS numeric(78, 0) CHECK (VALUE >= 0);
CREATE DOMAIN positive_units AS numeric(78, 0) CHECK (VALUE > 0);
CREATE DOMAIN crypto_decimals AS smallint CHECK (VALUE BETWEEN 0 AND 30);
CREATE DOMAIN fiat_decimals AS smallint CHECK (VALUE BETWEEN 0 AND 6);
COMMENT ON DOMAIN quote_status IS 'quoteMachine of packages/protocol.';
COMMENT ON DOMAIN units IS 'Atomic units of an asset. Likewise positive_units.';

CREATE TABLE quotes (
  quote_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  direction order_direction NOT NULL,
  anchor quote_anchor NOT NULL,
  status quote_status NOT NULL DEFAULT 'active',
  vendor_id uuid NOT NULL REFERENCES vendors,
  offer_id uuid,
  offer_version bigint,
  serving_offer_id uuid,
  provider_scope provider_scope NOT NULL DEFAULT 'all',
  has_fiat_settlement_notification boolean NOT NULL DEFAULT false,
  chain text NOT NULL,
  crypto_currency text NOT NULL,
  crypto_decimals crypto_decimals NOT NULL,
  fiat_currency text NOT NULL,
  fiat_decimals fiat_decimals NOT NULL,
  rate text NOT NULL,
  crypto_amount positive_units NOT NULL,
  fiat_amount positive_units NOT NULL,
  platform_fee units NOT NULL,
  platform_fee_pct text NOT NULL,
  partner_fee units NOT NULL,
  partner_fee_pct text NOT NULL,
  payment_method_slug text NOT NULL,
  payment_network_slug text NOT NULL,
  country_code text,
  payment_details_id bigint REFERENCES payment_details,
  recipient_id uuid REFERENCES recipients,
  recipient_version integer,
  recipient_destination_id uuid,
  recipient_destination_version integer,
  recipient_context_sealed text,
  sender_recipient_relationship text,
  purpose_of_payment text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK (payment_details_id IS NULL OR recipient_id IS NULL),
  CHECK (num_nonnulls(recipient_id, recipient_version, recipient_destination_id, recipient_destination_version,
                      recipient_context_sealed) IN (0, 5))
);
COMMENT ON TABLE quotes IS 'Firm prices for a customer, each good for one order (decision 0004).';
COMMENT ON COLUMN quotes.anchor IS 'Which of the two amounts the customer asked for; the other is computed.';
COMMENT ON COLUMN quotes.offer_id IS 'No foreign key: offers may be in an external backend.';
COMMENT ON COLUMN quotes.serving_offer_id IS
  'The offer whose balance the order took: another than the quoted one where its vendor could no longer serve.';
COMMENT ON COLUMN quotes.provider_scope IS 'Which kinds of vendors the partner accepts.';
COMMENT ON COLUMN quotes.payment_details_id IS
  'Off-ramp: the account of the customer that is paid. Otherwise a recipient, exactly as it was at that moment.';
COMMENT ON COLUMN quotes.recipient_context_sealed IS
  'What the partner reads about the recipient on the order, encrypted with the key of the recipient.';
CREATE INDEX quotes_by_partner ON quotes (partner_id, created_at);
CALL own_by_partner('quotes', 'SELECT, INSERT, UPDATE');
-- A quote is firm: which vendor serves it may change, what it says may not. So the trigger names every column but status,
-- vendor_id and serving_offer_id; a new column is added here. Comparing whole rows cost more than claiming a quote.
CREATE TRIGGER quotes_say_the_same BEFORE UPDATE OF
    quote_id, partner_id, user_id, direction, anchor, offer_id, offer_version, provider_scope,
    has_fiat_settlement_notification, chain, crypto_currency, crypto_decimals, fiat_currency, fiat_decimals, rate,
    crypto_amount, fiat_amount, platform_fee, platform_fee_pct, partner_fee, partner_fee_pct, payment_method_slug,
    payment_network_slug, country_code, payment_details_id, recipient_id, recipient_version, recipient_destination_id,
    recipient_destination_version, recipient_context_sealed, sender_recipient_relationship, purpose_of_payment,
    created_at, expires_at
  ON quotes FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Limits on open orders. Opening an order costs its caller nothing and reserves liquidity of a vendor, so without a limit
-- one partner could reserve all of it.

CREATE TABLE quote_claims (
  quote_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL,
  user_id uuid NOT NULL,
  crypto numeric NOT NULL,
  order_id uuid,
  claimed_at timestamptz NOT NULL
);
COMMENT ON TABLE quote_claims IS
  'What open orders take of the limits of their partner and customer. Claimed in a short transaction before the order is '
  'written, as the crypto of the vendor is reserved: the limits are exact, and no total stays locked while an order waits for the '
  'disk. Deleted when the order ends, or where no order came of it.';
COMMENT ON COLUMN quote_claims.crypto IS 'Whole crypto: dollar tokens, so it is also what the order is worth.';
COMMENT ON COLUMN quote_claims.order_id IS 'Null while the order is being written.';
COMMENT ON COLUMN quote_claims.claimed_at IS
  'Machine time: it tells an abandoned claim from one whose order is being written.';
CREATE INDEX quote_claims_without_order ON quote_claims (claimed_at) WHERE order_id IS NULL;
CALL own_by_partner('quote_claims', 'SELECT, UPDATE');

CREATE TABLE open_order_totals (
  partner_id uuid NOT NULL,
  user_id uuid NOT NULL,
  open_orders integer NOT NULL DEFAULT 0 CHECK (open_orders >= 0),
  crypto numeric NOT NULL DEFAULT 0 CHECK (crypto >= 0),
  PRIMARY KEY (partner_id, user_id)
) WITH (fillfactor = 50);
COMMENT ON TABLE open_order_totals IS 'Sums of quote_claims: a row for each partner and one for each customer.';
COMMENT ON COLUMN open_order_totals.user_id IS 'All zeros in the row of the partner.';
CALL own_by_partner('open_order_totals', 'SELECT');

-- Every way of ending a claim subtracts it. Rows are locked in one order, so that two endings never deadlock.
CREATE FUNCTION subtract_ended_claims() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER quote_claims_subtracted AFTER DELETE ON quote_claims
  REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION subtract_ended_claims();

-- Locks a row of the totals, and inserts it where it is the first of its kind.
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

-- Opens the claim for the order that a quote becomes; null where it is open, otherwise which limit does not allow it. Repeating
-- it takes nothing more. Its commit does not wait for the disk: that of the order, later in the same log, carries it.
CREATE FUNCTION open_quote_claim(of_quote uuid, of_partner uuid, of_user uuid, wanted numeric, orders_limit integer,
  value_limit bigint, customer_orders_limit integer, customer_value_limit bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  everyone constant uuid := '00000000-0000-0000-0000-000000000000';
  line open_order_totals;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  IF EXISTS (SELECT FROM quote_claims WHERE quote_id = of_quote) THEN RETURN NULL; END IF;
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
  INSERT INTO quote_claims (quote_id, partner_id, user_id, crypto, claimed_at)
    VALUES (of_quote, of_partner, of_user, wanted, clock_timestamp()) ON CONFLICT (quote_id) DO NOTHING;
  IF FOUND THEN
    UPDATE open_order_totals SET open_orders = open_orders + 1, crypto = crypto + wanted
     WHERE partner_id = of_partner AND user_id IN (everyone, of_user);
  END IF;
  RETURN NULL;
END $$;
