-- Every order changes the balance of an offer twice: it is reserved and ended. Each time the row was entered anew into all
-- indexes of the table, for the sake of the one that finds what changed, and the transaction notified, which takes the one
-- lock of the server for notifications and wakes all who listen (decision 0079).

-- Without an index on what changes with a balance, the new row stays in the page of the old one and no index is touched.
DROP INDEX offers_by_change;
ALTER TABLE offers SET (fillfactor = 50);
COMMENT ON COLUMN offers.changed_in IS
  'The transaction of the last change. Not indexed: who listens is told which offer has changed, and looks at all of them only '
  'from time to time, for what changed since the oldest transaction that was open when it last looked.';
-- Most quotes change once, when an order takes them: likewise.
ALTER TABLE quotes SET (fillfactor = 80);

-- Which offer it was. A statement that announces it after its commit says so and is not announced here.
CREATE FUNCTION announce_offer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('offers_changed', coalesce(NEW.offer_id, OLD.offer_id)::text);
  RETURN NULL;
END $$;
DROP TRIGGER offers_changed ON offers;
CREATE TRIGGER offers_changed AFTER INSERT OR UPDATE OR DELETE ON offers FOR EACH ROW
  WHEN (current_setting('causeway.announced_after_commit', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION announce_offer();
DROP TRIGGER offers_marked ON offers;
CREATE TRIGGER offers_marked BEFORE UPDATE ON offers FOR EACH ROW WHEN (NEW.version = OLD.version)
  EXECUTE FUNCTION mark_offer_change();

-- As reserve_offer, which processes of the release before still call. What was reserved for the quote before is found by the row
-- that would be a second one; the balance is changed by a statement that finds the offer or reserves nothing, so that no key
-- has to look for it again.
ALTER TABLE offer_reservations DROP CONSTRAINT offer_reservations_offer_id_fkey;
COMMENT ON COLUMN offer_reservations.offer_id IS
  'No foreign key: it is written together with the balance of the offer, and offers are never deleted.';
CREATE FUNCTION reserve_balance(of_quote uuid, of_offer uuid, wanted numeric) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  committed_without_waiting constant text := set_config('synchronous_commit', 'off', true);
  announced_by_the_program constant text := set_config('causeway.announced_after_commit', 'on', true);
  is_new boolean;
BEGIN
  INSERT INTO offer_reservations (quote_id, offer_id, crypto, reserved_at)
    VALUES (of_quote, of_offer, wanted, clock_timestamp())
    ON CONFLICT (quote_id, offer_id) DO UPDATE SET reserved_at = excluded.reserved_at
    RETURNING old.quote_id IS NULL INTO is_new;
  IF NOT is_new THEN RETURN true; END IF;
  UPDATE offers SET available_balance = available_balance - wanted, version = version + 1, changed_in = pg_current_xact_id()
   WHERE offer_id = of_offer AND authorized AND NOT withdrawn AND available_balance >= wanted;
  IF FOUND THEN RETURN true; END IF;
  DELETE FROM offer_reservations WHERE quote_id = of_quote AND offer_id = of_offer;
  RETURN false;
END $$;
