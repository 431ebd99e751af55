-- Decisions that move much money wait for a second person.

-- Who a key stands for.
ALTER TABLE api_keys ADD created_by_user_id uuid REFERENCES console_users;
ALTER TABLE api_keys ADD created_by_key_id uuid REFERENCES api_keys;
ALTER TABLE api_keys ADD CHECK (created_by_user_id IS NULL OR created_by_key_id IS NULL);
COMMENT ON COLUMN api_keys.created_by_user_id IS
  'The user who made it, also where that was done with another key of the user: for a second approval both are one person.';
COMMENT ON COLUMN api_keys.created_by_key_id IS
  'The first key of the chain that made it, where no user did. Both null: it was installed, and stands for itself.';

CREATE TABLE approvals (
  approval_id uuid PRIMARY KEY,
  status text NOT NULL CHECK (status IN ('waiting', 'approved', 'rejected', 'expired', 'failed')),
  operation text NOT NULL CHECK (length(operation) BETWEEN 1 AND 80),
  method text NOT NULL CHECK (length(method) <= 10),
  path text NOT NULL CHECK (length(path) <= 500),
  params jsonb NOT NULL,
  body_sealed text NOT NULL,
  payload_hash text NOT NULL CHECK (payload_hash ~ '^[0-9a-f]{64}$'),
  subject text NOT NULL CHECK (length(subject) <= 200),
  summary text NOT NULL CHECK (length(summary) BETWEEN 1 AND 500),
  amount_usd numeric CHECK (amount_usd >= 0),
  requested_by_user_id uuid REFERENCES console_users,
  requested_by_key_id uuid REFERENCES api_keys,
  requester_person_id uuid NOT NULL,
  reason text CHECK (length(reason) <= 500),
  requested_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_by_user_id uuid REFERENCES console_users,
  decided_by_key_id uuid REFERENCES api_keys,
  decision_reason text CHECK (length(decision_reason) <= 500),
  decided_at timestamptz,
  error_code text CHECK (length(error_code) <= 60),
  CHECK ((requested_by_user_id IS NULL) <> (requested_by_key_id IS NULL)),
  CHECK (decided_by_user_id IS NULL OR decided_by_key_id IS NULL),
  CHECK ((status = 'waiting') = (decided_at IS NULL)),
  CHECK (status NOT IN ('approved', 'rejected') OR num_nonnulls(decided_by_user_id, decided_by_key_id) = 1),
  CHECK ((status = 'failed') = (error_code IS NOT NULL))
);
COMMENT ON TABLE approvals IS
  'Calls of operators that move more than is configured: stored by the first person, carried out when another makes the same one.';
COMMENT ON COLUMN approvals.payload_hash IS
  'SHA-256 over operation, path parameters and body without its reason: what both persons have to agree on.';
COMMENT ON COLUMN approvals.amount_usd IS 'Null where nothing says what it is worth.';
COMMENT ON COLUMN approvals.requester_person_id IS
  'The user, or the user or key that the calling key stands for: whoever counts as this person cannot approve.';
COMMENT ON COLUMN approvals.error_code IS 'Why the call could not be carried out any more.';
CREATE UNIQUE INDEX approvals_waiting ON approvals (payload_hash) WHERE status = 'waiting';
CREATE INDEX approvals_by_status ON approvals (status, requested_at, approval_id);
CREATE INDEX approvals_by_subject ON approvals (subject, requested_at);
CALL own_by_system('approvals');
REVOKE DELETE ON approvals FROM causeway_system;
