-- Orders and what belongs to one: signatures, proofs, compliance cases, and what vendors are told.

CREATE DOMAIN order_kind AS text CHECK (VALUE IN ('onramp', 'offramp', 'payment_request'));
CREATE DOMAIN provider_kind AS text CHECK (VALUE IN ('p2p', 'direct'));
CREATE DOMAIN partner_reference AS text CHECK (length(VALUE) <= 255);
CREATE DOMAIN transaction_hash AS text CHECK (VALUE ~ '^0x[0-9a-f]{64}$');

CREATE TABLE orders (
  order_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  quote_id uuid NOT NULL UNIQUE REFERENCES quotes,
  direction order_direction NOT NULL,
  order_type order_kind NOT NULL,
  reference_id partner_reference,
  status text NOT NULL,
  facts jsonb NOT NULL,
  revision integer NOT NULL DEFAULT 0,
  timeline jsonb NOT NULL DEFAULT '[]',
  deadline_at timestamptz,
  vendor_id uuid REFERENCES vendors,
  provider provider_kind NOT NULL DEFAULT 'p2p',
  offered_at timestamptz,
  declined_offer_ids uuid[] NOT NULL DEFAULT '{}',
  chain text NOT NULL,
  escrow jsonb,
  crypto_currency text NOT NULL,
  crypto_decimals smallint NOT NULL,
  fiat_currency text NOT NULL,
  fiat_decimals smallint NOT NULL,
  rate text NOT NULL,
  crypto_amount positive_units NOT NULL,
  fiat_amount positive_units NOT NULL,
  platform_fee units NOT NULL,
  platform_fee_pct text NOT NULL,
  partner_fee units NOT NULL,
  partner_fee_pct text NOT NULL,
  deposit_shortfall numeric(78, 0) NOT NULL DEFAULT 0
    CHECK (deposit_shortfall >= 0 AND deposit_shortfall <= platform_fee),
  payment_method_slug text NOT NULL,
  payment_network_slug text NOT NULL,
  payment_details_id bigint,
  recipient_id uuid REFERENCES recipients,
  recipient_context_sealed text,
  vendor_payment_details_sealed text,
  payer_details_sealed text,
  tx_hash transaction_hash,
  send_out_tx_hash transaction_hash,
  counted_status text,
  counted_outcomes text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT orders_one_payee CHECK (payment_details_id IS NULL OR recipient_id IS NULL),
  CONSTRAINT orders_recipient_snapshot CHECK ((recipient_id IS NULL) = (recipient_context_sealed IS NULL))
) WITH (
  -- An index answers alone only for pages that were vacuumed since they changed; the default waits for a fifth of the table.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);
COMMENT ON TABLE orders IS 'On-ramp and off-ramp orders. Status and facts are changed by the executor only (engine/execute.ts).';
COMMENT ON COLUMN orders.quote_id IS 'Unique: one order a quote, also where two requests race.';
COMMENT ON COLUMN orders.status IS
  'onrampMachine or offrampMachine of packages/protocol, by direction. No CHECK: only the executor writes it.';
COMMENT ON COLUMN orders.facts IS 'What the guards of the machine read besides the status.';
COMMENT ON COLUMN orders.revision IS
  'Counts every change, also of facts alone; part of the dedupe key of each effect that a change starts.';
COMMENT ON COLUMN orders.timeline IS 'The statuses it went through, with times.';
COMMENT ON COLUMN orders.deadline_at IS 'When the timeout of the present status is due; business time.';
COMMENT ON COLUMN orders.provider IS 'Kind of the vendor that serves it.';
COMMENT ON COLUMN orders.offered_at IS 'When the present vendor was asked; it has a limited time to answer.';
COMMENT ON COLUMN orders.declined_offer_ids IS 'Their vendors declined or did not answer, and are not asked again.';
COMMENT ON COLUMN orders.escrow IS
  '{ address, service, seller, buyer }: fixed when a vendor accepts, also where wallets change later.';
COMMENT ON COLUMN orders.deposit_shortfall IS
  'What an operator forgave of an off-ramp deposit: the platform fee is smaller by it, no other share is.';
COMMENT ON COLUMN orders.payment_details_id IS 'Off-ramp: the account of the customer that is paid, or else recipient_id.';
COMMENT ON COLUMN orders.recipient_context_sealed IS
  'The recipient as quoted, encrypted with its key: erasing the person erases it here too.';
COMMENT ON COLUMN orders.vendor_payment_details_sealed IS 'On-ramp: where the customer sends fiat.';
COMMENT ON COLUMN orders.payer_details_sealed IS 'On-ramp: the payer, where the vendor requests the payment.';
COMMENT ON COLUMN orders.counted_status IS
  'The status up to which it is counted in the reputation of its vendor. A worker counts, so that no transaction of a '
  'partner waits for the row of a vendor; the mark is written with the count, so that nothing is counted twice.';

-- Lists filter by what is in their index, so that a page is found and a total counted without reading the orders.
CREATE INDEX orders_by_partner ON orders (partner_id, created_at DESC, order_id DESC) INCLUDE (status, order_type);
CREATE INDEX orders_by_vendor ON orders (vendor_id, created_at DESC, order_id DESC) INCLUDE (status, direction);
CREATE INDEX orders_by_user ON orders (user_id, created_at DESC, order_id DESC);
CREATE INDEX orders_by_reference ON orders (partner_id, reference_id, created_at DESC, order_id DESC)
  WHERE reference_id IS NOT NULL;
-- For the policies below.
CREATE INDEX orders_by_vendor_and_partner ON orders (vendor_id, partner_id);
CREATE INDEX orders_by_recipient ON orders (recipient_id) WHERE recipient_id IS NOT NULL;
-- For workers. Statuses in these conditions are those of onrampMachine and offrampMachine.
CREATE INDEX orders_by_deadline ON orders (deadline_at) WHERE deadline_at IS NOT NULL;
CREATE INDEX orders_offered ON orders (coalesce(offered_at, created_at)) WHERE status = 'awaiting_liquidity_provider';
CREATE INDEX orders_uncounted ON orders (order_id)
  WHERE counted_status IS DISTINCT FROM status
    AND status IN ('completed', 'send_out_pending', 'send_out_completed', 'send_out_failed', 'cancelled', 'failed',
      'dispute_started');
-- For operators: what is on hold, and what a lost screening holds.
CREATE INDEX orders_held ON orders (order_id) WHERE (facts->>'held')::boolean;
CREATE INDEX orders_with_funded_escrow ON orders (order_id) WHERE facts ->> 'escrow' = 'funded';

CALL own_by_partner('orders', 'SELECT, INSERT, UPDATE');
CALL serve_vendor('orders', 'SELECT, UPDATE', 'vendor_id = current_vendor_id()');

-- The payee was fixed by the quote. A later change of the customer or the recipient does not reach the order, and no
-- statement may change it.
CREATE FUNCTION refuse_other_payee() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.user_id, NEW.payment_details_id, NEW.recipient_id, NEW.recipient_context_sealed)
     IS DISTINCT FROM (OLD.user_id, OLD.payment_details_id, OLD.recipient_id, OLD.recipient_context_sealed) THEN
    RAISE EXCEPTION 'order % keeps the payee it was quoted with', OLD.order_id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER orders_keep_their_payee
  BEFORE UPDATE OF user_id, payment_details_id, recipient_id, recipient_context_sealed ON orders
  FOR EACH ROW EXECUTE FUNCTION refuse_other_payee();

CREATE TABLE escrow_signatures (
  order_id uuid NOT NULL REFERENCES orders,
  partner_id uuid NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('release', 'refund')),
  signer text NOT NULL CHECK (signer ~ '^0x[0-9a-fA-F]{40}$'),
  signature text NOT NULL CHECK (signature ~ '^0x[0-9a-fA-F]{130}$'),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (order_id, purpose, signer)
);
COMMENT ON TABLE escrow_signatures IS
  'Signatures of the owners of an escrow other than the service: a vendor signs the refund when it accepts, and the release '
  'when it has the fiat.';
CALL own_by_partner('escrow_signatures', 'SELECT, INSERT');
CALL serve_vendor('escrow_signatures', 'SELECT, INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = escrow_signatures.order_id AND o.partner_id = escrow_signatures.partner_id)');

CREATE TABLE payment_proofs (
  proof_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  order_id uuid NOT NULL REFERENCES orders,
  vendor_id uuid NOT NULL REFERENCES vendors,
  proof_sealed text NOT NULL,
  verdict text CHECK (verdict IN ('accepted', 'rejected')),
  reviewed_at timestamptz,
  submitted_at timestamptz NOT NULL,
  CHECK ((verdict IS NULL) = (reviewed_at IS NULL))
);
COMMENT ON TABLE payment_proofs IS 'Proofs of fiat payments that buyers submitted, and how a reviewer decided.';
COMMENT ON COLUMN payment_proofs.proof_sealed IS
  '{ reference, content_type, content }, encrypted: the receipt of a bank names people.';
CREATE INDEX payment_proofs_by_order ON payment_proofs (order_id, submitted_at);
CREATE INDEX payment_proofs_to_review ON payment_proofs (submitted_at) WHERE verdict IS NULL;
-- A sandbox event decides on a proof in the scope of its partner.
CALL own_by_partner('payment_proofs', 'SELECT, UPDATE');
CALL serve_vendor('payment_proofs', 'SELECT, INSERT', 'vendor_id = current_vendor_id()');

CREATE TABLE order_stop_reasons (
  order_id uuid PRIMARY KEY REFERENCES orders,
  partner_id uuid NOT NULL REFERENCES partners,
  reason_sealed text NOT NULL
);
COMMENT ON TABLE order_stop_reasons IS
  'Why a partner cancelled an order, in its own words. They may name a person, so they are encrypted, and erasing the person '
  'deletes them.';
CALL own_by_partner('order_stop_reasons', 'SELECT, INSERT, UPDATE');

CREATE TABLE compliance_cases (
  case_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  order_id uuid NOT NULL UNIQUE REFERENCES orders,
  sender_id uuid NOT NULL REFERENCES users,
  recipient_id uuid NOT NULL REFERENCES recipients,
  relationship text,
  purpose text,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE compliance_cases IS
  'Payments to third parties, for compliance: opened in the transaction that creates the order. Append-only.';
CALL own_by_partner('compliance_cases', 'SELECT, INSERT');
CREATE TRIGGER compliance_cases_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON compliance_cases
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE DOMAIN stream_sequence AS bigint CHECK (VALUE > 0);
CREATE DOMAIN vendor_event_type AS text CHECK (VALUE IN ('order.offered', 'order.changed', 'order.withdrawn'));

CREATE TABLE vendor_events (
  vendor_id uuid NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  order_id uuid NOT NULL,
  event_type vendor_event_type NOT NULL,
  status text NOT NULL,
  sequence stream_sequence,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (vendor_id, position)
);
COMMENT ON TABLE vendor_events IS
  'What vendors are told about their orders, kept so that a vendor that was offline can catch up. Written by triggers, so '
  'that no way of changing an order leaves its vendor out. The program notifies after the commit (decision 0018).';
COMMENT ON COLUMN vendor_events.status IS 'Of the order, at that moment.';
COMMENT ON COLUMN vendor_events.sequence IS 'Sequence number in the stream, given by the first reader, as in event_stream.';
CREATE UNIQUE INDEX vendor_events_in_order ON vendor_events (vendor_id, sequence) WHERE sequence IS NOT NULL;
CREATE INDEX vendor_events_unseen ON vendor_events (vendor_id, position) WHERE sequence IS NULL;
CREATE INDEX vendor_events_by_age ON vendor_events (created_at);
CALL own_by_system('vendor_events');
CALL serve_vendor('vendor_events', 'SELECT, UPDATE (sequence)', 'vendor_id = current_vendor_id()');

-- A transaction of a partner changes its orders but may not write what vendors are told, so these run with the rights of
-- the system.
CREATE FUNCTION tell_vendor_of_new_orders() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO vendor_events (vendor_id, order_id, event_type, status, created_at)
    SELECT vendor_id, order_id, 'order.offered', status, created_at FROM written WHERE vendor_id IS NOT NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION tell_vendor_of_change() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  is_new boolean := NEW.vendor_id IS DISTINCT FROM OLD.vendor_id;
  at timestamptz := greatest(NEW.updated_at, NEW.offered_at);
BEGIN
  IF is_new AND OLD.vendor_id IS NOT NULL THEN
    INSERT INTO vendor_events (vendor_id, order_id, event_type, status, created_at)
      VALUES (OLD.vendor_id, NEW.order_id, 'order.withdrawn', NEW.status, at);
  END IF;
  IF NEW.vendor_id IS NOT NULL THEN
    INSERT INTO vendor_events (vendor_id, order_id, event_type, status, created_at)
      VALUES (NEW.vendor_id, NEW.order_id, CASE WHEN is_new THEN 'order.offered' ELSE 'order.changed' END, NEW.status, at);
  END IF;
  RETURN NULL;
END $$;

-- A vendor that declines gives up an order that it then no longer sees, which no policy of its own could let pass.
CREATE FUNCTION decline_order(of_order uuid, declined_offer uuid) RETURNS TABLE (vendor_id uuid, quote_id uuid)
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  UPDATE orders SET vendor_id = NULL, declined_offer_ids = array_remove(declined_offer_ids || declined_offer, NULL)
   WHERE order_id = of_order AND vendor_id = current_vendor_id() RETURNING old.vendor_id, quote_id;
$$;

-- An owner of functions needs CREATE on the schema at the moment it becomes one.
GRANT CREATE ON SCHEMA public TO causeway_system;
ALTER FUNCTION tell_vendor_of_new_orders() OWNER TO causeway_system;
ALTER FUNCTION tell_vendor_of_change() OWNER TO causeway_system;
ALTER FUNCTION decline_order(uuid, uuid) OWNER TO causeway_system;
REVOKE CREATE ON SCHEMA public FROM causeway_system;
REVOKE ALL ON FUNCTION tell_vendor_of_new_orders(), tell_vendor_of_change(), decline_order(uuid, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION decline_order(uuid, uuid) TO causeway_vendor, causeway_system;

CREATE TRIGGER orders_told_to_vendors AFTER INSERT ON orders
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION tell_vendor_of_new_orders();
CREATE TRIGGER order_changes_told_to_vendors AFTER UPDATE ON orders FOR EACH ROW
  WHEN ((OLD.status, OLD.vendor_id, OLD.facts->'held', OLD.facts->'payerDetailsSubmitted', OLD.tx_hash)
        IS DISTINCT FROM (NEW.status, NEW.vendor_id, NEW.facts->'held', NEW.facts->'payerDetailsSubmitted', NEW.tx_hash))
  EXECUTE FUNCTION tell_vendor_of_change();
