-- Third parties that are paid. What is said of one is written as versions that nobody changes; a quote or an order
-- names the version it was made with. Personal values are sealed with the recipient's own data key.
CREATE TABLE recipients (
  recipient_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  recipient_kind text NOT NULL CHECK (recipient_kind IN ('individual', 'business')),
  status text NOT NULL CHECK (status IN ('active', 'archived')),
  screening_status text NOT NULL CHECK (screening_status IN ('pending', 'clear', 'review', 'blocked')),
  -- Counts how often a screening was asked for: a late result of an earlier one is no news.
  screening_round integer NOT NULL,
  current_version integer NOT NULL CHECK (current_version > 0),
  -- Of the current version, for filters.
  recipient_country text NOT NULL CHECK (recipient_country ~ '^[A-Z]{2}$'),
  -- Null once the person is forgotten.
  data_key_sealed text,
  erased_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK (erased_at IS NULL OR data_key_sealed IS NULL)
);
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
  -- Names and identifiers.
  fields_sealed text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (recipient_id, version)
);
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
CREATE INDEX recipient_destinations_by_recipient ON recipient_destinations (recipient_id, created_at);
CALL own_by_partner('recipient_destinations', 'SELECT, INSERT');
CREATE TRIGGER recipient_destinations_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON recipient_destinations
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Keyed hashes by which a recipient is found. A table and not an array: under row-level security an index is used
-- only for operators that cannot leak, and equality is one of them.
CREATE TABLE recipient_tokens (
  partner_id uuid NOT NULL REFERENCES partners,
  token text NOT NULL,
  recipient_id uuid NOT NULL REFERENCES recipients,
  source text NOT NULL CHECK (source IN ('name', 'identifier', 'destination')),
  PRIMARY KEY (partner_id, token, recipient_id, source)
);
CREATE INDEX recipient_tokens_by_recipient ON recipient_tokens (recipient_id, source);
CALL own_by_partner('recipient_tokens', 'SELECT, INSERT, DELETE');

-- What a screening found, for the reviewer; hits are sealed, for they say whom somebody resembles.
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
CALL own_by_system('recipient_screenings');
