import { DELIVERY_PENDING } from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';

/** One reader at a time numbers a partner's events; a statement of its own, so that the next sees what the last one did. */
export const lockStream = statement<[partnerId: string]>(
  'event_stream.lock',
  `SELECT pg_advisory_xact_lock(hashtextextended('event_stream:' || $1::uuid::text, 0))`,
);

/**
 * Events get their sequence number in the stream when they are first seen. What is written but not yet visible gets a later one,
 * so no cursor can pass it; events about one subject become visible in order, and so they are numbered.
 */
export const numberNewEvents = statement<[partnerId: string, limit: number]>(
  'event_stream.number',
  `UPDATE event_stream SET sequence = fresh.sequence
     FROM (SELECT event_id, row_number() OVER (ORDER BY position) + greatest(
                    (SELECT max(sequence) FROM event_stream WHERE partner_id = $1 AND sequence IS NOT NULL),
                    (SELECT floor FROM event_stream_floors WHERE partner_id = $1), 0) AS sequence
             FROM (SELECT event_id, position FROM event_stream
                    WHERE partner_id = $1 AND sequence IS NULL ORDER BY position LIMIT $2) AS unseen) AS fresh
    WHERE event_stream.event_id = fresh.event_id`,
);

export interface StreamedEvent {
  cursor: string;
  event_type: string;
  body: string;
}

export const readStream = statement<[partnerId: string, after: string, limit: number], StreamedEvent>(
  'event_stream.read',
  `SELECT s.sequence::text AS cursor, e.event_type, e.body FROM event_stream s JOIN events e USING (event_id)
    WHERE s.partner_id = $1 AND s.sequence > $2::bigint ORDER BY s.sequence LIMIT $3`,
);

/** The floor is the last sequence number whose event is purged. */
export const readStreamState = statement<[partnerId: string], { floor: string; has_unnumbered: boolean }>(
  'event_stream.state',
  `SELECT coalesce((SELECT floor FROM event_stream_floors WHERE partner_id = $1), 0)::text AS floor,
          EXISTS (SELECT FROM event_stream WHERE partner_id = $1 AND sequence IS NULL) AS has_unnumbered`,
);

export const latestSequence = statement<[partnerId: string], { cursor: string }>(
  'event_stream.latest',
  `SELECT greatest((SELECT max(sequence) FROM event_stream WHERE partner_id = $1 AND sequence IS NOT NULL),
                   (SELECT floor FROM event_stream_floors WHERE partner_id = $1), 0)::text AS cursor`,
);

/** SQL of purging: an event goes with its deliveries and its number in the stream. */

/** Steps from partner to partner along the index, however many events each has. */
export const partnersWithAgedEvents = statement<[before: Date], { partner_id: string }>(
  'events.partners_aged',
  `WITH RECURSIVE known AS (
     (SELECT partner_id FROM events ORDER BY partner_id LIMIT 1)
     UNION ALL
     SELECT (SELECT e.partner_id FROM events e WHERE e.partner_id > known.partner_id ORDER BY e.partner_id LIMIT 1)
       FROM known WHERE known.partner_id IS NOT NULL)
   SELECT partner_id FROM known WHERE partner_id IS NOT NULL AND EXISTS (
     SELECT FROM events e WHERE e.partner_id = known.partner_id AND e.created_at < $1)`,
);

/** Events are append-only except in a transaction that declares this; the database refuses younger ones even then. */
export const declarePurge = statement<[before: string]>(
  'events.declare_purge',
  `SELECT set_config('causeway.purge_events_before', $1, true)`,
);

/**
 * What still waits to be delivered stays, and so does what was sent again lately. A refund request stays as a bare
 * event, because its row is what keeps an order from asking twice; it leaves the stream and the deliveries.
 *
 * Numbers that were never given count too: a reader that has not come since must learn that something is missing.
 */
export const purgeAgedEvents = statement<
  [partnerId: string, before: Date, limit: number],
  { purged: number }
>(
  'events.purge_aged',
  `WITH aged AS (
     SELECT e.event_id, e.event_type FROM events e
      WHERE e.partner_id = $1 AND e.created_at < $2
        AND NOT EXISTS (SELECT FROM webhook_deliveries d
                         WHERE d.event_id = e.event_id AND (d.status = ${sqlWords(DELIVERY_PENDING)} OR d.created_at >= $2))
        AND (e.event_type <> 'order.refund.required'
             OR EXISTS (SELECT FROM event_stream s WHERE s.event_id = e.event_id))
      ORDER BY e.created_at LIMIT $3),
   deliveries AS (
     DELETE FROM webhook_deliveries d USING aged WHERE d.event_id = aged.event_id),
   numbers AS (
     DELETE FROM event_stream s USING aged WHERE s.event_id = aged.event_id RETURNING s.sequence),
   gone AS (
     DELETE FROM events e USING aged
      WHERE e.event_id = aged.event_id AND aged.event_type <> 'order.refund.required'),
   floor AS (
     INSERT INTO event_stream_floors AS f (partner_id, floor)
     SELECT $1, CASE WHEN bool_or(sequence IS NULL)
                     THEN greatest((SELECT max(sequence) FROM event_stream WHERE partner_id = $1 AND sequence IS NOT NULL),
                                   (SELECT floor FROM event_stream_floors WHERE partner_id = $1), 0)
                          + count(*) FILTER (WHERE sequence IS NULL)
                     ELSE max(sequence) END
       FROM numbers HAVING count(*) > 0
     ON CONFLICT (partner_id) DO UPDATE SET floor = greatest(f.floor, excluded.floor))
   SELECT count(*)::int AS purged FROM aged`,
);
