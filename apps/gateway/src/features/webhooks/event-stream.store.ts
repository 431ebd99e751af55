import { statement } from '../../db/statement.ts';

/** One reader at a time numbers a partner's events; a statement of its own, so that the next sees what the last one did. */
export const lockStream = statement<[partnerId: string]>(
  'event_stream.lock',
  `SELECT pg_advisory_xact_lock(hashtextextended('event_stream:' || $1::uuid::text, 0))`,
);

/**
 * Events get their place in the stream when they are first seen. What is written but not yet visible gets a later one,
 * so no cursor can pass it; events about one subject become visible in order, and so they are numbered.
 */
export const numberNewEvents = statement<[partnerId: string, limit: number]>(
  'event_stream.number',
  `UPDATE event_stream SET place = fresh.place
     FROM (SELECT event_id, row_number() OVER (ORDER BY position) + greatest(
                    (SELECT max(place) FROM event_stream WHERE partner_id = $1 AND place IS NOT NULL),
                    (SELECT floor FROM event_stream_floors WHERE partner_id = $1), 0) AS place
             FROM (SELECT event_id, position FROM event_stream
                    WHERE partner_id = $1 AND place IS NULL ORDER BY position LIMIT $2) AS unseen) AS fresh
    WHERE event_stream.event_id = fresh.event_id`,
);

export interface StreamedEvent {
  cursor: string;
  event_type: string;
  body: string;
}

export const readStream = statement<[partnerId: string, after: string, limit: number], StreamedEvent>(
  'event_stream.read',
  `SELECT s.place::text AS cursor, e.event_type, e.body FROM event_stream s JOIN events e USING (event_id)
    WHERE s.partner_id = $1 AND s.place > $2::bigint ORDER BY s.place LIMIT $3`,
);

/** The floor is the last place whose event is forgotten. */
export const readStreamState = statement<[partnerId: string], { floor: string; has_unnumbered: boolean }>(
  'event_stream.state',
  `SELECT coalesce((SELECT floor FROM event_stream_floors WHERE partner_id = $1), 0)::text AS floor,
          EXISTS (SELECT FROM event_stream WHERE partner_id = $1 AND place IS NULL) AS has_unnumbered`,
);

export const latestPlace = statement<[partnerId: string], { cursor: string }>(
  'event_stream.latest',
  `SELECT greatest((SELECT max(place) FROM event_stream WHERE partner_id = $1 AND place IS NOT NULL),
                   (SELECT floor FROM event_stream_floors WHERE partner_id = $1), 0)::text AS cursor`,
);
