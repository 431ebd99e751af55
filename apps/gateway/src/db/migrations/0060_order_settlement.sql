-- What an order needs beyond its figures to be settled: who is paid and by whom, what vendors prove, where crypto is sent on.
ALTER TABLE orders
  -- Counts every change, those of facts alone included; part of the key of each effect that a change starts.
  ADD COLUMN revision integer NOT NULL DEFAULT 0,
  -- Off-ramp: the customer's own payment profile, or a third party as it was when the quote was made.
  ADD COLUMN payment_details_id bigint,
  ADD COLUMN recipient_id uuid REFERENCES recipients,
  -- Sealed with the recipient's data key: forgetting the person forgets it here too.
  ADD COLUMN recipient_context_sealed text,
  -- Of the vendor that serves it: p2p or direct.
  ADD COLUMN provider text NOT NULL DEFAULT 'p2p' CHECK (provider IN ('p2p', 'direct')),
  -- On-ramp: where the end user sends fiat, and who sends it where the vendor asks for the payment.
  ADD COLUMN vendor_payment_details_sealed text,
  ADD COLUMN payer_details_sealed text,
  ADD COLUMN send_out_tx_hash text CHECK (send_out_tx_hash ~ '^0x[0-9a-f]{64}$'),
  ADD COLUMN stop_reason text CHECK (length(stop_reason) <= 500),
  ADD CONSTRAINT orders_one_payee CHECK (payment_details_id IS NULL OR recipient_id IS NULL),
  ADD CONSTRAINT orders_recipient_snapshot CHECK ((recipient_id IS NULL) = (recipient_context_sealed IS NULL));

-- A payment to a third party opens a case for compliance, in the transaction that creates the order, and it stays.
CREATE TABLE compliance_cases (
  case_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  order_id uuid NOT NULL UNIQUE REFERENCES orders,
  sender_id uuid NOT NULL REFERENCES users,
  recipient_id uuid NOT NULL REFERENCES recipients,
  relationship text,
  purpose text,
  created_at timestamptz NOT NULL
);
CALL own_by_partner('compliance_cases', 'SELECT, INSERT');
CREATE TRIGGER compliance_cases_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON compliance_cases
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- What buyers say they have paid, and what a reviewer made of it.
CREATE TABLE payment_proofs (
  proof_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  order_id uuid NOT NULL REFERENCES orders,
  vendor_id uuid NOT NULL REFERENCES vendors,
  -- { reference, content_type, content }: a bank's slip names people.
  proof_sealed text NOT NULL,
  verdict text CHECK (verdict IN ('accepted', 'rejected')),
  reviewed_at timestamptz,
  submitted_at timestamptz NOT NULL,
  CHECK ((verdict IS NULL) = (reviewed_at IS NULL))
);
CREATE INDEX payment_proofs_by_order ON payment_proofs (order_id, submitted_at);
CREATE INDEX payment_proofs_to_review ON payment_proofs (submitted_at) WHERE verdict IS NULL;
-- A sandbox event decides on a proof in its partner's scope.
CALL own_by_partner('payment_proofs', 'SELECT, UPDATE');
