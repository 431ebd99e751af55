import { DELIVERY_PENDING, type DeliveryStatus } from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';
import { deliveriesWritten } from '../../engine/outbox.ts';
import type { AttemptLogEntry } from './delivery.store.ts';

/** SQL of what is seen of deliveries, of sending them again, and of erasing what receivers answered. */

export interface DeliveryRow {
  delivery_id: string;
  partner_id: string;
  endpoint_id: string | null;
  event_id: string;
  event_type: string;
  subject_id: string | null;
  status: DeliveryStatus;
  attempt_log: AttemptLogEntry[];
  run_at: Date;
  replay_of: string | null;
  body: string;
  created_at: Date;
}

const COLUMNS = `d.delivery_id, d.partner_id, d.endpoint_id, d.event_id, e.event_type, d.subject_id, d.status,
  d.attempt_log, d.run_at, d.replay_of, e.body, d.created_at`;

type Filters = [
  partnerId: string,
  before: string | null,
  eventType: string | null,
  status: string | null,
  limit: number,
];

/** Newest first: delivery ids sort by the time they were made. */
const listing = (from: string, condition: string) =>
  `SELECT ${COLUMNS} FROM ${from}
    WHERE d.partner_id = $1 AND ($2::uuid IS NULL OR d.delivery_id < $2)
      AND ($3::text IS NULL OR e.event_type = $3) AND ($4::text IS NULL OR d.status = $4) AND ${condition}
    ORDER BY d.delivery_id DESC LIMIT $5`;
const DELIVERIES = 'webhook_deliveries d JOIN events e USING (event_id)';

/** To all endpoints, for an operator. */
export const listAllDeliveries = statement<Filters, DeliveryRow>(
  'webhook_deliveries.list_all',
  listing(DELIVERIES, 'true'),
);

export const listDefaultDeliveries = statement<Filters, DeliveryRow>(
  'webhook_deliveries.list_default',
  listing(DELIVERIES, 'd.endpoint_id IS NULL'),
);

export const listEndpointDeliveries = statement<[...Filters, endpointId: string], DeliveryRow>(
  'webhook_deliveries.list_endpoint',
  listing(DELIVERIES, 'd.endpoint_id = $6'),
);

/** One event's or one order's are few and found by them. */
export const listDeliveriesAbout = statement<
  [...Filters, eventId: string | null, subjectId: string | null, endpointId: string | null],
  DeliveryRow
>(
  'webhook_deliveries.list_about',
  listing(
    'events e JOIN webhook_deliveries d USING (event_id)',
    `e.event_id IN (SELECT event_id FROM events WHERE event_id = $6
                    UNION ALL SELECT event_id FROM events WHERE subject_id = $7)
      AND ($6::text IS NULL OR e.event_id = $6) AND ($7::uuid IS NULL OR e.subject_id = $7)
      AND ($8::uuid IS NULL OR d.queue_id = $8)`,
  ),
);

export const findDelivery = statement<[partnerId: string, deliveryId: string], DeliveryRow>(
  'webhook_deliveries.find',
  `SELECT ${COLUMNS} FROM ${DELIVERIES} WHERE d.partner_id = $1 AND d.delivery_id = $2`,
);

const newsFor = (partnerId: string, endpointId: string | null) => [
  deliveriesWritten(endpointId ?? partnerId),
];

/** To the endpoint that it went to before. */
export const replayDelivery = statement<
  [partnerId: string, deliveryId: string, newDeliveryId: string, at: Date],
  DeliveryRow
>(
  'webhook_deliveries.replay',
  `WITH again AS (
     INSERT INTO webhook_deliveries
            (partner_id, delivery_id, endpoint_id, event_id, subject_id, position, in_order, replay_of, run_at,
             created_at)
     SELECT partner_id, $3, endpoint_id, event_id, subject_id, position, false, delivery_id, $4, $4
       FROM webhook_deliveries WHERE partner_id = $1 AND delivery_id = $2
     RETURNING *)
   SELECT ${COLUMNS} FROM again d JOIN events e USING (event_id)`,
  ([partnerId], rows) => rows.flatMap(({ endpoint_id }) => newsFor(partnerId, endpoint_id)),
);

/**
 * The latest event of each type about each subject, oldest first; what it has overtaken stays unsent. One that is still to be
 * sent to this endpoint is sent now instead of twice: asking again and again makes no queue longer.
 */
export const replayLatest = statement<
  [
    partnerId: string,
    since: Date,
    at: Date,
    limit: number,
    endpointId: string | null,
    types: readonly string[] | null,
  ],
  { replayed: number }
>(
  'webhook_deliveries.replay_latest',
  `WITH latest AS (
     SELECT DISTINCT ON (subject_id, event_type) event_id, subject_id, position
       FROM events
      WHERE partner_id = $1 AND created_at >= $2 AND subject_id IS NOT NULL
        AND ($6::text[] IS NULL OR event_type = ANY ($6))
      ORDER BY subject_id, event_type, position DESC),
   chosen AS (SELECT * FROM latest ORDER BY position LIMIT $4),
   waiting AS (
     SELECT d.delivery_id, d.event_id
       FROM webhook_deliveries d JOIN chosen USING (event_id)
      WHERE d.partner_id = $1 AND d.queue_id = coalesce($5, $1) AND d.status = ${sqlWords(DELIVERY_PENDING)}
        FOR UPDATE OF d SKIP LOCKED),
   hurried AS (
     UPDATE webhook_deliveries d SET run_at = least(d.run_at, $3)
       FROM waiting w WHERE d.partner_id = $1 AND d.delivery_id = w.delivery_id),
   again AS (
     INSERT INTO webhook_deliveries
            (partner_id, delivery_id, endpoint_id, event_id, subject_id, position, in_order, run_at, created_at)
     SELECT $1, uuidv7(), $5, event_id, subject_id, position, false, $3, $3
       FROM chosen WHERE event_id NOT IN (SELECT event_id FROM waiting) ORDER BY position)
   SELECT count(*)::int AS replayed FROM chosen`,
  ([partnerId, , , , endpointId]) => newsFor(partnerId, endpointId),
);

/** A receiver may have answered with a person's data; when, how long and with which status it answered stays. */
const eraseAnswers = (orders: string, others: string) => `
   WITH about AS (
     SELECT order_id AS subject_id FROM orders WHERE ${orders} ${others})
   UPDATE webhook_deliveries d
      SET attempt_log = (SELECT jsonb_agg(attempt - '{response_headers, cut}'::text[] || '{"response": null}'
                                   ORDER BY number)
                           FROM jsonb_array_elements(d.attempt_log) WITH ORDINALITY AS made (attempt, number))
    WHERE d.attempt_log <> '[]'
      AND d.event_id IN (SELECT e.event_id FROM events e JOIN about USING (subject_id))`;

export const eraseAnswersAboutUser = statement<[userId: string]>(
  'webhook_deliveries.erase_user',
  eraseAnswers(
    'user_id = $1',
    `UNION ALL SELECT $1
     UNION ALL SELECT p.payment_id FROM fiat_accounts a JOIN fiat_payments p USING (account_number) WHERE a.user_id = $1`,
  ),
);

export const eraseAnswersAboutRecipient = statement<[recipientId: string]>(
  'webhook_deliveries.erase_recipient',
  eraseAnswers('recipient_id = $1', ''),
);
