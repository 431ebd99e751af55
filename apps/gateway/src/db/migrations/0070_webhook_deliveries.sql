-- Deliveries of events to partners' webhooks: a queue of their own, drained in batches (decision 0010).
-- Written in the transaction that makes the event true. run_at is business time; leases and the pace of an
-- open circuit are machine time (clock_timestamp), like the intents' leases.
CREATE TABLE webhook_deliveries (
  partner_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  event_id text NOT NULL REFERENCES events,
  -- What the event is about and where it stands among the events about it.
  subject_id uuid,
  position bigint NOT NULL,
  -- First attempts about one subject go in order; a replay holds nobody up and waits for nobody.
  in_order boolean NOT NULL,
  replay_of uuid,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')),
  -- Attempts whose end was seen. One that died with its worker is made again.
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 10),
  attempt_log jsonb NOT NULL DEFAULT '[]',
  run_at timestamptz NOT NULL,
  leased_until timestamptz,
  lease_owner uuid,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  PRIMARY KEY (partner_id, delivery_id)
) WITH (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
-- A lease changes no indexed column, so claiming rewrites no index.
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (partner_id, run_at, position)
  WHERE status = 'pending';
CREATE INDEX webhook_deliveries_first_of_subject ON webhook_deliveries (subject_id, position)
  WHERE status = 'pending' AND attempts = 0 AND in_order;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);
CALL own_by_partner('webhook_deliveries', 'SELECT, INSERT, UPDATE');

-- How a partner's endpoint is doing. A row appears with the first failure.
CREATE TABLE webhook_endpoints (
  partner_id uuid PRIMARY KEY REFERENCES partners,
  consecutive_failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  last_error text CHECK (length(last_error) <= 200),
  -- While set, one attempt a second is made instead of as many as are due.
  circuit_opened_at timestamptz,
  next_try_at timestamptz
);
CALL own_by_partner('webhook_endpoints', 'SELECT, UPDATE');

-- During an overlap the previous secret signs too.
ALTER TABLE partners
  ADD COLUMN webhook_previous_secret_sealed text,
  ADD COLUMN webhook_previous_secret_until timestamptz;

-- What waited in the general queue goes on here.
INSERT INTO webhook_deliveries (partner_id, delivery_id, event_id, subject_id, position, in_order, attempts, run_at, created_at)
  SELECT e.partner_id, i.intent_id, e.event_id, e.subject_id, e.position, true,
         least(9, CASE WHEN i.status = 'prepared' THEN i.attempts ELSE i.attempts - 1 END), i.run_at, i.created_at
    FROM intents i JOIN events e ON e.event_id = i.dedupe_key
   WHERE i.kind = 'webhook.deliver' AND i.status IN ('prepared', 'submitted', 'unknown');
DELETE FROM intents WHERE kind = 'webhook.deliver';

-- The event stream. Positions are given before a commit and seen after it, so a cursor over them could pass an
-- event that is still being written. A reader therefore numbers what it sees for the first time.
ALTER TABLE events ADD COLUMN stream_position bigint;
CREATE UNIQUE INDEX events_in_stream ON events (partner_id, stream_position) WHERE stream_position IS NOT NULL;
DROP INDEX events_by_partner;
CREATE INDEX events_not_in_stream ON events (partner_id, position) WHERE stream_position IS NULL;
CREATE INDEX events_by_time ON events (partner_id, created_at);
GRANT UPDATE (stream_position) ON events TO causeway_partner;

CREATE FUNCTION announce_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('events_written', NEW.partner_id::text);
  RETURN NULL;
END $$;
CREATE TRIGGER events_written AFTER INSERT ON events
  FOR EACH ROW EXECUTE FUNCTION announce_event();
