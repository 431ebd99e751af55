import {
  DELIVERY_CANCELLED,
  DELIVERY_DELIVERED,
  DELIVERY_FAILED,
  DELIVERY_PENDING,
  type DeliveryStatus,
} from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';
import { eventsWritten } from '../../engine/outbox.ts';

/** SQL of the queue of deliveries: who has something due, claiming it, and recording what became of it. */

/** Written out in statements, so that the indexes of what waits apply. */
const PENDING = sqlWords(DELIVERY_PENDING);

export interface AttemptLogEntry {
  readonly at: string;
  readonly http_status: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
  readonly response: string | null;
}

export interface ClaimedDelivery {
  partner_id: string;
  delivery_id: string;
  attempts: number;
  body: string;
  webhook_url: string;
  webhook_secret_sealed: string;
  webhook_previous_secret_sealed: string | null;
  webhook_previous_secret_until: Date | null;
}

/** Steps from partner to partner along the index, however many deliveries each has waiting. */
export const partnersWithDueDeliveries = statement<[businessNow: Date], { partner_id: string }>(
  'webhook_deliveries.partners_due',
  `WITH RECURSIVE waiting AS (
     (SELECT partner_id FROM webhook_deliveries WHERE status = ${PENDING} ORDER BY partner_id LIMIT 1)
     UNION ALL
     SELECT (SELECT d.partner_id FROM webhook_deliveries d
              WHERE d.status = ${PENDING} AND d.partner_id > waiting.partner_id ORDER BY d.partner_id LIMIT 1)
       FROM waiting WHERE waiting.partner_id IS NOT NULL)
   SELECT partner_id FROM waiting WHERE partner_id IS NOT NULL AND EXISTS (
     SELECT FROM webhook_deliveries d
      WHERE d.partner_id = waiting.partner_id AND d.status = ${PENDING} AND d.run_at <= $1
        AND (d.leased_until IS NULL OR d.leased_until < clock_timestamp()))`,
);

/**
 * Takes up to a quota of due deliveries from each of these partners. Address and secret are read here, right before
 * sending: a webhook that was removed meanwhile gets nothing more. Where the circuit is open, one delivery a
 * second is taken by the first to come, in whichever process.
 *
 * Rows are written where they were locked, and bodies read one by one: a join would be planned by how long queues are on
 * average, and one partner’s long queue would make all claims read the whole table.
 *
 * It waits neither for a lock nor for the disk. A claim that a crash of the database undoes is made again.
 */
export const claimDeliveries = statement<
  [
    partnerIds: readonly string[],
    quotas: readonly number[],
    businessNow: Date,
    leaseMs: number,
    owner: string,
    circuitGapMs: number,
  ],
  ClaimedDelivery
>(
  'webhook_deliveries.claim',
  `WITH tried AS (
     UPDATE webhook_endpoints SET next_try_at = clock_timestamp() + $6::int * interval '1 millisecond'
      WHERE partner_id IN (
        SELECT partner_id FROM webhook_endpoints
         WHERE partner_id = ANY($1::uuid[]) AND circuit_opened_at IS NOT NULL AND next_try_at <= clock_timestamp()
         FOR UPDATE SKIP LOCKED)
      RETURNING partner_id),
   wanted AS (
     SELECT w.partner_id, w.quota FROM unnest($1::uuid[], $2::int[]) AS w (partner_id, quota)
       LEFT JOIN webhook_endpoints e ON e.partner_id = w.partner_id AND e.circuit_opened_at IS NOT NULL
      WHERE e.partner_id IS NULL
     UNION ALL
     SELECT partner_id, 1 FROM tried),
   due AS (
     SELECT found.row_address, found.delivery_id, found.event_id, p.partner_id, p.webhook_url, p.webhook_secret_sealed,
            p.webhook_previous_secret_sealed, p.webhook_previous_secret_until
       FROM (SELECT set_config('synchronous_commit', 'off', true)) AS unhurried
      CROSS JOIN wanted w
       JOIN partners p ON p.partner_id = w.partner_id AND p.webhook_enabled AND p.webhook_url IS NOT NULL
      CROSS JOIN LATERAL (
        SELECT candidate.ctid AS row_address, candidate.delivery_id, candidate.event_id
          FROM webhook_deliveries candidate
         WHERE candidate.partner_id = w.partner_id AND candidate.status = ${PENDING} AND candidate.run_at <= $3
           AND (candidate.leased_until IS NULL OR candidate.leased_until < clock_timestamp())
           AND (NOT candidate.in_order OR candidate.attempts > 0 OR NOT EXISTS (
                 SELECT FROM webhook_deliveries earlier
                  WHERE earlier.subject_id = candidate.subject_id AND earlier.position < candidate.position
                    AND earlier.status = ${PENDING} AND earlier.attempts = 0 AND earlier.in_order))
         ORDER BY candidate.run_at, candidate.position
         LIMIT w.quota
         FOR UPDATE SKIP LOCKED) found),
   claimed AS (
     UPDATE webhook_deliveries
        SET leased_until = clock_timestamp() + $4::int * interval '1 millisecond', lease_owner = $5
      WHERE ctid = ANY (ARRAY(SELECT row_address FROM due))
      RETURNING partner_id, delivery_id, event_id, attempts)
   SELECT claimed.partner_id, claimed.delivery_id, claimed.attempts,
          (SELECT e.body FROM events e WHERE e.event_id = claimed.event_id) AS body, due.webhook_url,
          due.webhook_secret_sealed, due.webhook_previous_secret_sealed, due.webhook_previous_secret_until
     FROM claimed JOIN due USING (partner_id, delivery_id)`,
);

/**
 * A delivery that was accepted is delivered, whichever process holds its lease by now; a failure counts only for the
 * one who was entitled to try.
 */
export const settleDeliveries = statement<
  [
    partnerIds: readonly string[],
    deliveryIds: readonly string[],
    attempts: readonly number[],
    delivered: readonly boolean[],
    retryAt: readonly (Date | null)[],
    logEntries: readonly string[],
    owner: string,
    at: Date,
  ]
>(
  'webhook_deliveries.settle',
  `UPDATE webhook_deliveries d
      SET status = CASE WHEN o.delivered THEN ${sqlWords(DELIVERY_DELIVERED)}
                        WHEN o.retry_at IS NULL THEN ${sqlWords(DELIVERY_FAILED)} ELSE ${PENDING} END,
          attempts = least(10, d.attempts + 1),
          attempt_log = d.attempt_log || o.log_entry,
          run_at = coalesce(o.retry_at, d.run_at),
          settled_at = CASE WHEN o.delivered OR o.retry_at IS NULL THEN $8::timestamptz END,
          leased_until = NULL, lease_owner = NULL
     FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::boolean[], $5::timestamptz[], $6::jsonb[])
          AS o (partner_id, delivery_id, attempts, delivered, retry_at, log_entry)
    WHERE d.partner_id = o.partner_id AND d.delivery_id = o.delivery_id AND d.status = ${PENDING}
      AND (o.delivered OR (d.lease_owner = $7 AND d.attempts = o.attempts))`,
);

/** In one order, before anything is written to them: workers whose batches share endpoints do not wait in a circle. */
export const lockEndpoints = statement<[answering: readonly string[], failing: readonly string[]]>(
  'webhook_endpoints.lock',
  `SELECT FROM webhook_endpoints
    WHERE (partner_id = ANY($1::uuid[]) AND consecutive_failures > 0) OR partner_id = ANY($2::uuid[])
    ORDER BY partner_id FOR UPDATE`,
);

export const recordEndpointSuccess = statement<[partnerIds: readonly string[]]>(
  'webhook_endpoints.success',
  `UPDATE webhook_endpoints
      SET consecutive_failures = 0, failing_since = NULL, last_error = NULL, circuit_opened_at = NULL,
          next_try_at = NULL
    WHERE partner_id = ANY($1::uuid[]) AND consecutive_failures > 0`,
);

/** Failures since the last accepted delivery; enough of them in a row open the circuit. */
export const recordEndpointFailures = statement<
  [
    partnerIds: readonly string[],
    failures: readonly number[],
    errors: readonly string[],
    at: Date,
    openAt: number,
  ]
>(
  'webhook_endpoints.failures',
  `INSERT INTO webhook_endpoints AS e
          (partner_id, consecutive_failures, failing_since, last_error, circuit_opened_at, next_try_at)
   SELECT f.partner_id, f.failures, $4::timestamptz, f.error,
          CASE WHEN f.failures >= $5::int THEN $4::timestamptz END,
          CASE WHEN f.failures >= $5::int THEN clock_timestamp() END
     FROM unnest($1::uuid[], $2::int[], $3::text[]) AS f (partner_id, failures, error)
    ORDER BY f.partner_id
   ON CONFLICT (partner_id) DO UPDATE SET
     consecutive_failures = e.consecutive_failures + excluded.consecutive_failures,
     failing_since = coalesce(e.failing_since, excluded.failing_since),
     last_error = excluded.last_error,
     circuit_opened_at = CASE WHEN e.consecutive_failures + excluded.consecutive_failures >= $5::int
                              THEN coalesce(e.circuit_opened_at, excluded.failing_since) END,
     next_try_at = CASE WHEN e.consecutive_failures + excluded.consecutive_failures >= $5::int
                        THEN coalesce(e.next_try_at, clock_timestamp()) END`,
);

/** What was written while its partner's webhook was being removed. */
export const cancelForDisabled = statement<[at: Date]>(
  'webhook_deliveries.cancel_for_disabled',
  `UPDATE webhook_deliveries d SET status = ${sqlWords(DELIVERY_CANCELLED)}, settled_at = $1, leased_until = NULL, lease_owner = NULL
     FROM partners p
    WHERE p.partner_id = d.partner_id AND NOT p.webhook_enabled AND d.status = ${PENDING}`,
);

/** SQL of what a partner sees of its deliveries, and of sending them again. */

export interface DeliveryRow {
  delivery_id: string;
  event_id: string;
  event_type: string;
  subject_id: string | null;
  status: DeliveryStatus;
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
