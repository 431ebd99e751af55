-- What vendors are told of their orders: offered, changed, taken from them. Kept so that a vendor that was away can catch
-- up. Written by the database, so that no way of changing an order forgets its vendor, and numbered by the first reader, as
-- partners' events are (see 0070 on why not before).
CREATE TABLE vendor_events (
  vendor_id uuid NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  order_id uuid NOT NULL,
  event_type text NOT NULL CHECK (event_type IN ('order.offered', 'order.changed', 'order.withdrawn')),
  -- The order's, at that moment.
  status text NOT NULL,
  place bigint CHECK (place > 0),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (vendor_id, position)
);
CREATE UNIQUE INDEX vendor_events_in_order ON vendor_events (vendor_id, place) WHERE place IS NOT NULL;
CREATE INDEX vendor_events_unseen ON vendor_events (vendor_id, position) WHERE place IS NULL;
CREATE INDEX vendor_events_by_age ON vendor_events (created_at);
CALL own_by_system('vendor_events');

-- A partner's own transaction changes its orders and may not read or write what vendors are told, so the function writes
-- with the system's rights.
CREATE FUNCTION tell_vendor_of_new_orders() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO vendor_events (vendor_id, order_id, event_type, status, created_at)
    SELECT vendor_id, order_id, 'order.offered', status, created_at FROM written WHERE vendor_id IS NOT NULL;
  PERFORM pg_notify('vendor_events_written', vendor_id::text)
    FROM (SELECT DISTINCT vendor_id FROM written WHERE vendor_id IS NOT NULL) AS told;
  RETURN NULL;
END $$;

CREATE FUNCTION tell_vendor_of_change() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  is_new boolean := NEW.vendor_id IS DISTINCT FROM OLD.vendor_id;
  at timestamptz := greatest(NEW.updated_at, NEW.offered_at);
BEGIN
  IF is_new AND OLD.vendor_id IS NOT NULL THEN
    INSERT INTO vendor_events (vendor_id, order_id, event_type, status, created_at)
      VALUES (OLD.vendor_id, NEW.order_id, 'order.withdrawn', NEW.status, at);
    PERFORM pg_notify('vendor_events_written', OLD.vendor_id::text);
  END IF;
  IF NEW.vendor_id IS NOT NULL THEN
    INSERT INTO vendor_events (vendor_id, order_id, event_type, status, created_at)
      VALUES (NEW.vendor_id, NEW.order_id, CASE WHEN is_new THEN 'order.offered' ELSE 'order.changed' END, NEW.status, at);
    PERFORM pg_notify('vendor_events_written', NEW.vendor_id::text);
  END IF;
  RETURN NULL;
END $$;

GRANT CREATE ON SCHEMA public TO causeway_system;
ALTER FUNCTION tell_vendor_of_new_orders() OWNER TO causeway_system;
ALTER FUNCTION tell_vendor_of_change() OWNER TO causeway_system;
REVOKE CREATE ON SCHEMA public FROM causeway_system;

CREATE TRIGGER orders_told_to_vendors AFTER INSERT ON orders
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION tell_vendor_of_new_orders();
CREATE TRIGGER order_changes_told_to_vendors AFTER UPDATE ON orders FOR EACH ROW
  WHEN ((OLD.status, OLD.vendor_id, OLD.facts->'held', OLD.facts->'payerDetailsSubmitted', OLD.tx_hash)
        IS DISTINCT FROM (NEW.status, NEW.vendor_id, NEW.facts->'held', NEW.facts->'payerDetailsSubmitted', NEW.tx_hash))
  EXECUTE FUNCTION tell_vendor_of_change();
REVOKE ALL ON FUNCTION tell_vendor_of_new_orders(), tell_vendor_of_change() FROM PUBLIC;

-- Operators look for what needs a person; these stay small.
CREATE INDEX orders_held ON orders (order_id) WHERE (facts->>'held')::boolean;
CREATE INDEX intents_open ON intents (created_at) WHERE status IN ('failed', 'unknown');
CREATE INDEX intents_by_order ON intents ((payload->>'order_id')) WHERE payload ? 'order_id';
