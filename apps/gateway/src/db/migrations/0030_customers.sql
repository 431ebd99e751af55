-- Customers' personal data. Every customer and every recipient has a data key of its own, wrapped by the deployment's
-- master key; what is personal is sealed with the data key. Rotating the master key rewraps the data keys, and
-- forgetting a person is forgetting the key: the rows that the books refer to stay, unreadable.
ALTER TABLE users
  DROP COLUMN email_sealed,
  -- Null once the person is forgotten.
  ADD COLUMN data_key_sealed text,
  ADD COLUMN profile_sealed text,
  ADD COLUMN erased_at timestamptz,
  ADD CONSTRAINT users_key_until_erased CHECK (erased_at IS NULL OR (data_key_sealed IS NULL AND profile_sealed IS NULL));
CREATE INDEX users_by_partner ON users (partner_id, created_at DESC, user_id DESC);
CREATE INDEX users_by_reference ON users (partner_id, reference_id) WHERE reference_id IS NOT NULL;
CREATE INDEX users_under_review ON users (kyc_updated_at, user_id) WHERE kyc_status = 'UNDER_REVIEW';

-- What is known of a customer, from submissions and patches: one sealed record.
CREATE TABLE kyc_profiles (
  user_id uuid PRIMARY KEY REFERENCES users,
  partner_id uuid NOT NULL REFERENCES partners,
  fields_sealed text NOT NULL,
  updated_at timestamptz NOT NULL
);
CALL own_by_partner('kyc_profiles', 'SELECT, INSERT, UPDATE');

CREATE TABLE kyc_submissions (
  submission_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  position bigint GENERATED ALWAYS AS IDENTITY,
  method text NOT NULL CHECK (method IN ('direct_data', 'hosted_link')),
  required_documents text[] NOT NULL,
  -- The link itself is shown once; only its hash is kept.
  link_hash text UNIQUE CHECK (link_hash ~ '^[0-9a-f]{64}$'),
  -- The provider's own name for the verification, once it was started.
  provider_reference text CHECK (length(provider_reference) <= 400),
  -- The last verdict that was taken: a provider repeats itself, and its messages overtake one another.
  verdict_event text CHECK (length(verdict_event) <= 400),
  verdict_decided_ms bigint,
  created_at timestamptz NOT NULL,
  CHECK ((verdict_event IS NULL) = (verdict_decided_ms IS NULL))
);
CREATE INDEX kyc_submissions_by_user ON kyc_submissions (user_id, position DESC);
CALL own_by_partner('kyc_submissions', 'SELECT, INSERT, UPDATE');

-- The content is in the document store, sealed; it waits here, sealed as well, until a worker has put it there.
CREATE TABLE kyc_documents (
  document_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  submission_id uuid NOT NULL REFERENCES kyc_submissions,
  document_type text NOT NULL CHECK (document_type IN ('ID_FRONT', 'ID_BACK', 'SELFIE', 'PROOF_OF_ADDRESS')),
  content_type text NOT NULL CHECK (content_type IN ('image/jpeg', 'image/png', 'image/webp', 'application/pdf')),
  size_bytes integer NOT NULL CHECK (size_bytes > 0),
  waiting bytea,
  created_at timestamptz NOT NULL
);
ALTER TABLE kyc_documents ALTER COLUMN waiting SET STORAGE EXTERNAL;
CREATE INDEX kyc_documents_by_submission ON kyc_documents (submission_id, created_at);
CREATE INDEX kyc_documents_by_user ON kyc_documents (user_id);
CALL own_by_partner('kyc_documents', 'SELECT, INSERT, UPDATE');
