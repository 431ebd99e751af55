import { statement } from '../../db/statement.ts';
import { eventsWritten } from '../../engine/outbox.ts';
import type { AttemptLogEntry } from './delivery-outcome.ts';

/** SQL of what a partner sees of its deliveries, and of sending them again. */

export interface DeliveryRow {
  delivery_id: string;
  event_id: string;
  event_type: string;
  subject_id: string | null;
  status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  attempt_log: AttemptLogEntry[];
  run_at: Date;
  replay_of: string | null;
  created_at: Date;
}

const COLUMNS = `d.delivery_id, d.event_id, e.event_type, d.subject_id, d.status, d.attempt_log, d.run_at, d.replay_of,
  d.created_at`;

type Filters = [
  partnerId: string,
  before: string | null,
  eventType: string | null,
  status: string | null,
  limit: number,
];

/** Newest first: delivery ids sort by the time they were made. */
export const listDeliveries = statement<Filters, DeliveryRow>(
  'webhook_deliveries.list',
  `SELECT ${COLUMNS} FROM webhook_deliveries d JOIN events e USING (event_id)
    WHERE d.partner_id = $1 AND ($2::uuid IS NULL OR d.delivery_id < $2)
      AND ($3::text IS NULL OR e.event_type = $3) AND ($4::text IS NULL OR d.status = $4)
    ORDER BY d.delivery_id DESC LIMIT $5`,
);

/** One event's or one order's are few and found by them. */
export const listDeliveriesAbout = statement<
  [...Filters, eventId: string | null, subjectId: string | null],
  DeliveryRow
>(
  'webhook_deliveries.list_about',
  `SELECT ${COLUMNS} FROM events e JOIN webhook_deliveries d USING (event_id)
    WHERE d.partner_id = $1 AND ($2::uuid IS NULL OR d.delivery_id < $2)
      AND ($3::text IS NULL OR e.event_type = $3) AND ($4::text IS NULL OR d.status = $4)
      AND e.event_id IN (SELECT event_id FROM events WHERE event_id = $6
                         UNION ALL SELECT event_id FROM events WHERE subject_id = $7)
      AND ($6::text IS NULL OR e.event_id = $6) AND ($7::uuid IS NULL OR e.subject_id = $7)
    ORDER BY d.delivery_id DESC LIMIT $5`,
);

export const replayDelivery = statement<
  [partnerId: string, deliveryId: string, newDeliveryId: string, at: Date],
  DeliveryRow
>(
  'webhook_deliveries.replay',
  `WITH again AS (
     INSERT INTO webhook_deliveries
            (partner_id, delivery_id, event_id, subject_id, position, in_order, replay_of, run_at, created_at)
     SELECT partner_id, $3, event_id, subject_id, position, false, delivery_id, $4, $4
       FROM webhook_deliveries WHERE partner_id = $1 AND delivery_id = $2
     RETURNING *)
   SELECT ${COLUMNS} FROM again d JOIN events e USING (event_id)`,
  ([partnerId]) => [eventsWritten(partnerId)],
);

/** The latest event of each type about each subject, oldest first; what it has overtaken stays unsent. */
export const replayLatest = statement<
  [partnerId: string, since: Date, at: Date, limit: number],
  { replayed: number }
>(
  'webhook_deliveries.replay_latest',
  `WITH latest AS (
     SELECT DISTINCT ON (subject_id, event_type) event_id, subject_id, position
       FROM events WHERE partner_id = $1 AND created_at >= $2 AND subject_id IS NOT NULL
      ORDER BY subject_id, event_type, position DESC),
   again AS (
     INSERT INTO webhook_deliveries
            (partner_id, delivery_id, event_id, subject_id, position, in_order, run_at, created_at)
     SELECT $1, uuidv7(), event_id, subject_id, position, false, $3, $3
       FROM latest ORDER BY position LIMIT $4
     RETURNING partner_id)
   SELECT count(*)::int AS replayed FROM again`,
  ([partnerId]) => [eventsWritten(partnerId)],
);
