-- Reconciliation of the books with orders, events, the bank and open effects, beside the chain.

-- The next run finds again what differs.
DELETE FROM reconciliation_differences;
ALTER TABLE reconciliation_differences ADD COLUMN kind text NOT NULL CHECK (kind ~ '^[a-z_]{1,40}$');
ALTER TABLE reconciliation_differences ADD COLUMN about text CHECK (length(about) BETWEEN 1 AND 200);
ALTER TABLE reconciliation_differences RENAME COLUMN booked TO expected;
ALTER TABLE reconciliation_differences ALTER COLUMN asset DROP NOT NULL;
ALTER TABLE reconciliation_differences ALTER COLUMN difference DROP NOT NULL;
COMMENT ON TABLE reconciliation_differences IS
  'Where the last reconciliation found two records of one thing to differ. A row goes when they agree.';
COMMENT ON COLUMN reconciliation_differences.kind IS 'DIFFERENCE_KINDS of packages/protocol.';
COMMENT ON COLUMN reconciliation_differences.subject IS 'The kind and what it is about: one row a difference.';
COMMENT ON COLUMN reconciliation_differences.about IS
  'What differs, beside the order: a kind of entry or effect, an event, an account, a transfer.';
COMMENT ON COLUMN reconciliation_differences.expected IS 'Decimal text, or words; so is found.';
COMMENT ON COLUMN reconciliation_differences.difference IS 'Decimal text; null where no amount differs.';

CREATE TABLE reconciliation_cursors (
  part text PRIMARY KEY CHECK (part ~ '^[a-z_]{1,40}$'),
  cursor text,
  rounds bigint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL
);
COMMENT ON TABLE reconciliation_cursors IS
  'How far each part of the reconciliation has come. A run looks at so many rows and the next goes on, so that a run over a '
  'large database takes no longer than over a small one.';
COMMENT ON COLUMN reconciliation_cursors.cursor IS 'Null: the next run begins anew.';
COMMENT ON COLUMN reconciliation_cursors.rounds IS 'How often everything was looked at.';
CALL own_by_system('reconciliation_cursors');

-- How many deliveries were written with an event: one that is missing later can be told from one that nobody wanted.
ALTER TABLE events ADD COLUMN deliveries smallint;
COMMENT ON COLUMN events.deliveries IS 'How many were written with it; null for events from before this was kept.';

CREATE TABLE sandbox_bank_payments (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  transaction_id text NOT NULL CHECK (length(transaction_id) BETWEEN 1 AND 300),
  account_reference text NOT NULL,
  currency text NOT NULL,
  amount numeric(78, 0) NOT NULL,
  received_at timestamptz NOT NULL
);
COMMENT ON TABLE sandbox_bank_payments IS
  'What the simulated bank reports to have received: apart from our own books, and without who paid. One transfer may be '
  'reported more than once. Empty in production.';
CREATE INDEX sandbox_bank_payments_by_transaction ON sandbox_bank_payments (transaction_id);
CALL own_by_system('sandbox_bank_payments');
