-- Old events are forgotten with their deliveries. A cursor from before that must be told, and places in the stream
-- may not start anew, so each partner's stream remembers the last place that is gone.
CREATE TABLE event_stream_floors (
  partner_id uuid PRIMARY KEY REFERENCES partners,
  floor bigint NOT NULL CHECK (floor > 0)
);
CALL own_by_partner('event_stream_floors', 'SELECT');

-- Events stay append-only (0003) with one exception (decision 0014): a transaction that says up to which time it
-- forgets may delete events from before that time. Changing and truncating are refused as ever, and so is
-- deleting without saying so, for the owner too.
CREATE FUNCTION refuse_undeclared_forgetting() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  declared text := nullif(current_setting('causeway.forget_events_before', true), '');
BEGIN
  IF declared IS NULL OR (TG_LEVEL = 'ROW' AND OLD.created_at >= declared::timestamptz) THEN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
      USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
  END IF;
  RETURN OLD;
END $$;
DROP TRIGGER events_append_only ON events;
CREATE TRIGGER events_append_only BEFORE UPDATE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_forgotten_only_when_declared BEFORE DELETE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_undeclared_forgetting();
CREATE TRIGGER events_forgotten_only_when_old BEFORE DELETE ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_undeclared_forgetting();
