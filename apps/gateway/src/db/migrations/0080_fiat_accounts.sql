-- Accounts that a bank opens for a partner's customers, and what is paid into them.
ALTER TABLE partners ADD COLUMN collection_enabled boolean NOT NULL DEFAULT false;

-- A customer as the bank knows it. What was sent there is sealed with the person's own key.
CREATE TABLE fiat_clients (
  user_id uuid PRIMARY KEY REFERENCES users,
  partner_id uuid NOT NULL REFERENCES partners,
  -- Counts the submissions: a rejected customer may be sent again, and a late answer to an earlier one is no news.
  round integer NOT NULL CHECK (round > 0),
  status text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected')),
  rejection_reasons jsonb NOT NULL DEFAULT '[]',
  fields_sealed text NOT NULL,
  -- The bank's own name for the customer; never answered to anybody.
  bank_reference text CHECK (length(bank_reference) BETWEEN 1 AND 300),
  submitted_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CALL own_by_partner('fiat_clients', 'SELECT, INSERT, UPDATE');

CREATE TABLE fiat_accounts (
  account_number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- What the sealed details are bound to, and the key of the opening at the bank: the number is not known before.
  seal_id uuid NOT NULL UNIQUE,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  currency_decimals smallint NOT NULL CHECK (currency_decimals BETWEEN 0 AND 6),
  jurisdiction text NOT NULL CHECK (jurisdiction ~ '^[A-Z]{2}$'),
  status text NOT NULL CHECK (status IN ('provisioning', 'active', 'failed')),
  -- The bank did not answer when it was last asked; it is asked again.
  bank_unavailable boolean NOT NULL DEFAULT false,
  -- { iban, account_holder_name }, with the person's own key.
  details_sealed text,
  bank_name text CHECK (length(bank_name) <= 200),
  bic text CHECK (bic ~ '^[A-Z0-9]{8}([A-Z0-9]{3})?$'),
  bank_reference text UNIQUE CHECK (length(bank_reference) BETWEEN 1 AND 300),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT fiat_accounts_once UNIQUE (user_id, currency, jurisdiction),
  CHECK (status <> 'active' OR num_nulls(details_sealed, bank_name, bic, bank_reference) = 0)
);
CALL own_by_partner('fiat_accounts', 'SELECT, INSERT, UPDATE');

CREATE TABLE fiat_payments (
  payment_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  user_id uuid NOT NULL REFERENCES users,
  account_number bigint NOT NULL REFERENCES fiat_accounts,
  -- However often the bank reports it, a transfer is taken once.
  bank_transaction_id text NOT NULL CONSTRAINT fiat_payments_once UNIQUE
    CHECK (length(bank_transaction_id) BETWEEN 1 AND 200),
  currency text NOT NULL,
  currency_decimals smallint NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  status text NOT NULL CHECK (status IN ('received', 'matched', 'held_for_review', 'collected')),
  -- The order that it pays; one payment an order.
  order_id uuid UNIQUE REFERENCES orders,
  -- Which orders it could pay, where a person has to say.
  candidate_order_ids uuid[] NOT NULL DEFAULT '{}',
  -- Those of them that it put on hold itself: once it is decided nothing else keeps them waiting.
  held_order_ids uuid[] NOT NULL DEFAULT '{}',
  -- Set as soon as its collection is decided: what is on its way to the partner pays no order.
  settlement_id uuid UNIQUE,
  -- { sender_name, reference }, with the customer's own key; null where the customer was forgotten before it came.
  details_sealed text,
  received_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK ((status = 'matched') = (order_id IS NOT NULL)),
  CHECK (status <> 'collected' OR settlement_id IS NOT NULL),
  CHECK (order_id IS NULL OR settlement_id IS NULL)
);
CREATE INDEX fiat_payments_by_account ON fiat_payments (account_number, received_at DESC, payment_id DESC);
CREATE INDEX fiat_payments_to_review ON fiat_payments (received_at, payment_id) WHERE status = 'held_for_review';
CALL own_by_partner('fiat_payments', 'SELECT, INSERT, UPDATE');
