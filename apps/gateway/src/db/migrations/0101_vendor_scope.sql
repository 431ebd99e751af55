-- A third role: causeway_vendor sees what concerns the vendor named in causeway.vendor_id, and nothing without it. Its own
-- rows, the orders that are its own at the moment, and of what hangs on them only what it needs to serve them.
-- Roles belong to the whole server, so it is made before the first migration (db/server.ts), by whoever may.
GRANT USAGE ON SCHEMA public TO causeway_vendor;

CREATE FUNCTION current_vendor_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('causeway.vendor_id', true), '')::uuid;

-- What a vendor may do with the rows that `whose` picks.
CREATE PROCEDURE serve_vendor(target regclass, vendor_may text, whose text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE POLICY vendor_rows ON %s TO causeway_vendor USING (%s) WITH CHECK (%s)', target, whose, whose);
  EXECUTE format('GRANT %s ON %s TO causeway_vendor', vendor_may, target);
END $$;

-- Rows that a vendor reads and may hold still while it decides, but never changes. A lock needs the right to change some
-- column; the policy lets no change pass.
CREATE PROCEDURE show_to_vendor(target regclass, columns text, lockable text, whose text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE POLICY vendor_rows ON %s FOR SELECT TO causeway_vendor USING (%s)', target, whose);
  EXECUTE format('GRANT SELECT (%s) ON %s TO causeway_vendor', columns, target);
  IF lockable IS NOT NULL THEN
    EXECUTE format('CREATE POLICY vendor_locks ON %s FOR UPDATE TO causeway_vendor USING (%s) WITH CHECK (false)',
      target, whose);
    EXECUTE format('GRANT UPDATE (%s) ON %s TO causeway_vendor', lockable, target);
  END IF;
END $$;

-- Its own.
CALL serve_vendor('vendors', 'SELECT, UPDATE (online)', 'vendor_id = current_vendor_id()');
CALL serve_vendor('offers', 'SELECT, INSERT, UPDATE', 'vendor_id = current_vendor_id()');
CALL serve_vendor('vendor_events', 'SELECT, UPDATE (place)', 'vendor_id = current_vendor_id()');
CALL serve_vendor('actor_answers', 'SELECT, INSERT, UPDATE, DELETE', 'actor = ''vendor:'' || current_vendor_id()');
CALL serve_vendor('payment_proofs', 'SELECT, INSERT', 'vendor_id = current_vendor_id()');

-- Its orders, and what it writes about them. The policy of orders applies in these subqueries as well.
CALL serve_vendor('orders', 'SELECT, UPDATE', 'vendor_id = current_vendor_id()');
CALL serve_vendor('escrow_signatures', 'SELECT, INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = escrow_signatures.order_id AND o.partner_id = escrow_signatures.partner_id)');
CALL serve_vendor('intents', 'SELECT, INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = (intents.payload ->> ''order_id'')::uuid AND o.partner_id = intents.partner_id)');
CALL serve_vendor('events', 'SELECT, INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = events.subject_id AND o.partner_id = events.partner_id)');
CALL serve_vendor('event_stream', 'SELECT, INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.vendor_id = current_vendor_id() AND o.partner_id = event_stream.partner_id)');
CALL serve_vendor('webhook_deliveries', 'INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = webhook_deliveries.subject_id AND o.partner_id = webhook_deliveries.partner_id)');
CALL serve_vendor('ledger_entries', 'SELECT, INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = ledger_entries.order_id AND o.partner_id = ledger_entries.partner_id)');
CALL serve_vendor('ledger_postings', 'SELECT, INSERT',
  'EXISTS (SELECT FROM ledger_entries e WHERE e.entry_id = ledger_postings.entry_id AND e.partner_id = ledger_postings.partner_id)');

-- What it has to know about them.
CALL show_to_vendor('deposit_observations', 'order_id, tx_hash, kind, disposition, token, sender, amount, block_number,
  log_index, note, observed_at', NULL,
  'EXISTS (SELECT FROM orders o WHERE o.order_id = deposit_observations.order_id)');
CALL show_to_vendor('partners', 'partner_id, wallet_address, webhook_enabled', NULL,
  'EXISTS (SELECT FROM orders o WHERE o.vendor_id = current_vendor_id() AND o.partner_id = partners.partner_id)');
CALL show_to_vendor('quotes', 'quote_id, serving_offer_id, recipient_destination_id', NULL,
  'EXISTS (SELECT FROM orders o WHERE o.quote_id = quotes.quote_id)');
-- Whether the payee or a wallet of its order is still clear.
CALL show_to_vendor('screening_cases', 'screening_status, subject_kind, subject_key', NULL,
  'current_vendor_id() IS NOT NULL AND subject_kind = ''wallet'' OR EXISTS (SELECT FROM orders o JOIN quotes q ON q.quote_id = o.quote_id
     WHERE screening_cases.subject_key IN (o.payment_details_id::text, q.recipient_destination_id::text))');
CREATE INDEX orders_by_vendor_and_partner ON orders (vendor_id, partner_id);
CREATE INDEX orders_by_recipient ON orders (recipient_id) WHERE recipient_id IS NOT NULL;

-- Whom it pays: its sealed data is opened by the program once the order allows it.
DO $$
DECLARE
  all_columns text;
BEGIN
  SELECT string_agg(quote_ident(attname), ', ') INTO all_columns FROM pg_attribute
   WHERE attrelid = 'users'::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('email_index');
  CALL show_to_vendor('users', all_columns, 'user_id',
    'EXISTS (SELECT FROM orders o WHERE o.user_id = users.user_id)');
  SELECT string_agg(quote_ident(attname), ', ') INTO all_columns FROM pg_attribute
   WHERE attrelid = 'recipients'::regclass AND attnum > 0 AND NOT attisdropped;
  CALL show_to_vendor('recipients', all_columns, 'recipient_id',
    'EXISTS (SELECT FROM orders o WHERE o.recipient_id = recipients.recipient_id)');
  SELECT string_agg(quote_ident(attname), ', ') INTO all_columns FROM pg_attribute
   WHERE attrelid = 'recipient_versions'::regclass AND attnum > 0 AND NOT attisdropped;
  CALL show_to_vendor('recipient_versions', all_columns, NULL,
    'EXISTS (SELECT FROM orders o WHERE o.recipient_id = recipient_versions.recipient_id)');
  SELECT string_agg(quote_ident(attname), ', ') INTO all_columns FROM pg_attribute
   WHERE attrelid = 'recipient_destinations'::regclass AND attnum > 0 AND NOT attisdropped;
  CALL show_to_vendor('recipient_destinations', all_columns, NULL,
    'EXISTS (SELECT FROM orders o WHERE o.recipient_id = recipient_destinations.recipient_id)');
  SELECT string_agg(quote_ident(attname), ', ') INTO all_columns FROM pg_attribute
   WHERE attrelid = 'payment_details'::regclass AND attnum > 0 AND NOT attisdropped;
  CALL show_to_vendor('payment_details', all_columns, NULL,
    'EXISTS (SELECT FROM orders o WHERE o.user_id = payment_details.user_id
       AND o.payment_details_id = payment_details.payment_details_id)');
END $$;

-- A vendor that declines gives its order out of its own sight, which no policy of its own could let pass.
CREATE FUNCTION decline_order(of_order uuid, declined_offer uuid) RETURNS TABLE (vendor_id uuid, quote_id uuid)
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  UPDATE orders SET vendor_id = NULL, declined_offer_ids = array_remove(declined_offer_ids || declined_offer, NULL)
   WHERE order_id = of_order AND vendor_id = current_vendor_id() RETURNING old.vendor_id, quote_id;
$$;
GRANT CREATE ON SCHEMA public TO causeway_system;
ALTER FUNCTION decline_order(uuid, uuid) OWNER TO causeway_system;
REVOKE CREATE ON SCHEMA public FROM causeway_system;
REVOKE EXECUTE ON FUNCTION decline_order(uuid, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION decline_order(uuid, uuid) TO causeway_vendor, causeway_system;
