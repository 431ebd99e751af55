-- The embedded widget: who may embed it, the sessions of customers, and orders that customers open with wallets of their own.

ALTER TABLE partners ADD widget_origins text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN partners.widget_origins IS 'Origins of the pages that may show the widget, as frame-ancestors names them.';

-- A customer acts as a role of its own, causeway_customer: what its partner’s requests may do, on its own rows. The rules of a
-- partner’s own requests stay as they were, and so does what they cost. A table that is not named here is not there for it.
GRANT USAGE ON SCHEMA public TO causeway_customer;

CREATE FUNCTION current_customer_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('causeway.user_id', true), '')::uuid;

-- Gives customers the rights that a partner has, on those of its rows that `whose` selects. Never without a customer.
CREATE PROCEDURE serve_customer(target regclass, whose text) LANGUAGE plpgsql AS $$
DECLARE
  allowed record;
BEGIN
  EXECUTE format(
    'CREATE POLICY customer_rows ON %s TO causeway_customer
       USING (partner_id = current_partner_id() AND (SELECT current_customer_id() IS NOT NULL) AND (%s))
       WITH CHECK (partner_id = current_partner_id() AND (SELECT current_customer_id() IS NOT NULL) AND (%s))',
    target, whose, whose);
  FOR allowed IN
    SELECT privilege_type AS right, NULL::text AS columns
      FROM pg_class c, aclexplode(c.relacl) AS acl
     WHERE c.oid = target AND acl.grantee = 'causeway_partner'::regrole
    UNION ALL
    SELECT privilege_type, string_agg(quote_ident(a.attname), ', ')
      FROM pg_attribute a, aclexplode(a.attacl) AS acl
     WHERE a.attrelid = target AND acl.grantee = 'causeway_partner'::regrole GROUP BY privilege_type
  LOOP
    EXECUTE format('GRANT %s %s ON %s TO causeway_customer', allowed.right,
      CASE WHEN allowed.columns IS NULL THEN '' ELSE format('(%s)', allowed.columns) END, target);
  END LOOP;
END $$;

CALL serve_customer('users', 'user_id = (SELECT current_customer_id())');
CALL serve_customer('kyc_profiles', 'user_id = (SELECT current_customer_id())');
CALL serve_customer('kyc_submissions', 'user_id = (SELECT current_customer_id())');
CALL serve_customer('kyc_documents', 'user_id = (SELECT current_customer_id())');
CALL serve_customer('payment_details', 'user_id = (SELECT current_customer_id())');
CALL serve_customer('quotes', 'user_id = (SELECT current_customer_id())');
CALL serve_customer('quote_claims', 'user_id = (SELECT current_customer_id())');
-- What the partner’s own calls opened for the same person stays the partner’s.
CALL serve_customer('orders', 'user_id = (SELECT current_customer_id()) AND facts ->> ''origin'' = ''widget''');
CALL serve_customer('fiat_clients', 'user_id = (SELECT current_customer_id())');
CALL serve_customer('fiat_accounts', 'user_id = (SELECT current_customer_id())');
CALL serve_customer('fiat_payments', 'user_id = (SELECT current_customer_id())');
-- Third parties whom the partner pays are no business of its customers: statements name them and find nothing.
CALL serve_customer('recipients', 'false');
CALL serve_customer('recipient_versions', 'false');
CALL serve_customer('recipient_destinations', 'false');
CALL serve_customer('recipient_tokens', 'false');
CALL serve_customer('escrow_signatures',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = escrow_signatures.order_id)');
CALL serve_customer('payment_proofs',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = payment_proofs.order_id)');
CALL serve_customer('order_stop_reasons',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = order_stop_reasons.order_id)');
CALL serve_customer('escrow_watches',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = escrow_watches.order_id)');
CALL serve_customer('deposit_observations',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = deposit_observations.order_id)');
CALL serve_customer('escrow_executions',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = escrow_executions.order_id)');
CALL serve_customer('forward_authorizations',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = forward_authorizations.order_id)');

-- What an order leaves behind goes by the partner: its effects, events and their deliveries, postings, limits and cases.
DO $$
DECLARE
  target text;
BEGIN
  FOREACH target IN ARRAY ARRAY[
    'partners', 'intents', 'events', 'event_stream', 'event_stream_floors', 'ledger_entries', 'ledger_postings',
    'idempotent_responses', 'open_order_totals', 'compliance_cases', 'screening_cases', 'forwarder_nonces',
    'webhook_endpoints', 'webhook_deliveries', 'webhook_endpoint_health'
  ] LOOP
    EXECUTE format('CALL serve_customer(%L, %L)', target, 'true');
  END LOOP;
END $$;
CREATE POLICY customer_wallet_rows ON screening_cases FOR SELECT TO causeway_customer USING (subject_kind = 'wallet');

CREATE TABLE widget_sessions (
  session_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  key_id uuid REFERENCES api_keys,
  user_id uuid REFERENCES users,
  token_hash text UNIQUE CHECK (token_hash ~ '^[0-9a-f]{64}$'),
  code_hash text UNIQUE CHECK (code_hash ~ '^[0-9a-f]{64}$'),
  code_expires_at timestamptz,
  start jsonb NOT NULL,
  locked boolean NOT NULL,
  partner_fee_pct numeric(9, 6) CHECK (partner_fee_pct >= 0 AND partner_fee_pct < 100),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  created_at timestamptz NOT NULL,
  CHECK ((code_hash IS NULL) = (code_expires_at IS NULL))
);
COMMENT ON TABLE widget_sessions IS 'A customer at the widget, in one tab. It ends by itself; the customer comes back by e-mail.';
COMMENT ON COLUMN widget_sessions.key_id IS 'The widget key that it was started with; a session ends with it. Null: made by the partner’s server.';
COMMENT ON COLUMN widget_sessions.user_id IS 'The customer, once it is known who it is: by a code sent by e-mail, or because the partner’s server said so.';
COMMENT ON COLUMN widget_sessions.token_hash IS 'SHA-256 of the token that the tab holds; null until the code of a session made by the partner’s server is used.';
COMMENT ON COLUMN widget_sessions.code_hash IS 'SHA-256 of the code in the fragment of the hosted page’s address; null once it was used.';
COMMENT ON COLUMN widget_sessions.start IS 'What the page or the partner’s server began with.';
COMMENT ON COLUMN widget_sessions.locked IS 'The customer cannot change what start gives.';
CREATE INDEX widget_sessions_by_age ON widget_sessions (expires_at);
CREATE INDEX widget_sessions_by_user ON widget_sessions (user_id) WHERE user_id IS NOT NULL;
CALL own_by_partner('widget_sessions', 'SELECT, INSERT, UPDATE');
CALL serve_customer('widget_sessions', 'true');

CREATE TABLE widget_email_codes (
  session_id uuid PRIMARY KEY REFERENCES widget_sessions ON DELETE CASCADE,
  partner_id uuid NOT NULL REFERENCES partners,
  email_index text NOT NULL,
  message_sealed text NOT NULL,
  code_hash text NOT NULL,
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  sent_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
COMMENT ON TABLE widget_email_codes IS 'The code that a session waits for. It is deleted when it is used or over, and the address with it.';
COMMENT ON COLUMN widget_email_codes.email_index IS 'Blind index of the address that the code was sent to.';
COMMENT ON COLUMN widget_email_codes.message_sealed IS 'Address, code and language, until the worker has sent them.';
CREATE INDEX widget_email_codes_by_age ON widget_email_codes (expires_at);
CALL own_by_partner('widget_email_codes', 'SELECT, INSERT, UPDATE, DELETE');
CALL serve_customer('widget_email_codes', 'true');

ALTER TABLE orders ADD customer_wallet text CHECK (customer_wallet ~ '^0x[0-9a-fA-F]{40}$');
COMMENT ON COLUMN orders.customer_wallet IS
  'Of an order that a customer opened: its own wallet, which owns a third of the escrow in the place of the partner’s.';
CREATE INDEX orders_by_customer_wallet ON orders (lower(customer_wallet)) WHERE customer_wallet IS NOT NULL;

ALTER TABLE quotes ADD session_id uuid;
COMMENT ON COLUMN quotes.session_id IS
  'The widget session that it was made in, and that alone may make an order of it: what the partner has fixed there holds for the order.';
DROP TRIGGER quotes_say_the_same ON quotes;
CREATE TRIGGER quotes_say_the_same BEFORE UPDATE OF
    quote_id, partner_id, user_id, direction, anchor, offer_id, offer_version, provider_scope,
    has_fiat_settlement_notification, chain, crypto_currency, crypto_decimals, fiat_currency, fiat_decimals, rate,
    crypto_amount, fiat_amount, platform_fee, platform_fee_pct, partner_fee, partner_fee_pct, payment_method_slug,
    payment_network_slug, country_code, payment_details_id, recipient_id, recipient_version, recipient_destination_id,
    recipient_destination_version, recipient_context_sealed, sender_recipient_relationship, purpose_of_payment,
    created_at, expires_at, session_id
  ON quotes FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Customers may share a wallet, also those of two partners: its nonces are counted over all of them, and nothing else is told.
CREATE FUNCTION highest_live_nonce(of_chain bigint, of_forwarder text, of_sender text) RETURNS numeric
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT max(nonce) FROM forward_authorizations
   WHERE chain_id = of_chain AND forwarder = of_forwarder AND sender = of_sender AND status = 'authorized';
$$;
GRANT CREATE ON SCHEMA public TO causeway_system;
ALTER FUNCTION highest_live_nonce(bigint, text, text) OWNER TO causeway_system;
REVOKE CREATE ON SCHEMA public FROM causeway_system;
REVOKE ALL ON FUNCTION highest_live_nonce(bigint, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION highest_live_nonce(bigint, text, text) TO causeway_partner, causeway_customer, causeway_system;
