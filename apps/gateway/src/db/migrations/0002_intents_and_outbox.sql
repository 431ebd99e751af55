-- Effects are durable intents: every call that leaves the process has a row here, written in the
-- transaction that decided it. A worker leases it, marks it submitted, carries it out and settles it.
-- Lease times are machine time (clock_timestamp), never business time: moving a sandbox's clock must not
-- hand a running effect to a second worker. run_at is business time.
CREATE TABLE intents (
  intent_id uuid PRIMARY KEY,
  partner_id uuid,
  -- Ids of several processes need not sort by time; within a lane this does.
  position bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL CHECK (length(kind) BETWEEN 1 AND 60),
  -- One intent a key: deciding twice (a retry, a race) still gives one effect.
  dedupe_key text NOT NULL CHECK (length(dedupe_key) BETWEEN 1 AND 200),
  -- First attempts of one lane go in the order they were written; a retry holds nobody up.
  lane text CHECK (length(lane) BETWEEN 1 AND 120),
  payload jsonb NOT NULL,
  status text NOT NULL DEFAULT 'prepared'
    CHECK (status IN ('prepared', 'submitted', 'unknown', 'confirmed', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  run_at timestamptz NOT NULL,
  leased_until timestamptz,
  lease_owner text,
  result jsonb,
  last_error text CHECK (length(last_error) <= 2000),
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  UNIQUE (kind, dedupe_key)
);
CREATE INDEX intents_due ON intents (run_at, position) WHERE status IN ('prepared', 'submitted', 'unknown');
CREATE INDEX intents_first_in_lane ON intents (lane, position)
  WHERE lane IS NOT NULL AND status IN ('prepared', 'submitted') AND attempts <= 1;
CALL own_by_partner('intents', 'SELECT, INSERT');

CREATE TRIGGER intents_written AFTER INSERT ON intents
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('intents_written');

-- The outbox: what happened, frozen as the text that will be signed and sent.
CREATE TABLE events (
  event_id text PRIMARY KEY CHECK (event_id ~ '^evt_[0-9a-f-]{36}$'),
  partner_id uuid NOT NULL REFERENCES partners,
  -- Orders events of one partner for a cursor; gaps are normal.
  position bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  event_type text NOT NULL,
  subject_id uuid,
  body text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX events_by_partner ON events (partner_id, position);
CREATE INDEX events_by_subject ON events (subject_id, position);
-- At most one refund request an order, whatever races.
CREATE UNIQUE INDEX events_refund_required_once ON events (subject_id)
  WHERE event_type = 'order.refund.required';
CALL own_by_partner('events', 'SELECT, INSERT');
