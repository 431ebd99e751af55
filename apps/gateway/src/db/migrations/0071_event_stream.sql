-- Events never change, so their places in the stream are kept beside them: written with the event, filled in by the
-- first reader who sees it (see 0070 on why not before).
DROP INDEX events_in_stream, events_not_in_stream;
ALTER TABLE events DROP COLUMN stream_position;

CREATE TABLE event_stream (
  event_id text PRIMARY KEY REFERENCES events,
  partner_id uuid NOT NULL,
  position bigint NOT NULL,
  place bigint CHECK (place > 0)
);
CREATE UNIQUE INDEX event_stream_in_order ON event_stream (partner_id, place) WHERE place IS NOT NULL;
CREATE INDEX event_stream_unseen ON event_stream (partner_id, position) WHERE place IS NULL;
CALL own_by_partner('event_stream', 'SELECT, INSERT, UPDATE');
INSERT INTO event_stream (event_id, partner_id, position) SELECT event_id, partner_id, position FROM events;
