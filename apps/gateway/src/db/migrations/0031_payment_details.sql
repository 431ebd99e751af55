-- Where a customer's own money comes from or goes to. The number is the contract's and can be guessed: every query
-- names the customer as well.
CREATE TABLE payment_details (
  payment_details_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- What the sealed details are bound to; the number is not known before the row is written.
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
  -- False where the validation was down when they came in.
  validated boolean NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX payment_details_by_user ON payment_details (user_id, payment_details_id DESC);
CALL own_by_partner('payment_details', 'SELECT, INSERT');
CREATE TRIGGER payment_details_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_details
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
