-- Further webhook endpoints of a partner, each with its own secret, filter, queue and health. The default endpoint stays in
-- the columns of partners (decision 0040). Where a queue or a health needs one id, the default endpoint has its partner's.

-- Only counters of failures: they start again with the next attempt.
DROP TABLE webhook_endpoints;

CREATE TABLE webhook_endpoints (
  endpoint_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
  events text[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 64),
  enabled boolean NOT NULL,
  api_version text NOT NULL CHECK (api_version ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  secret_sealed text NOT NULL,
  previous_secret_sealed text,
  previous_secret_until timestamptz,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE webhook_endpoints IS
  'Webhook endpoints of a partner beside its default one, which is in partners. Deleted for good; deliveries stay in the log.';
COMMENT ON COLUMN webhook_endpoints.events IS 'Types of events that are sent to it; {*} for all.';
COMMENT ON COLUMN webhook_endpoints.api_version IS 'Shape of the events, set when the endpoint is created.';
COMMENT ON COLUMN webhook_endpoints.previous_secret_sealed IS 'Also signs until previous_secret_until, after a rotation.';
CREATE INDEX webhook_endpoints_by_partner ON webhook_endpoints (partner_id);
CALL own_by_partner('webhook_endpoints', 'SELECT, INSERT, UPDATE, DELETE');
-- The statement that writes an event asks who wants it.
CALL show_to_vendor('webhook_endpoints', 'endpoint_id, partner_id, enabled, events', NULL,
  'EXISTS (SELECT FROM orders o WHERE o.vendor_id = current_vendor_id() AND o.partner_id = webhook_endpoints.partner_id)');

CREATE TABLE webhook_endpoint_health (
  endpoint_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  consecutive_failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  last_error text CHECK (length(last_error) <= 200),
  circuit_opened_at timestamptz,
  next_try_at timestamptz
);
COMMENT ON TABLE webhook_endpoint_health IS 'Health of a webhook endpoint. Inserted with the first failure.';
COMMENT ON COLUMN webhook_endpoint_health.endpoint_id IS 'The partner, for its default endpoint.';
COMMENT ON COLUMN webhook_endpoint_health.circuit_opened_at IS
  'While set, one attempt a second is made instead of as many as are due.';
COMMENT ON COLUMN webhook_endpoint_health.next_try_at IS 'Machine time.';
CALL own_by_partner('webhook_endpoint_health', 'SELECT, UPDATE, DELETE');

ALTER TABLE webhook_deliveries ADD COLUMN endpoint_id uuid;
ALTER TABLE webhook_deliveries ADD COLUMN queue_id uuid NOT NULL GENERATED ALWAYS AS (coalesce(endpoint_id, partner_id)) STORED;
COMMENT ON COLUMN webhook_deliveries.endpoint_id IS 'Null: the default endpoint. Not a reference: the log outlives an endpoint.';
COMMENT ON COLUMN webhook_deliveries.queue_id IS
  'The endpoint, or the partner for its default one. A column and not an expression: it has statistics, and an index over it '
  'gives its rows in order also under row-level security.';
-- A queue an endpoint.
DROP INDEX webhook_deliveries_due;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (queue_id, run_at, position)
  WHERE status = 'pending';
-- The log of one endpoint. The default's is read along the primary key: its deliveries need no further index.
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint_id, delivery_id)
  WHERE endpoint_id IS NOT NULL;
