-- What vendors say about orders: why they left one to others, and their side of a dispute.

CREATE TABLE dispute_statements (
  statement_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  order_id uuid NOT NULL REFERENCES orders,
  vendor_id uuid NOT NULL REFERENCES vendors,
  proof_id uuid REFERENCES payment_proofs ON DELETE SET NULL,
  text_sealed text NOT NULL,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE dispute_statements IS
  'What a vendor says in a dispute, for the operator who decides it. The words may name a person, so they are encrypted, and '
  'erasing the person deletes them.';
COMMENT ON COLUMN dispute_statements.proof_id IS 'The proof of payment that the vendor refers to.';
CREATE INDEX dispute_statements_by_order ON dispute_statements (order_id, created_at);
CREATE INDEX dispute_statements_by_proof ON dispute_statements (proof_id) WHERE proof_id IS NOT NULL;
CALL own_by_partner('dispute_statements', 'SELECT');
CALL serve_customer('dispute_statements', 'false');
CALL serve_vendor('dispute_statements', 'SELECT, INSERT', 'vendor_id = current_vendor_id()');

CREATE TABLE order_declines (
  decline_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  order_id uuid NOT NULL REFERENCES orders,
  vendor_id uuid NOT NULL REFERENCES vendors,
  reason text NOT NULL CHECK (length(reason) <= 40),
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE order_declines IS 'Why vendors left orders to others, where they said so.';
CREATE INDEX order_declines_by_order ON order_declines (order_id, created_at);
CALL own_by_partner('order_declines', 'SELECT');
CALL serve_customer('order_declines', 'false');
CALL serve_vendor('order_declines', 'SELECT, INSERT', 'vendor_id = current_vendor_id()');
