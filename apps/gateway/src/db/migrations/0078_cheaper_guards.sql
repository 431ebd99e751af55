-- The same guards as before, asked only when a statement names a guarded column. Comparing two whole rows as JSON at every
-- claim of a quote cost more than the claim.
DROP TRIGGER quotes_say_the_same ON quotes;
DO $$
DECLARE
  guarded text := (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
                    WHERE attrelid = 'quotes'::regclass AND attnum > 0 AND NOT attisdropped
                      AND attname NOT IN ('status', 'vendor_id', 'serving_offer_id'));
BEGIN
  EXECUTE format('CREATE TRIGGER quotes_say_the_same BEFORE UPDATE OF %s ON quotes
                    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', guarded);
END $$;

DROP TRIGGER orders_keep_their_payee ON orders;
CREATE TRIGGER orders_keep_their_payee
  BEFORE UPDATE OF user_id, payment_details_id, recipient_id, recipient_context_sealed ON orders
  FOR EACH ROW EXECUTE FUNCTION refuse_other_payee();
