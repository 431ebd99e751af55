-- Names that a bank will read and wallets that money goes to or comes from, each screened once and whenever it is asked
-- again. A recipient's own name is screened with the recipient (0032).
CREATE TABLE screening_cases (
  case_id uuid PRIMARY KEY,
  -- Whose name it is about; null for a wallet, which is the same for everybody.
  partner_id uuid REFERENCES partners,
  subject_kind text NOT NULL CHECK (subject_kind IN ('destination', 'payment_details', 'wallet')),
  -- The id of the destination or of the payment details, or the address in lower case.
  subject_key text NOT NULL CHECK (length(subject_key) BETWEEN 1 AND 80),
  screening_status text NOT NULL CHECK (screening_status IN ('pending', 'clear', 'review', 'blocked')),
  -- Counts how often a screening was asked for: a late result of an earlier one is no news.
  screening_round integer NOT NULL,
  decided_by_person boolean NOT NULL DEFAULT false,
  list_version text CHECK (length(list_version) <= 200),
  -- Whom a holder resembles, sealed with the person's own key; what a list says of a wallet is public.
  hits_sealed text,
  listed text[] NOT NULL DEFAULT '{}',
  screened_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (subject_kind, subject_key),
  CHECK ((subject_kind = 'wallet') = (partner_id IS NULL))
);
-- Read with every order, and nearly empty.
CREATE INDEX screening_cases_not_clear ON screening_cases (subject_key, subject_kind) WHERE screening_status <> 'clear';
CREATE INDEX screening_cases_by_age ON screening_cases (updated_at, case_id) WHERE screening_status <> 'clear';
CALL own_by_partner('screening_cases', 'SELECT, INSERT');
-- Whether a wallet is clear is asked in a partner's own transactions, too.
CREATE POLICY wallet_rows ON screening_cases FOR SELECT TO causeway_partner USING (subject_kind = 'wallet');

-- Orders with money in escrow, whoever they belong to: those that a lost screening holds.
CREATE INDEX orders_with_funded_escrow ON orders (order_id) WHERE facts ->> 'escrow' = 'funded';

-- What is here already was never screened: it waits for the worker, and nothing is paid to it before.
INSERT INTO screening_cases (case_id, partner_id, subject_kind, subject_key, screening_status, screening_round,
  created_at, updated_at)
SELECT gen_random_uuid(), partner_id, 'destination', recipient_destination_id::text, 'pending', 1, created_at, created_at
  FROM recipient_destinations
UNION ALL
SELECT gen_random_uuid(), partner_id, 'payment_details', payment_details_id::text, 'pending', 1, created_at, created_at
  FROM payment_details
UNION ALL
SELECT gen_random_uuid(), NULL, 'wallet', address, 'pending', 1, min(created_at), min(created_at)
  FROM (SELECT lower(wallet_address) AS address, created_at FROM partners
        UNION ALL SELECT lower(wallet_address), created_at FROM vendors) wallets
 GROUP BY address;
INSERT INTO intents (intent_id, partner_id, kind, dedupe_key, payload, run_at, created_at)
SELECT gen_random_uuid(), partner_id, 'screening.screen', case_id || ':1',
       jsonb_build_object('case_id', case_id, 'round', 1), created_at, created_at
  FROM screening_cases;
