-- Whom an off-ramp quote pays: the customer's own payment details, or a third party exactly as it was at that moment. A
-- later version of the recipient or the destination changes nothing here.
ALTER TABLE quotes
  ADD COLUMN payment_details_id bigint REFERENCES payment_details,
  ADD COLUMN recipient_id uuid REFERENCES recipients,
  ADD COLUMN recipient_version integer,
  ADD COLUMN recipient_destination_id uuid,
  ADD COLUMN recipient_destination_version integer,
  -- What the partner reads on the order, sealed with the recipient's own key.
  ADD COLUMN recipient_context_sealed text,
  ADD COLUMN sender_recipient_relationship text,
  ADD COLUMN purpose_of_payment text,
  ADD CHECK (payment_details_id IS NULL OR recipient_id IS NULL),
  ADD CHECK (num_nonnulls(recipient_id, recipient_version, recipient_destination_id, recipient_destination_version,
                          recipient_context_sealed) IN (0, 5));

-- A quote is firm: who serves it may change, what it says may not.
CREATE TRIGGER quotes_say_the_same BEFORE UPDATE ON quotes FOR EACH ROW
  WHEN (to_jsonb(NEW) - '{status,vendor_id,serving_offer_id}'::text[]
        IS DISTINCT FROM to_jsonb(OLD) - '{status,vendor_id,serving_offer_id}'::text[])
  EXECUTE FUNCTION refuse_change();
