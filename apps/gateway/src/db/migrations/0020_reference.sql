-- What discovery lists. Rows come from the reviewed data files; an operator may change them at run time, and a row
-- that an operator has changed is no longer overwritten by a newer release's files.
CREATE TABLE reference_records (
  kind text NOT NULL CHECK (kind ~ '^[a-z][a-z_]{0,39}$'),
  id text NOT NULL CHECK (length(id) BETWEEN 1 AND 120),
  -- Lists keep the order of the files: the first chain of a token is the one its aggregate entry shows.
  position integer NOT NULL,
  data jsonb NOT NULL CHECK (jsonb_typeof(data) = 'object'),
  source text NOT NULL CHECK (source IN ('files', 'operator')),
  updated_at timestamptz NOT NULL,
  updated_by uuid,
  PRIMARY KEY (kind, id),
  CHECK ((source = 'operator') = (updated_by IS NOT NULL))
);
CALL own_by_system('reference_records');
CREATE TRIGGER reference_records_changed AFTER INSERT OR UPDATE OR DELETE ON reference_records
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('reference_changed');

-- The rates every process prices on: one row, written by the one worker that holds it. Lease times are machine time.
CREATE TABLE rate_book (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  legs jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(legs) = 'array'),
  published_at timestamptz,
  holder uuid,
  held_until timestamptz
);
INSERT INTO rate_book DEFAULT VALUES;
CALL own_by_system('rate_book');
CREATE TRIGGER rate_book_changed AFTER UPDATE OF legs ON rate_book
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('rates_changed');

CREATE TABLE rate_points (
  base text NOT NULL CHECK (base ~ '^[A-Z0-9]{3,10}$'),
  quote text NOT NULL CHECK (quote ~ '^[A-Z0-9]{3,10}$'),
  at timestamptz NOT NULL,
  rate numeric NOT NULL CHECK (rate > 0),
  PRIMARY KEY (base, quote, at)
);
CREATE INDEX rate_points_by_age ON rate_points (at);
CALL own_by_system('rate_points');

-- What operators changed, when and why. Entries are added, never altered.
CREATE TABLE operator_audit (
  audit_id uuid PRIMARY KEY,
  operator_key_id uuid NOT NULL,
  action text NOT NULL CHECK (length(action) BETWEEN 1 AND 80),
  subject text NOT NULL CHECK (length(subject) BETWEEN 1 AND 200),
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  before jsonb,
  after jsonb,
  at timestamptz NOT NULL
);
CREATE INDEX operator_audit_by_subject ON operator_audit (subject, at);
CALL own_by_system('operator_audit');
REVOKE UPDATE, DELETE ON operator_audit FROM causeway_system;
