-- An escrow is owned by the vendor it was planned for. An order that passes to another vendor has none, and no signatures of one:
-- they would go into its payouts and make them fail. A trigger, so that no way of changing the vendor leaves it out, and
-- processes of the release before do it too.
CREATE FUNCTION drop_escrow_of_former_vendor() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  -- Once it is watched, crypto may be on its way to it.
  IF NEW.facts ->> 'escrow' = 'none' AND NOT EXISTS (SELECT FROM escrow_watches w WHERE w.order_id = NEW.order_id) THEN
    NEW.escrow := NULL;
    DELETE FROM escrow_signatures s WHERE s.order_id = NEW.order_id;
  END IF;
  RETURN NEW;
END $$;
GRANT CREATE ON SCHEMA public TO causeway_system;
ALTER FUNCTION drop_escrow_of_former_vendor() OWNER TO causeway_system;
REVOKE CREATE ON SCHEMA public FROM causeway_system;
REVOKE ALL ON FUNCTION drop_escrow_of_former_vendor() FROM PUBLIC;
CREATE TRIGGER orders_drop_escrow BEFORE UPDATE OF vendor_id ON orders FOR EACH ROW
  WHEN (OLD.vendor_id IS DISTINCT FROM NEW.vendor_id) EXECUTE FUNCTION drop_escrow_of_former_vendor();

-- Orders that wait with the escrow of a vendor that was only asked. The system's role: row security binds the owner too.
SET LOCAL ROLE causeway_system;
WITH cleared AS (
  UPDATE orders o SET escrow = NULL
   WHERE status = 'awaiting_liquidity_provider' AND escrow IS NOT NULL AND facts ->> 'escrow' = 'none'
     AND NOT EXISTS (SELECT FROM escrow_watches w WHERE w.order_id = o.order_id)
  RETURNING order_id)
DELETE FROM escrow_signatures s USING cleared WHERE s.order_id = cleared.order_id;
RESET ROLE;

COMMENT ON COLUMN orders.escrow IS
  '{ address, service, seller, buyer, treasury }, and partner where that is none of them: fixed when a vendor accepts, or serves '
  'the order as quoted, also where wallets or the treasury change later.';
