-- Answers kept for the Idempotency-Key of vendors and operators, as idempotent_answers keeps those of partners.
CREATE TABLE actor_answers (
  -- vendor:<vendor id> or operator:<key id>
  actor text NOT NULL CHECK (actor ~ '^(vendor|operator):[0-9a-f-]{36}$'),
  idempotency_key text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  fingerprint text NOT NULL,
  status integer NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  running_until timestamptz,
  PRIMARY KEY (actor, idempotency_key)
);
CREATE INDEX actor_answers_by_age ON actor_answers (created_at);
CALL own_by_system('actor_answers');

-- Work that leaves the process cannot be done in the transaction that keeps its answer. Its key is taken before and the
-- answer written after; until then this says how long the key counts as taken. Machine time, like every lease.
ALTER TABLE idempotent_answers ADD COLUMN running_until timestamptz;
