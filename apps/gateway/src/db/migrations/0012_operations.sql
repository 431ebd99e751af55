-- The deployment and its operators.

CREATE TABLE deployment_facts (
  name text PRIMARY KEY,
  value jsonb NOT NULL,
  updated_at timestamptz NOT NULL
);
COMMENT ON TABLE deployment_facts IS
  'What a deployment remembers about itself: generated keys (wrapped), cursors, digests of seeded data.';
CALL own_by_system('deployment_facts');

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
COMMENT ON TABLE operator_audit IS 'What operators changed, when and why. Rows are inserted and never changed.';
CREATE INDEX operator_audit_by_subject ON operator_audit (subject, at);
CALL own_by_system('operator_audit');
REVOKE UPDATE, DELETE ON operator_audit FROM causeway_system;
