import { statement } from '../../db/statement.ts';

/** SQL of events beside their deliveries and their place in the stream. */

export interface RecordedEventRow {
  position: string;
  event_id: string;
  partner_id: string;
  event_type: string;
  order_id: string | null;
  /** Null for events from before it was kept. */
  deliveries: number | null;
  written: number;
  streamed: boolean;
}

const RECORDED = `SELECT e.position::text, e.event_id, e.partner_id, e.event_type,
    (SELECT o.order_id FROM orders o WHERE o.order_id = e.subject_id) AS order_id, e.deliveries::int,
    (SELECT count(*)::int FROM webhook_deliveries d WHERE d.event_id = e.event_id AND d.in_order) AS written,
    EXISTS (SELECT FROM event_stream s WHERE s.event_id = e.event_id) AS streamed
  FROM events e`;

export const recordedEvents = statement<[after: string | null, since: Date, limit: number], RecordedEventRow>(
  'reconcile.events',
  `${RECORDED} WHERE ($1::bigint IS NULL OR e.position > $1) AND e.created_at > $2 ORDER BY e.position LIMIT $3`,
);

export const recordedEvent = statement<[eventId: string, since: Date], RecordedEventRow>(
  'reconcile.event',
  `${RECORDED} WHERE e.event_id = $1 AND e.created_at > $2`,
);

/**
 * Numbers that are missing among the newest of each partner, the first one above the floor included. Above the floor nothing
 * is purged; below it some events stay, because they are still being delivered.
 */
export const streamGaps = statement<[numbers: number], { partner_id: string; after: string; next: string }>(
  'reconcile.stream_gaps',
  `SELECT p.partner_id, n.previous::text AS after, n.sequence::text AS next
     FROM partners p LEFT JOIN event_stream_floors f USING (partner_id) CROSS JOIN LATERAL (
       SELECT sequence, coalesce(lag(sequence) OVER (ORDER BY sequence),
                                 CASE WHEN count(*) OVER () < $1 THEN coalesce(f.floor, 0) END) AS previous FROM (
         SELECT s.sequence FROM event_stream s
          WHERE s.partner_id = p.partner_id AND s.sequence > coalesce(f.floor, 0)
          ORDER BY s.sequence DESC LIMIT $1) AS newest) AS n
    WHERE n.sequence > n.previous + 1`,
);
