-- Accounts that a bank opens for customers of partners, and what is paid into them (decision 0019).

CREATE TABLE fiat_clients (
  user_id uuid PRIMARY KEY REFERENCES users,
  partner_id uuid NOT NULL REFERENCES partners,
  round integer NOT NULL CHECK (round > 0),
  status text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected')),
  rejection_reasons jsonb NOT NULL DEFAULT '[]',
  fields_sealed text NOT NULL,
  bank_reference text CHECK (length(bank_reference) BETWEEN 1 AND 300),
  submitted_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
COMMENT ON TABLE fiat_clients IS 'Customers as the bank knows them.';
COMMENT ON COLUMN fiat_clients.round IS
  'Counts the submissions: a rejected customer may be submitted again, and a late answer to an earlier one is ignored.';
COMMENT ON COLUMN fiat_clients.fields_sealed IS 'What was sent to the bank, encrypted with the key of the customer.';
COMMENT ON COLUMN fiat_clients.bank_reference IS 'The bank''s id of the customer; in no response.';
CALL own_by_partner('fiat_clients', 'SELECT, INSERT, UPDATE');

CREATE TABLE fiat_accounts (
  account_number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  seal_id uuid NOT NULL UNIQUE,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  currency_decimals smallint NOT NULL CHECK (currency_decimals BETWEEN 0 AND 6),
  jurisdiction text NOT NULL CHECK (jurisdiction ~ '^[A-Z]{2}$'),
  status text NOT NULL CHECK (status IN ('provisioning', 'active', 'failed')),
  bank_unavailable boolean NOT NULL DEFAULT false,
  details_sealed text,
  bank_name text CHECK (length(bank_name) <= 200),
  bic text CHECK (bic ~ '^[A-Z0-9]{8}([A-Z0-9]{3})?$'),
  bank_reference text UNIQUE CHECK (length(bank_reference) BETWEEN 1 AND 300),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT fiat_accounts_once UNIQUE (user_id, currency, jurisdiction),
  CHECK (status <> 'active' OR num_nulls(details_sealed, bank_name, bic, bank_reference) = 0)
);
COMMENT ON TABLE fiat_accounts IS 'Accounts of customers, one a currency and jurisdiction.';
COMMENT ON COLUMN fiat_accounts.seal_id IS
  'What the encryption is bound to, and the idempotency key of the opening at the bank: the number is not known before.';
COMMENT ON COLUMN fiat_accounts.bank_unavailable IS 'The bank did not answer when it was last asked; it is asked again.';
COMMENT ON COLUMN fiat_accounts.details_sealed IS
  '{ iban, account_holder_name }, encrypted with the key of the customer.';
CALL own_by_partner('fiat_accounts', 'SELECT, INSERT, UPDATE');

CREATE TABLE fiat_payments (
  payment_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  account_number bigint NOT NULL REFERENCES fiat_accounts,
  bank_transaction_id text NOT NULL CONSTRAINT fiat_payments_once UNIQUE
    CHECK (length(bank_transaction_id) BETWEEN 1 AND 200),
  currency text NOT NULL,
  currency_decimals smallint NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  status text NOT NULL CHECK (status IN ('received', 'matched', 'held_for_review', 'collected')),
  order_id uuid UNIQUE REFERENCES orders,
  candidate_order_ids uuid[] NOT NULL DEFAULT '{}',
  held_order_ids uuid[] NOT NULL DEFAULT '{}',
  settlement_id uuid UNIQUE,
  details_sealed text,
  received_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK ((status = 'matched') = (order_id IS NOT NULL)),
  CHECK (status <> 'collected' OR settlement_id IS NOT NULL),
  CHECK (order_id IS NULL OR settlement_id IS NULL)
);
COMMENT ON TABLE fiat_payments IS 'Transfers into fiat accounts.';
COMMENT ON COLUMN fiat_payments.bank_transaction_id IS 'Unique: a transfer counts once, however often the bank reports it.';
COMMENT ON COLUMN fiat_payments.order_id IS 'The order that it pays; one payment an order.';
COMMENT ON COLUMN fiat_payments.candidate_order_ids IS 'Orders that it could pay, where a person has to decide.';
COMMENT ON COLUMN fiat_payments.held_order_ids IS
  'Those of them that it put on hold itself, and that its decision lets go on.';
COMMENT ON COLUMN fiat_payments.settlement_id IS
  'Set when its collection is decided: what is on its way to the partner pays no order.';
COMMENT ON COLUMN fiat_payments.details_sealed IS
  '{ sender_name, reference }, encrypted with the key of the customer; null where the customer was erased before it came.';
CREATE INDEX fiat_payments_by_account ON fiat_payments (account_number, received_at DESC, payment_id DESC);
CREATE INDEX fiat_payments_to_review ON fiat_payments (received_at, payment_id) WHERE status = 'held_for_review';
CALL own_by_partner('fiat_payments', 'SELECT, INSERT, UPDATE');
