-- People who sign in to the console: their users, the ways they prove who they are, sessions, invitations, and what they did.

CREATE TABLE console_users (
  user_id uuid PRIMARY KEY,
  partner_id uuid REFERENCES partners,
  vendor_id uuid REFERENCES vendors,
  desk text NOT NULL GENERATED ALWAYS AS (
    CASE WHEN partner_id IS NOT NULL THEN 'partner' WHEN vendor_id IS NOT NULL THEN 'vendor' ELSE 'operator' END) STORED,
  email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
  role text NOT NULL CHECK (role IN ('viewer', 'support', 'reviewer', 'finance', 'admin')),
  password_hash text,
  totp_secret_sealed text,
  totp_confirmed_at timestamptz,
  totp_last_step bigint,
  recovery_code_hashes text[] NOT NULL DEFAULT '{}',
  disabled_at timestamptz,
  password_changed_at timestamptz,
  last_signed_in_at timestamptz,
  created_at timestamptz NOT NULL,
  CHECK (partner_id IS NULL OR vendor_id IS NULL)
);
COMMENT ON TABLE console_users IS 'A person at one desk of the console: of a partner, of a vendor, or of the operator where both are null.';
COMMENT ON COLUMN console_users.email IS 'In lower case; one address is one user of the deployment.';
COMMENT ON COLUMN console_users.password_hash IS 'argon2id, in PHC form. Null: signs in by passkey only.';
COMMENT ON COLUMN console_users.totp_secret_sealed IS 'Counts once it is confirmed by a first code.';
COMMENT ON COLUMN console_users.totp_last_step IS 'The time step of the last code that was taken: no code is good twice.';
COMMENT ON COLUMN console_users.recovery_code_hashes IS 'SHA-256; each is removed when it is used.';
CREATE UNIQUE INDEX console_users_email ON console_users (email);
CREATE INDEX console_users_of_partner ON console_users (partner_id) WHERE partner_id IS NOT NULL;
CREATE INDEX console_users_of_vendor ON console_users (vendor_id) WHERE vendor_id IS NOT NULL;
CALL own_by_partner('console_users', 'SELECT, INSERT, UPDATE');
CALL serve_vendor('console_users', 'SELECT, INSERT, UPDATE', 'vendor_id = current_vendor_id()');

CREATE TABLE console_passkeys (
  passkey_id text PRIMARY KEY CHECK (length(passkey_id) BETWEEN 1 AND 1400),
  user_id uuid NOT NULL REFERENCES console_users,
  partner_id uuid REFERENCES partners,
  vendor_id uuid REFERENCES vendors,
  public_key bytea NOT NULL,
  sign_count bigint NOT NULL CHECK (sign_count >= 0),
  transports text[] NOT NULL DEFAULT '{}',
  label text NOT NULL CHECK (length(label) BETWEEN 1 AND 80),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
COMMENT ON TABLE console_passkeys IS 'WebAuthn credentials; passkey_id is the credential id in base64url.';
CREATE INDEX console_passkeys_of_user ON console_passkeys (user_id);
CALL own_by_partner('console_passkeys', 'SELECT, INSERT, UPDATE, DELETE');
CALL serve_vendor('console_passkeys', 'SELECT, INSERT, UPDATE, DELETE', 'vendor_id = current_vendor_id()');

CREATE TABLE console_challenges (
  challenge_id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('second_step', 'totp_enrolment', 'passkey_sign_in', 'passkey_registration')),
  user_id uuid REFERENCES console_users,
  token_hash text NOT NULL UNIQUE,
  challenge text,
  secret_sealed text,
  attempts integer NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL
);
COMMENT ON TABLE console_challenges IS
  'A sign-in that waits for its second step, an app that is being added, or a passkey that is being made or asked for. '
  'Deleted when it is used or over.';
COMMENT ON COLUMN console_challenges.challenge IS 'What a passkey has to sign.';
COMMENT ON COLUMN console_challenges.secret_sealed IS 'Of the app that is being added, until its first code confirms it.';
CREATE INDEX console_challenges_by_age ON console_challenges (expires_at);
CREATE INDEX console_challenges_of_user ON console_challenges (user_id) WHERE user_id IS NOT NULL;
CALL own_by_system('console_challenges');

CREATE TABLE console_sign_in_attempts (
  address_hash text PRIMARY KEY,
  failures integer NOT NULL CHECK (failures >= 0),
  locked_until timestamptz,
  last_at timestamptz NOT NULL
);
COMMENT ON TABLE console_sign_in_attempts IS
  'Failed sign-ins by e-mail address (SHA-256), whether or not there is such a user: a lock tells nothing about that.';
CREATE INDEX console_sign_in_attempts_by_age ON console_sign_in_attempts (last_at);
CALL own_by_system('console_sign_in_attempts');

CREATE TABLE console_sessions (
  session_id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES console_users,
  partner_id uuid REFERENCES partners,
  vendor_id uuid REFERENCES vendors,
  family_hash text NOT NULL UNIQUE,
  token_hash text NOT NULL,
  previous_token_hash text,
  rotated_at timestamptz NOT NULL,
  confirmed_at timestamptz,
  csrf_token text NOT NULL,
  method text NOT NULL CHECK (method IN ('password', 'totp', 'recovery_code', 'passkey', 'sandbox', 'invitation')),
  network text CHECK (length(network) <= 64),
  user_agent text CHECK (length(user_agent) <= 200),
  created_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  ended_because text CHECK (ended_because IN ('signed_out', 'revoked', 'replayed', 'disabled', 'password_changed'))
);
COMMENT ON TABLE console_sessions IS 'A browser in which somebody is signed in.';
COMMENT ON COLUMN console_sessions.family_hash IS
  'SHA-256 of the part of the cookie that stays the same: a cookie of the session that is no longer good is known as such.';
COMMENT ON COLUMN console_sessions.token_hash IS 'SHA-256 of what the cookie holds now; the cookie is renewed while it is used.';
COMMENT ON COLUMN console_sessions.previous_token_hash IS
  'What the cookie held before. Taken until the browser has had the new one for a short while, because requests overtake each other; used later it is a stolen copy, and the session ends.';
COMMENT ON COLUMN console_sessions.confirmed_at IS 'When the browser first sent what the cookie holds now.';
COMMENT ON COLUMN console_sessions.csrf_token IS 'What every request that changes something must carry in a header. Of no use without the cookie, so it is kept as it is.';
CREATE INDEX console_sessions_of_user ON console_sessions (user_id, created_at);
CREATE INDEX console_sessions_by_age ON console_sessions (expires_at);
CALL own_by_partner('console_sessions', 'SELECT, UPDATE');
CALL serve_vendor('console_sessions', 'SELECT, UPDATE', 'vendor_id = current_vendor_id()');

CREATE TABLE console_invitations (
  invitation_id uuid PRIMARY KEY,
  partner_id uuid REFERENCES partners,
  vendor_id uuid REFERENCES vendors,
  email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
  role text NOT NULL CHECK (role IN ('viewer', 'support', 'reviewer', 'finance', 'admin')),
  token_hash text NOT NULL UNIQUE,
  link_sealed text,
  invited_by uuid,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  withdrawn_at timestamptz,
  CHECK (partner_id IS NULL OR vendor_id IS NULL)
);
COMMENT ON TABLE console_invitations IS 'A link that makes a user, once. The link itself is shown once and only its hash is kept.';
COMMENT ON COLUMN console_invitations.link_sealed IS 'Until it is mailed, where it is.';
COMMENT ON COLUMN console_invitations.invited_by IS 'The user, or the operator’s API key.';
CREATE INDEX console_invitations_by_age ON console_invitations (created_at);
CREATE INDEX console_invitations_by_email ON console_invitations (email);
CALL own_by_partner('console_invitations', 'SELECT, INSERT, UPDATE');
CALL serve_vendor('console_invitations', 'SELECT, INSERT, UPDATE', 'vendor_id = current_vendor_id()');

CREATE TABLE console_activity (
  activity_id uuid PRIMARY KEY,
  partner_id uuid REFERENCES partners,
  vendor_id uuid REFERENCES vendors,
  user_id uuid,
  session_id uuid,
  operation text NOT NULL CHECK (length(operation) BETWEEN 1 AND 80),
  path text CHECK (length(path) <= 500),
  status_code smallint CHECK (status_code BETWEEN 100 AND 599),
  network text CHECK (length(network) <= 64),
  at timestamptz NOT NULL
);
COMMENT ON TABLE console_activity IS
  'Sign-ins, refused ones too, and every request of a user that may change something: written before it is carried out, so that '
  'nothing is done without a trace. status_code is null where the process died before it answered.';
CREATE INDEX console_activity_by_time ON console_activity (at);
CREATE INDEX console_activity_of_user ON console_activity (user_id, at);
CREATE INDEX console_activity_of_partner ON console_activity (partner_id, at) WHERE partner_id IS NOT NULL;
CREATE INDEX console_activity_of_vendor ON console_activity (vendor_id, at) WHERE vendor_id IS NOT NULL;
CALL own_by_partner('console_activity', 'SELECT');
CALL serve_vendor('console_activity', 'SELECT', 'vendor_id = current_vendor_id()');
REVOKE DELETE ON console_activity FROM causeway_system;

-- An operator may be a person as well as a key.
ALTER TABLE operator_audit ALTER operator_key_id DROP NOT NULL;
ALTER TABLE operator_audit ADD operator_user_id uuid;
ALTER TABLE operator_audit ADD CHECK ((operator_key_id IS NULL) <> (operator_user_id IS NULL));
COMMENT ON COLUMN operator_audit.operator_user_id IS 'The user of the console who did it; null where it was done with an API key.';
