-- News of intents, events and vendors' events is sent by the program once the writing transaction is committed. A NOTIFY
-- inside it holds one lock of the whole server until the commit is on disk, so that no two commits share a flush.
DROP TRIGGER intents_written ON intents;
DROP TRIGGER events_written ON events;
DROP FUNCTION announce_event();

CREATE OR REPLACE FUNCTION tell_vendor_of_new_orders() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO vendor_events (vendor_id, order_id, event_type, status, created_at)
    SELECT vendor_id, order_id, 'order.offered', status, created_at FROM written WHERE vendor_id IS NOT NULL;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION tell_vendor_of_change() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  is_new boolean := NEW.vendor_id IS DISTINCT FROM OLD.vendor_id;
  at timestamptz := greatest(NEW.updated_at, NEW.offered_at);
BEGIN
  IF is_new AND OLD.vendor_id IS NOT NULL THEN
    INSERT INTO vendor_events (vendor_id, order_id, event_type, status, created_at)
      VALUES (OLD.vendor_id, NEW.order_id, 'order.withdrawn', NEW.status, at);
  END IF;
  IF NEW.vendor_id IS NOT NULL THEN
    INSERT INTO vendor_events (vendor_id, order_id, event_type, status, created_at)
      VALUES (NEW.vendor_id, NEW.order_id, CASE WHEN is_new THEN 'order.offered' ELSE 'order.changed' END, NEW.status, at);
  END IF;
  RETURN NULL;
END $$;
