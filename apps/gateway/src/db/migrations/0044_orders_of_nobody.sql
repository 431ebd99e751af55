-- An off-ramp order that no vendor could serve when it was opened has none: the vendor of its quote saw it and could act on it,
-- although nothing of its crypto was reserved. A trigger, so that processes of the release before write none either.
CREATE FUNCTION drop_vendor_that_does_not_serve() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.vendor_id := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER orders_drop_vendor BEFORE INSERT ON orders FOR EACH ROW
  WHEN (NEW.vendor_id IS NOT NULL AND NEW.facts -> 'vendorAvailable' = 'false')
  EXECUTE FUNCTION drop_vendor_that_does_not_serve();

-- Orders that wait with the vendor of their quote; one that was found since has an offer that serves. Their vendors read that
-- the order is withdrawn. The system's role: row security binds the owner too.
SET LOCAL ROLE causeway_system;
UPDATE orders o SET vendor_id = NULL
 WHERE o.status = 'awaiting_liquidity_provider' AND o.vendor_id IS NOT NULL AND o.facts -> 'vendorAvailable' = 'false'
   AND EXISTS (SELECT FROM quotes q WHERE q.quote_id = o.quote_id AND q.serving_offer_id IS NULL);
RESET ROLE;

COMMENT ON COLUMN orders.vendor_id IS
  'Who serves the order or is asked to; null while nobody is, also where its quote names a vendor.';
