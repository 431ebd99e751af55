-- Answers kept for Idempotency-Key. Written in the transaction of the work they answer for.
CREATE TABLE idempotent_answers (
  partner_id uuid NOT NULL,
  idempotency_key text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  fingerprint text NOT NULL,
  status integer NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, idempotency_key)
);
CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at);
CALL own_by_partner('idempotent_answers', 'SELECT, INSERT, UPDATE, DELETE');

-- Requests counted per bucket and minute, shared by all processes. Losing it in a crash costs a minute
-- of counting, so it is not logged.
CREATE UNLOGGED TABLE rate_limit_windows (
  bucket text NOT NULL,
  window_start bigint NOT NULL,
  used bigint NOT NULL,
  PRIMARY KEY (bucket, window_start)
);
CREATE INDEX rate_limit_windows_by_age ON rate_limit_windows (window_start);
CALL own_by_system('rate_limit_windows');
