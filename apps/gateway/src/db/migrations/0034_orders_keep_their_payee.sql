-- Whom an order pays was fixed by its quote. Nothing that is written later of the customer or the recipient reaches it, and
-- no statement of ours may either. The fields are looked up when it runs: later migrations add the columns.
CREATE FUNCTION refuse_other_payee() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.user_id, NEW.payment_details_id, NEW.recipient_id, NEW.recipient_context_sealed)
     IS DISTINCT FROM (OLD.user_id, OLD.payment_details_id, OLD.recipient_id, OLD.recipient_context_sealed) THEN
    RAISE EXCEPTION 'order % keeps the payee it was quoted with', OLD.order_id;
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER orders_keep_their_payee BEFORE UPDATE ON orders
  FOR EACH ROW EXECUTE FUNCTION refuse_other_payee();
