-- What every feature is built on: the clock, durable intents, the outbox, the ledger, idempotency, rate limits.

-- Types with their checks. A CHECK of a table is parsed and planned anew by every statement that writes a row; a CHECK of a
-- type is prepared once a connection. So tables that each order writes to use types, here and in later files; what compares
-- two columns stays a CHECK. db/guards.test.ts holds each type against values that it must refuse.
CREATE DOMAIN effect_kind AS text CHECK (length(VALUE) BETWEEN 1 AND 60);
CREATE DOMAIN dedupe_key AS text CHECK (length(VALUE) BETWEEN 1 AND 200);
CREATE DOMAIN intent_status AS text CHECK (VALUE IN ('prepared', 'submitted', 'unknown', 'confirmed', 'failed'));
CREATE DOMAIN error_text AS text CHECK (length(VALUE) <= 2000);
CREATE DOMAIN ledger_account AS text CHECK (VALUE ~ '^[a-z_]+(:[A-Za-z0-9_.-]+)*$' AND length(VALUE) <= 160);
CREATE DOMAIN ledger_asset AS text CHECK (length(VALUE) BETWEEN 3 AND 60);
CREATE DOMAIN moved_units AS numeric(78, 0) CHECK (VALUE <> 0);
COMMENT ON DOMAIN intent_status IS
  'Not a machine of packages/protocol: the same five for every effect, changed by the intent worker only (engine/).';
COMMENT ON DOMAIN ledger_account IS
  'For example escrow:<order>, held:<order>, treasury:<chain>, outside:partner:<partner>, outside:vendor:<vendor>.';
COMMENT ON DOMAIN moved_units IS 'Atomic units of an asset: positive is a debit (the account holds more), negative a credit.';

CREATE TABLE business_clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  offset_ms bigint NOT NULL DEFAULT 0 CHECK (offset_ms >= 0)
);
COMMENT ON TABLE business_clock IS
  'One row: how far business time is ahead of machine time. A sandbox may move it, production never does.';
INSERT INTO business_clock DEFAULT VALUES;
CALL own_by_system('business_clock');
CREATE TRIGGER business_clock_changed AFTER UPDATE ON business_clock
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('clock_changed');

CREATE TABLE intents (
  intent_id uuid PRIMARY KEY,
  partner_id uuid,
  position bigint GENERATED ALWAYS AS IDENTITY,
  kind effect_kind NOT NULL,
  dedupe_key dedupe_key NOT NULL,
  payload jsonb NOT NULL,
  status intent_status NOT NULL DEFAULT 'prepared',
  attempts integer NOT NULL DEFAULT 0,
  run_at timestamptz NOT NULL,
  leased_until timestamptz,
  lease_owner text,
  result jsonb,
  last_error error_text,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  closed_at timestamptz,
  UNIQUE (kind, dedupe_key)
);
COMMENT ON TABLE intents IS
  'Effects are durable intents: every call that leaves the process has a row, written in the transaction that decided it. '
  'A worker leases it, marks it submitted, carries it out and settles it.';
COMMENT ON COLUMN intents.position IS 'Order of writing; ids of several processes need not sort by time.';
COMMENT ON COLUMN intents.dedupe_key IS 'One intent a key: deciding twice (a retry, a race) gives one effect.';
COMMENT ON COLUMN intents.run_at IS 'Business time.';
COMMENT ON COLUMN intents.leased_until IS
  'Machine time: moving the clock of a sandbox must not hand a running effect to a second worker.';
COMMENT ON COLUMN intents.closed_at IS 'An operator has dealt with the failure: it is no longer listed as stuck.';
CREATE INDEX intents_due ON intents (run_at, position) WHERE status IN ('prepared', 'submitted', 'unknown');
CREATE INDEX intents_by_order ON intents ((payload->>'order_id')) WHERE payload ? 'order_id';
CREATE INDEX intents_stuck ON intents (intent_id) WHERE status IN ('failed', 'unknown') AND closed_at IS NULL;
CALL own_by_partner('intents', 'SELECT, INSERT');

CREATE TABLE events (
  event_id text PRIMARY KEY CHECK (event_id ~ '^evt_[0-9a-f-]{36}$'),
  partner_id uuid NOT NULL REFERENCES partners,
  position bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  event_type text NOT NULL,
  subject_id uuid,
  body text NOT NULL,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE events IS
  'The outbox: what happened, as the text that is signed and sent. Append-only. Deliveries and numbers in the event stream '
  'are in tables of their own (webhook_deliveries, event_stream).';
COMMENT ON COLUMN events.position IS 'Order of writing, with gaps. Given before the commit, so it is no cursor.';
COMMENT ON COLUMN events.subject_id IS 'The order, user, account … that it is about.';
CREATE INDEX events_by_subject ON events (subject_id, position);
CREATE INDEX events_by_time ON events (partner_id, created_at);
-- At most one refund request an order, also in a race.
CREATE UNIQUE INDEX events_refund_required_once ON events (subject_id)
  WHERE event_type = 'order.refund.required';
CALL own_by_partner('events', 'SELECT, INSERT');

-- The one exception to append-only (decision 0014): a transaction that declares up to which time it purges may delete
-- events from before that time. Any other delete is refused, for the owner too.
CREATE FUNCTION refuse_undeclared_purge() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  declared text := nullif(current_setting('causeway.purge_events_before', true), '');
BEGIN
  IF declared IS NULL OR (TG_LEVEL = 'ROW' AND OLD.created_at >= declared::timestamptz) THEN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
      USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER events_append_only BEFORE UPDATE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_purged_only_when_declared BEFORE DELETE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_undeclared_purge();
CREATE TRIGGER events_purged_only_when_old BEFORE DELETE ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_undeclared_purge();

CREATE TABLE ledger_entries (
  entry_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  order_id uuid,
  kind effect_kind NOT NULL,
  dedupe_key dedupe_key NOT NULL UNIQUE,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE ledger_entries IS 'Double-entry ledger: one movement of money, with two or more postings. Append-only.';
COMMENT ON COLUMN ledger_entries.dedupe_key IS 'A movement is booked once, however often its confirmation is seen.';
CREATE INDEX ledger_entries_by_order ON ledger_entries (order_id, created_at);
CALL own_by_partner('ledger_entries', 'SELECT, INSERT');
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE ledger_postings (
  entry_id uuid NOT NULL REFERENCES ledger_entries,
  line smallint NOT NULL,
  partner_id uuid NOT NULL,
  account ledger_account NOT NULL,
  asset ledger_asset NOT NULL,
  amount moved_units NOT NULL,
  PRIMARY KEY (entry_id, line)
);
COMMENT ON TABLE ledger_postings IS
  'What an entry does to an account. The postings of an entry sum to zero in every asset. Append-only.';
COMMENT ON COLUMN ledger_postings.asset IS 'A currency, or a token and its chain: EUR, USDC@base-mainnet.';
CREATE INDEX ledger_postings_by_account ON ledger_postings (account, asset);
CALL own_by_partner('ledger_postings', 'SELECT, INSERT');
CREATE TRIGGER ledger_postings_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- All postings of an entry are written by one statement, so this sees the whole entry.
CREATE FUNCTION refuse_unbalanced_entry() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  unbalanced record;
BEGIN
  SELECT entry_id, asset, sum(amount) AS remainder INTO unbalanced
    FROM written GROUP BY entry_id, asset HAVING sum(amount) <> 0 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'ledger entry % does not balance in %: %', unbalanced.entry_id, unbalanced.asset,
      unbalanced.remainder USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entry_balances';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_entry_balances AFTER INSERT ON ledger_postings
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced_entry();

CREATE TABLE idempotent_responses (
  partner_id uuid NOT NULL,
  idempotency_key text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  fingerprint text NOT NULL,
  status integer NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  running_until timestamptz,
  PRIMARY KEY (partner_id, idempotency_key)
);
COMMENT ON TABLE idempotent_responses IS
  'Responses kept for the Idempotency-Key of partners, each written in the transaction of the work it answers for.';
COMMENT ON COLUMN idempotent_responses.fingerprint IS 'Of the request: the key with another request is refused.';
COMMENT ON COLUMN idempotent_responses.status IS 'HTTP status.';
COMMENT ON COLUMN idempotent_responses.running_until IS
  'Work that leaves the process takes its key before and writes the response after; until this time the key counts as '
  'taken. Machine time.';
CREATE INDEX idempotent_responses_by_age ON idempotent_responses (created_at);
CALL own_by_partner('idempotent_responses', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE actor_responses (
  actor text NOT NULL CHECK (actor ~ '^(vendor|operator):[0-9a-f-]{36}$'),
  idempotency_key text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  fingerprint text NOT NULL,
  status integer NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  running_until timestamptz,
  PRIMARY KEY (actor, idempotency_key)
);
COMMENT ON TABLE actor_responses IS 'As idempotent_responses, for vendors and operators.';
COMMENT ON COLUMN actor_responses.actor IS 'vendor:<vendor id> or operator:<key id>.';
CREATE INDEX actor_responses_by_age ON actor_responses (created_at);
CALL own_by_system('actor_responses');
CALL serve_vendor('actor_responses', 'SELECT, INSERT, UPDATE, DELETE', 'actor = ''vendor:'' || current_vendor_id()');

CREATE UNLOGGED TABLE rate_limit_windows (
  bucket text NOT NULL,
  window_start bigint NOT NULL,
  used bigint NOT NULL,
  PRIMARY KEY (bucket, window_start)
);
COMMENT ON TABLE rate_limit_windows IS
  'Requests counted per bucket and minute, shared by all processes. Unlogged: a crash loses one minute of counting.';
CREATE INDEX rate_limit_windows_by_age ON rate_limit_windows (window_start);
CALL own_by_system('rate_limit_windows');
