-- How partners get their events: webhook deliveries and the event stream. The events themselves are in 0002.

CREATE DOMAIN delivery_status AS text CHECK (VALUE IN ('pending', 'delivered', 'failed', 'cancelled'));
CREATE DOMAIN delivery_attempts AS integer CHECK (VALUE BETWEEN 0 AND 10);

CREATE TABLE webhook_deliveries (
  partner_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  event_id text NOT NULL REFERENCES events,
  subject_id uuid,
  position bigint NOT NULL,
  in_order boolean NOT NULL,
  replay_of uuid,
  status delivery_status NOT NULL DEFAULT 'pending',
  attempts delivery_attempts NOT NULL DEFAULT 0,
  attempt_log jsonb NOT NULL DEFAULT '[]',
  run_at timestamptz NOT NULL,
  leased_until timestamptz,
  lease_owner uuid,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  PRIMARY KEY (partner_id, delivery_id)
) WITH (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
COMMENT ON TABLE webhook_deliveries IS
  'Deliveries of events to the webhooks of partners: a queue of its own, drained in batches (decision 0010). Written in the '
  'transaction of the event.';
COMMENT ON COLUMN webhook_deliveries.subject_id IS 'Of the event, as is position.';
COMMENT ON COLUMN webhook_deliveries.in_order IS
  'First attempts about one subject go in the order of position. False for a replay, which neither waits nor delays others.';
COMMENT ON COLUMN webhook_deliveries.attempts IS
  'Attempts whose end was seen; one that was cut off by the end of its worker is made again.';
COMMENT ON COLUMN webhook_deliveries.run_at IS 'Business time. Leases are machine time.';
-- A lease changes no indexed column, so claiming rewrites no index.
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (partner_id, run_at, position)
  WHERE status = 'pending';
CREATE INDEX webhook_deliveries_first_of_subject ON webhook_deliveries (subject_id, position)
  WHERE status = 'pending' AND attempts = 0 AND in_order;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);
CALL own_by_partner('webhook_deliveries', 'SELECT, INSERT, UPDATE');
CALL serve_vendor('webhook_deliveries', 'INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.order_id = webhook_deliveries.subject_id AND o.partner_id = webhook_deliveries.partner_id)');

CREATE TABLE webhook_endpoints (
  partner_id uuid PRIMARY KEY REFERENCES partners,
  consecutive_failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  last_error text CHECK (length(last_error) <= 200),
  circuit_opened_at timestamptz,
  next_try_at timestamptz
);
COMMENT ON TABLE webhook_endpoints IS 'Health of the endpoint of a partner. Inserted with the first failure.';
COMMENT ON COLUMN webhook_endpoints.circuit_opened_at IS
  'While set, one attempt a second is made instead of as many as are due.';
COMMENT ON COLUMN webhook_endpoints.next_try_at IS 'Machine time.';
CALL own_by_partner('webhook_endpoints', 'SELECT, UPDATE');

CREATE TABLE event_stream (
  event_id text PRIMARY KEY REFERENCES events,
  partner_id uuid NOT NULL,
  position bigint NOT NULL,
  sequence stream_sequence
);
COMMENT ON TABLE event_stream IS
  'Sequence of the events of a partner, for readers with a cursor. Inserted with the event, which itself never changes.';
COMMENT ON COLUMN event_stream.sequence IS
  'Sequence number, given by the first reader that sees the event. The position of an event is given before its commit and '
  'seen after it, so a cursor over positions could pass an event that is still being written.';
CREATE UNIQUE INDEX event_stream_in_order ON event_stream (partner_id, sequence) WHERE sequence IS NOT NULL;
CREATE INDEX event_stream_unseen ON event_stream (partner_id, position) WHERE sequence IS NULL;
CALL own_by_partner('event_stream', 'SELECT, INSERT, UPDATE');
CALL serve_vendor('event_stream', 'SELECT, INSERT',
  'EXISTS (SELECT FROM orders o WHERE o.vendor_id = current_vendor_id() AND o.partner_id = event_stream.partner_id)');

CREATE TABLE event_stream_floors (
  partner_id uuid PRIMARY KEY REFERENCES partners,
  floor bigint NOT NULL CHECK (floor > 0)
);
COMMENT ON TABLE event_stream_floors IS
  'The last sequence number of a partner whose event was deleted for its age: an older cursor is refused, and numbers do not '
  'start again.';
CALL own_by_partner('event_stream_floors', 'SELECT');
