-- Customers of partners, the third parties they pay, and the screening of both.
--
-- Every customer and every recipient has a data key of its own, wrapped by the master key of the deployment; what is
-- personal is encrypted with the data key (columns named _sealed; decision 0011). Rotating the master key rewraps the data
-- keys. Erasing a person deletes the data key: rows that the ledger refers to stay, unreadable (decision 0012).

CREATE TABLE users (
  user_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  reference_id text CHECK (length(reference_id) <= 255),
  email_index text NOT NULL,
  data_key_sealed text,
  profile_sealed text,
  -- kycMachine of packages/protocol.
  kyc_status text NOT NULL CHECK (kyc_status IN ('VERIFIED', 'REJECTED', 'UNDER_REVIEW', 'IN_PROGRESS',
    'PENDING_DOCUMENTS', 'VERIFICATION_REJECTED', 'NOT_INITIATED')),
  kyc_updated_at timestamptz NOT NULL,
  rejection_reasons jsonb NOT NULL DEFAULT '[]',
  erased_at timestamptz,
  created_at timestamptz NOT NULL,
  CONSTRAINT users_email_once UNIQUE (partner_id, email_index),
  CONSTRAINT users_key_until_erased CHECK (erased_at IS NULL OR (data_key_sealed IS NULL AND profile_sealed IS NULL))
);
COMMENT ON TABLE users IS 'Customers of partners.';
COMMENT ON COLUMN users.reference_id IS 'The name that the partner gave the customer.';
COMMENT ON COLUMN users.email_index IS 'Keyed hash: equal addresses are found without being readable.';
COMMENT ON COLUMN users.data_key_sealed IS 'Null once the person is erased.';
CREATE INDEX users_by_partner ON users (partner_id, created_at DESC, user_id DESC);
CREATE INDEX users_by_reference ON users (partner_id, reference_id) WHERE reference_id IS NOT NULL;
CREATE INDEX users_under_review ON users (kyc_updated_at, user_id) WHERE kyc_status = 'UNDER_REVIEW';
CALL own_by_partner('users', 'SELECT, INSERT, UPDATE');

CREATE TABLE kyc_profiles (
  user_id uuid PRIMARY KEY REFERENCES users,
  partner_id uuid NOT NULL REFERENCES partners,
  fields_sealed text NOT NULL,
  updated_at timestamptz NOT NULL
);
COMMENT ON TABLE kyc_profiles IS 'What submissions and patches said about a customer, as one encrypted record.';
CALL own_by_partner('kyc_profiles', 'SELECT, INSERT, UPDATE');

CREATE TABLE kyc_submissions (
  submission_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  position bigint GENERATED ALWAYS AS IDENTITY,
  method text NOT NULL CHECK (method IN ('direct_data', 'hosted_link')),
  required_documents text[] NOT NULL,
  link_hash text UNIQUE CHECK (link_hash ~ '^[0-9a-f]{64}$'),
  provider_reference text CHECK (length(provider_reference) <= 400),
  verdict_event text CHECK (length(verdict_event) <= 400),
  verdict_decided_ms bigint,
  created_at timestamptz NOT NULL,
  CHECK ((verdict_event IS NULL) = (verdict_decided_ms IS NULL))
);
COMMENT ON TABLE kyc_submissions IS 'Attempts to verify a customer; the latest counts.';
COMMENT ON COLUMN kyc_submissions.link_hash IS 'The hosted link is shown once; only its hash is kept.';
COMMENT ON COLUMN kyc_submissions.provider_reference IS 'The provider''s id of the verification, once it was started.';
COMMENT ON COLUMN kyc_submissions.verdict_event IS
  'The last verdict that was taken: providers repeat messages and deliver them out of order.';
CREATE INDEX kyc_submissions_by_user ON kyc_submissions (user_id, position DESC);
CALL own_by_partner('kyc_submissions', 'SELECT, INSERT, UPDATE');

CREATE TABLE kyc_documents (
  document_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  submission_id uuid NOT NULL REFERENCES kyc_submissions,
  document_type text NOT NULL CHECK (document_type IN ('ID_FRONT', 'ID_BACK', 'SELFIE', 'PROOF_OF_ADDRESS')),
  content_type text NOT NULL CHECK (content_type IN ('image/jpeg', 'image/png', 'image/webp', 'application/pdf')),
  size_bytes integer NOT NULL CHECK (size_bytes > 0),
  waiting bytea STORAGE EXTERNAL,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE kyc_documents IS 'Uploaded documents. Their content is in the document store, encrypted.';
COMMENT ON COLUMN kyc_documents.waiting IS 'The encrypted content until a worker has written it to the document store.';
CREATE INDEX kyc_documents_by_submission ON kyc_documents (submission_id, created_at);
CREATE INDEX kyc_documents_by_user ON kyc_documents (user_id);
CALL own_by_partner('kyc_documents', 'SELECT, INSERT, UPDATE');

CREATE TABLE payment_details (
  payment_details_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  seal_id uuid NOT NULL UNIQUE,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  rail text NOT NULL CHECK (length(rail) BETWEEN 1 AND 100),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  country_code text NOT NULL CHECK (country_code ~ '^[A-Z]{2}$'),
  institution_id text CHECK (length(institution_id) BETWEEN 1 AND 100),
  format_id text,
  beneficiary_type text NOT NULL CHECK (beneficiary_type IN ('individual', 'business')),
  details_sealed text NOT NULL,
  validated boolean NOT NULL,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE payment_details IS
  'Bank accounts of customers, where their own money comes from or goes to. Append-only.';
COMMENT ON COLUMN payment_details.payment_details_id IS
  'A number, as the contract has it. It can be guessed, so every query also names the customer.';
COMMENT ON COLUMN payment_details.seal_id IS
  'What the encryption is bound to: the number is not known before the row is written.';
COMMENT ON COLUMN payment_details.format_id IS 'Which of the formats of the rail the details have.';
COMMENT ON COLUMN payment_details.validated IS 'False where the validation service was down when they came in.';
CREATE INDEX payment_details_by_user ON payment_details (user_id, payment_details_id DESC);
CALL own_by_partner('payment_details', 'SELECT, INSERT');
CREATE TRIGGER payment_details_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_details
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE recipients (
  recipient_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  recipient_kind text NOT NULL CHECK (recipient_kind IN ('individual', 'business')),
  -- recipientMachine and screeningMachine of packages/protocol.
  status text NOT NULL CHECK (status IN ('active', 'archived')),
  screening_status text NOT NULL CHECK (screening_status IN ('pending', 'clear', 'review', 'blocked')),
  screening_round integer NOT NULL,
  current_version integer NOT NULL CHECK (current_version > 0),
  recipient_country text NOT NULL CHECK (recipient_country ~ '^[A-Z]{2}$'),
  data_key_sealed text,
  erased_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK (erased_at IS NULL OR data_key_sealed IS NULL)
);
COMMENT ON TABLE recipients IS
  'Third parties that customers pay. What is known about one is kept as versions; a quote or an order names the version it '
  'was made with.';
COMMENT ON COLUMN recipients.screening_round IS
  'Counts the screenings that were asked for: a late result of an earlier one is ignored.';
COMMENT ON COLUMN recipients.recipient_country IS 'Of the current version, for filters.';
COMMENT ON COLUMN recipients.data_key_sealed IS 'Null once the person is erased.';
CREATE INDEX recipients_by_partner ON recipients (partner_id, created_at DESC, recipient_id DESC)
  WHERE status = 'active';
CREATE INDEX recipients_to_review ON recipients (updated_at, recipient_id) WHERE screening_status IN ('review', 'pending');
CALL own_by_partner('recipients', 'SELECT, INSERT, UPDATE');

CREATE TABLE recipient_versions (
  recipient_id uuid NOT NULL REFERENCES recipients,
  version integer NOT NULL CHECK (version > 0),
  partner_id uuid NOT NULL REFERENCES partners,
  recipient_country text NOT NULL,
  recipient_id_type text,
  fields_sealed text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (recipient_id, version)
);
COMMENT ON TABLE recipient_versions IS 'Names and identifiers of a recipient, one row a change. Append-only.';
CALL own_by_partner('recipient_versions', 'SELECT, INSERT');
CREATE TRIGGER recipient_versions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON recipient_versions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE recipient_destinations (
  recipient_destination_id uuid NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  partner_id uuid NOT NULL REFERENCES partners,
  recipient_id uuid NOT NULL REFERENCES recipients,
  rail text NOT NULL,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  country_code text NOT NULL CHECK (country_code ~ '^[A-Z]{2}$'),
  institution_id text,
  format_id text,
  beneficiary_type text NOT NULL CHECK (beneficiary_type IN ('individual', 'business')),
  details_sealed text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (recipient_destination_id, version)
);
COMMENT ON TABLE recipient_destinations IS 'Bank accounts of a recipient, one row a change. Append-only.';
CREATE INDEX recipient_destinations_by_recipient ON recipient_destinations (recipient_id, created_at);
CALL own_by_partner('recipient_destinations', 'SELECT, INSERT');
CREATE TRIGGER recipient_destinations_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON recipient_destinations
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE recipient_tokens (
  partner_id uuid NOT NULL REFERENCES partners,
  token text NOT NULL,
  recipient_id uuid NOT NULL REFERENCES recipients,
  source text NOT NULL CHECK (source IN ('name', 'identifier', 'destination')),
  PRIMARY KEY (partner_id, token, recipient_id, source)
);
COMMENT ON TABLE recipient_tokens IS
  'Keyed hashes by which a recipient is found. A table and not an array: under row-level security an index is used only '
  'for leakproof operators, and equality is one.';
CREATE INDEX recipient_tokens_by_recipient ON recipient_tokens (recipient_id, source);
CALL own_by_partner('recipient_tokens', 'SELECT, INSERT, DELETE');

CREATE TABLE recipient_screenings (
  recipient_id uuid NOT NULL REFERENCES recipients,
  screening_round integer NOT NULL,
  partner_id uuid NOT NULL REFERENCES partners,
  result text NOT NULL CHECK (result IN ('clear', 'review', 'blocked')),
  list_version text NOT NULL CHECK (length(list_version) <= 200),
  hits_sealed text NOT NULL,
  screened_at timestamptz NOT NULL,
  PRIMARY KEY (recipient_id, screening_round)
);
COMMENT ON TABLE recipient_screenings IS 'What a screening of a recipient found, for the reviewer.';
COMMENT ON COLUMN recipient_screenings.hits_sealed IS 'Encrypted: hits say whom the recipient resembles.';
CALL own_by_system('recipient_screenings');

CREATE TABLE screening_cases (
  case_id uuid PRIMARY KEY,
  partner_id uuid REFERENCES partners,
  subject_kind text NOT NULL CHECK (subject_kind IN ('destination', 'payment_details', 'wallet')),
  subject_key text NOT NULL CHECK (length(subject_key) BETWEEN 1 AND 80),
  -- screeningMachine of packages/protocol.
  screening_status text NOT NULL CHECK (screening_status IN ('pending', 'clear', 'review', 'blocked')),
  screening_round integer NOT NULL,
  decided_by_person boolean NOT NULL DEFAULT false,
  list_version text CHECK (length(list_version) <= 200),
  hits_sealed text,
  listed text[] NOT NULL DEFAULT '{}',
  screened_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (subject_kind, subject_key),
  CHECK ((subject_kind = 'wallet') = (partner_id IS NULL))
);
COMMENT ON TABLE screening_cases IS
  'Account holders that a bank will read and wallets that money goes to or comes from (decision 0027). The name of a '
  'recipient is screened with the recipient.';
COMMENT ON COLUMN screening_cases.partner_id IS 'Null for a wallet, which is the same for every partner.';
COMMENT ON COLUMN screening_cases.subject_key IS
  'The id of the destination or of the payment details, or the address in lower case.';
COMMENT ON COLUMN screening_cases.screening_round IS
  'Counts the screenings that were asked for: a late result of an earlier one is ignored.';
COMMENT ON COLUMN screening_cases.hits_sealed IS 'Whom a holder resembles, encrypted with the key of the person.';
COMMENT ON COLUMN screening_cases.listed IS 'What lists say about a wallet, which is public.';
-- Read with every order, and nearly empty.
CREATE INDEX screening_cases_not_clear ON screening_cases (subject_key, subject_kind) WHERE screening_status <> 'clear';
CREATE INDEX screening_cases_by_age ON screening_cases (updated_at, case_id) WHERE screening_status <> 'clear';
CALL own_by_partner('screening_cases', 'SELECT, INSERT');
-- Whether a wallet is clear is also asked in transactions of partners.
CREATE POLICY wallet_rows ON screening_cases FOR SELECT TO causeway_partner USING (subject_kind = 'wallet');
