-- The log of API requests that partners and vendors read (decision 0044). Rows are written in batches, a moment after the
-- answer, and deleted for their age. Nothing in them is personal.

CREATE TABLE request_log_counters (
  owner_id uuid PRIMARY KEY,
  last_number bigint NOT NULL CHECK (last_number > 0)
);
COMMENT ON TABLE request_log_counters IS
  'How many requests were ever logged: of a partner or a vendor, and of all under the nil UUID. A batch locks its counters '
  'until it is committed, so that numbers become visible in their order and no cursor passes a row that is still being written.';
CALL own_by_system('request_log_counters');

CREATE TABLE request_log (
  position bigint PRIMARY KEY,
  partner_id uuid,
  vendor_id uuid,
  owner_id uuid NOT NULL GENERATED ALWAYS AS (coalesce(partner_id, vendor_id)) STORED,
  sequence bigint NOT NULL,
  at timestamptz NOT NULL,
  request_id text NOT NULL CHECK (length(request_id) <= 128),
  key_id uuid NOT NULL,
  key_hint text,
  method text NOT NULL CHECK (length(method) <= 16),
  route text CHECK (length(route) <= 500),
  path text NOT NULL CHECK (length(path) <= 1000),
  query text CHECK (length(query) <= 1000),
  status_code smallint NOT NULL CHECK (status_code BETWEEN 100 AND 599),
  error_code text CHECK (length(error_code) <= 60),
  error_fields text[] NOT NULL CHECK (cardinality(error_fields) <= 20),
  duration_us bigint NOT NULL CHECK (duration_us >= 0),
  order_id uuid,
  idempotency_key boolean NOT NULL,
  idempotent_replay boolean NOT NULL,
  api_version text CHECK (length(api_version) <= 16),
  caller_network text CHECK (length(caller_network) <= 64),
  user_agent text CHECK (length(user_agent) <= 200),
  CHECK ((partner_id IS NULL) <> (vendor_id IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
COMMENT ON TABLE request_log IS
  'API requests with a key of a partner or a vendor: what was asked and what was answered, without bodies and without personal '
  'data. Written in batches (apps/gateway/src/features/request-log), kept for REQUEST_LOG_RETENTION_DAYS. No row refers to '
  'another table: a log must not fail, and outlives what it is about.';
COMMENT ON COLUMN request_log.position IS 'Number among all rows: the cursor of operators, and the order of deletion.';
COMMENT ON COLUMN request_log.sequence IS
  'Number among the rows of the owner: the cursor of the owner, which tells nothing of the requests of others.';
COMMENT ON COLUMN request_log.owner_id IS 'The partner or the vendor: one index serves both.';
COMMENT ON COLUMN request_log.at IS 'When the request arrived. Machine time: a moved clock of a sandbox does not move a log.';
COMMENT ON COLUMN request_log.key_hint IS 'Of api_keys, copied: owners may not read that table.';
COMMENT ON COLUMN request_log.path IS 'Ids only; another value of a parameter stands as an ellipsis. Likewise query.';
COMMENT ON COLUMN request_log.error_fields IS 'Names of refused fields, without their values.';
COMMENT ON COLUMN request_log.caller_network IS 'The address, cut to its /24 or /64.';
CREATE UNIQUE INDEX request_log_of_owner ON request_log (owner_id, sequence);
CREATE INDEX request_log_by_time ON request_log (owner_id, at);
CREATE INDEX request_log_by_request ON request_log (request_id);
CREATE INDEX request_log_by_order ON request_log (order_id) WHERE order_id IS NOT NULL;
CALL own_by_partner('request_log', 'SELECT');
CALL serve_vendor('request_log', 'SELECT', 'vendor_id = current_vendor_id()');
