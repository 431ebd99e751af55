-- The queue of what waits for a person. It is read from the tables that hold the waiting rows; what is kept here is who works
-- on a case, who has put it off, and what the last reconciliation found.

CREATE TABLE queue_assignments (
  kind text NOT NULL CHECK (kind ~ '^[a-z_]{1,40}$'),
  subject_id uuid NOT NULL,
  claimed_by uuid,
  claimed_at timestamptz,
  snoozed_by uuid,
  snoozed_at timestamptz,
  snoozed_until timestamptz,
  snooze_reason text CHECK (length(snooze_reason) BETWEEN 1 AND 500),
  PRIMARY KEY (kind, subject_id),
  CHECK ((claimed_by IS NULL) = (claimed_at IS NULL)),
  CHECK ((snoozed_until IS NULL) = (snooze_reason IS NULL)),
  CHECK ((snoozed_until IS NULL) = (snoozed_by IS NULL)),
  CHECK ((snoozed_until IS NULL) = (snoozed_at IS NULL))
);
COMMENT ON TABLE queue_assignments IS
  'Who works on a case of the queue: one at a time, by the primary key. A row says nothing of whether the case still waits.';
COMMENT ON COLUMN queue_assignments.kind IS 'QUEUE_KINDS of packages/protocol.';
COMMENT ON COLUMN queue_assignments.claimed_by IS 'A user of the console, or an API key of an operator.';
COMMENT ON COLUMN queue_assignments.claimed_at IS
  'A claim counts for half an hour, and only while the case waits for the same reason: one that is older than the wait is over.';
CREATE INDEX queue_assignments_by_claim ON queue_assignments (claimed_by) WHERE claimed_by IS NOT NULL;
CALL own_by_system('queue_assignments');

CREATE TABLE reconciliation_differences (
  difference_id uuid PRIMARY KEY,
  subject text NOT NULL UNIQUE CHECK (length(subject) BETWEEN 1 AND 200),
  order_id uuid REFERENCES orders,
  asset text NOT NULL,
  escrow_address text,
  booked text NOT NULL,
  found text NOT NULL,
  difference text NOT NULL,
  first_seen_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL
);
COMMENT ON TABLE reconciliation_differences IS
  'Where the last reconciliation found the books to differ, from the chain or from themselves. A row goes when they agree.';
COMMENT ON COLUMN reconciliation_differences.subject IS 'The order whose escrow it is, or book: and the asset.';
COMMENT ON COLUMN reconciliation_differences.booked IS 'Decimal text, like found and difference.';
CREATE INDEX reconciliation_differences_by_age ON reconciliation_differences (first_seen_at, difference_id);
CALL own_by_system('reconciliation_differences');

CREATE TABLE reconciliation_runs (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  started_at timestamptz,
  finished_at timestamptz,
  checked integer NOT NULL DEFAULT 0,
  different integer NOT NULL DEFAULT 0,
  unreachable integer NOT NULL DEFAULT 0
);
COMMENT ON TABLE reconciliation_runs IS
  'One row: the last reconciliation. started_at is machine time and keeps several workers from doing it at once.';
INSERT INTO reconciliation_runs DEFAULT VALUES;
CALL own_by_system('reconciliation_runs');

-- What the other kinds have already. Statuses in these conditions are those of the machines.
CREATE INDEX orders_disputed ON orders (order_id) WHERE status = 'dispute_started';
CREATE INDEX offers_to_authorize ON offers (created_at, offer_id) WHERE NOT authorized AND NOT withdrawn;
CREATE INDEX fiat_payments_unmatched ON fiat_payments (received_at, payment_id)
  WHERE status = 'received' AND settlement_id IS NULL;
