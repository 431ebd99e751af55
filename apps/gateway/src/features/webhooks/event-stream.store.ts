import { statement } from '../../db/statement.ts';

/** One reader at a time numbers a partner's events. Its statement comes before the numbering, so that this sees the last one's. */
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
  `UPDATE events SET stream_position = fresh.place
     FROM (SELECT event_id, row_number() OVER (ORDER BY position)
                  + (SELECT coalesce(max(stream_position), 0) FROM events
                      WHERE partner_id = $1 AND stream_position IS NOT NULL) AS place
             FROM (SELECT event_id, position FROM events
                    WHERE partner_id = $1 AND stream_position IS NULL ORDER BY position LIMIT $2) AS unseen) AS fresh
    WHERE events.event_id = fresh.event_id`,
);

export interface StreamedEvent {
  cursor: string;
  event_type: string;
  body: string;
}

export const readStream = statement<[partnerId: string, after: string, limit: number], StreamedEvent>(
  'event_stream.read',
  `SELECT stream_position::text AS cursor, event_type, body FROM events
    WHERE partner_id = $1 AND stream_position > $2::bigint ORDER BY stream_position LIMIT $3`,
);

export const unnumberedExist = statement<[partnerId: string], { found: boolean }>(
  'event_stream.unnumbered',
  'SELECT EXISTS (SELECT FROM events WHERE partner_id = $1 AND stream_position IS NULL) AS found',
);

export const latestPlace = statement<[partnerId: string], { cursor: string }>(
  'event_stream.latest',
  `SELECT coalesce(max(stream_position), 0)::text AS cursor FROM events
    WHERE partner_id = $1 AND stream_position IS NOT NULL`,
);
