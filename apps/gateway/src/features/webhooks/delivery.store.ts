import {
  DELIVERY_CANCELLED,
  DELIVERY_DELIVERED,
  DELIVERY_FAILED,
  DELIVERY_PENDING,
} from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';
import type { RequestStamp } from './webhook-sender.ts';

/**
 * SQL of the queues of deliveries, one an endpoint: which have something due, claiming it, and recording what became of
 * it. A partner's default endpoint goes by the partner's id.
 */

/** Written out in statements, so that the indexes of what waits apply. */
const PENDING = sqlWords(DELIVERY_PENDING);

export interface AttemptLogEntry {
  readonly at: string;
  readonly http_status: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
  readonly response: string | null;
  /** What follows is absent in attempts that were made before it was kept. */
  readonly url?: string;
  readonly sent?: RequestStamp;
  readonly response_headers?: Readonly<Record<string, string>>;
  /** Set where the answer was longer than what is kept of it. */
  readonly cut?: boolean;
}

export interface ClaimedDelivery {
  partner_id: string;
  endpoint_id: string;
  delivery_id: string;
  attempts: number;
  body: string;
  webhook_url: string;
  webhook_secret_sealed: string;
  webhook_previous_secret_sealed: string | null;
  webhook_previous_secret_until: Date | null;
  /** Null for the default endpoint, whose requests do not name it. */
  api_version: string | null;
}

/** Steps from endpoint to endpoint along the index, however many deliveries each has waiting. */
const WAITING_ENDPOINTS = `waiting AS (
     (SELECT d.queue_id AS endpoint_id FROM webhook_deliveries d
       WHERE d.status = ${PENDING} ORDER BY d.queue_id LIMIT 1)
     UNION ALL
     SELECT (SELECT d.queue_id FROM webhook_deliveries d
              WHERE d.status = ${PENDING} AND d.queue_id > waiting.endpoint_id ORDER BY d.queue_id LIMIT 1)
       FROM waiting WHERE waiting.endpoint_id IS NOT NULL)`;

export const endpointsWithDueDeliveries = statement<[businessNow: Date], { endpoint_id: string }>(
  'webhook_deliveries.endpoints_due',
  `WITH RECURSIVE ${WAITING_ENDPOINTS}
   SELECT endpoint_id FROM waiting WHERE endpoint_id IS NOT NULL AND EXISTS (
     SELECT FROM webhook_deliveries d
      WHERE d.queue_id = waiting.endpoint_id AND d.status = ${PENDING} AND d.run_at <= $1
        AND (d.leased_until IS NULL OR d.leased_until < clock_timestamp()))`,
);

/**
 * Takes up to a quota of due deliveries from each of these endpoints. Address and secret are read here, right before
 * sending: a webhook that was removed meanwhile gets nothing more. Where the circuit is open, one delivery a
 * second is taken by the first to come, in whichever process.
 *
 * Rows are written where they were locked, and bodies read one by one: a join would be planned by how long queues are on
 * average, and one endpoint’s long queue would make all claims read the whole table.
 *
 * It waits neither for a lock nor for the disk. A claim that a crash of the database undoes is made again.
 */
export const claimDeliveries = statement<
  [
    endpointIds: readonly string[],
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
     UPDATE webhook_endpoint_health SET next_try_at = clock_timestamp() + $6::int * interval '1 millisecond'
      WHERE endpoint_id IN (
        SELECT endpoint_id FROM webhook_endpoint_health
         WHERE endpoint_id = ANY($1::uuid[]) AND circuit_opened_at IS NOT NULL AND next_try_at <= clock_timestamp()
         FOR UPDATE SKIP LOCKED)
      RETURNING endpoint_id),
   wanted AS (
     SELECT w.endpoint_id, w.quota FROM unnest($1::uuid[], $2::int[]) AS w (endpoint_id, quota)
       LEFT JOIN webhook_endpoint_health h ON h.endpoint_id = w.endpoint_id AND h.circuit_opened_at IS NOT NULL
      WHERE h.endpoint_id IS NULL
     UNION ALL
     SELECT endpoint_id, 1 FROM tried),
   targets AS MATERIALIZED (
     SELECT w.endpoint_id, w.quota, target.* FROM wanted w
      CROSS JOIN LATERAL (
        SELECT p.partner_id, p.webhook_url, p.webhook_secret_sealed, p.webhook_previous_secret_sealed,
               p.webhook_previous_secret_until, NULL::text AS api_version
          FROM partners p
         WHERE p.partner_id = w.endpoint_id AND p.webhook_enabled AND p.webhook_url IS NOT NULL
        UNION ALL
        SELECT e.partner_id, e.url, e.secret_sealed, e.previous_secret_sealed, e.previous_secret_until, e.api_version
          FROM webhook_endpoints e WHERE e.endpoint_id = w.endpoint_id AND e.enabled) AS target),
   due AS (
     SELECT found.row_address, found.delivery_id, t.*
       FROM (SELECT set_config('synchronous_commit', 'off', true)) AS unhurried
      CROSS JOIN targets t
      CROSS JOIN LATERAL (
        SELECT candidate.ctid AS row_address, candidate.delivery_id
          FROM webhook_deliveries candidate
         WHERE candidate.queue_id = t.endpoint_id AND candidate.status = ${PENDING} AND candidate.run_at <= $3
           AND (candidate.leased_until IS NULL OR candidate.leased_until < clock_timestamp())
           AND (NOT candidate.in_order OR candidate.attempts > 0 OR NOT EXISTS (
                 SELECT FROM webhook_deliveries earlier
                  WHERE earlier.subject_id = candidate.subject_id AND earlier.position < candidate.position
                    AND earlier.status = ${PENDING} AND earlier.attempts = 0 AND earlier.in_order
                    AND earlier.queue_id = candidate.queue_id))
         ORDER BY candidate.run_at, candidate.position
         LIMIT t.quota
         FOR UPDATE SKIP LOCKED) found),
   claimed AS (
     UPDATE webhook_deliveries
        SET leased_until = clock_timestamp() + $4::int * interval '1 millisecond', lease_owner = $5
      WHERE ctid = ANY (ARRAY(SELECT row_address FROM due))
      RETURNING partner_id, delivery_id, event_id, attempts)
   SELECT claimed.partner_id, due.endpoint_id, claimed.delivery_id, claimed.attempts,
          (SELECT e.body FROM events e WHERE e.event_id = claimed.event_id) AS body, due.webhook_url,
          due.webhook_secret_sealed, due.webhook_previous_secret_sealed, due.webhook_previous_secret_until,
          due.api_version
     FROM claimed JOIN due USING (partner_id, delivery_id)`,
);

/** Of attempts that last. It waits for no disk: a renewal that a crash undoes leaves a lease that ends sooner. */
export const renewDeliveries = statement<
  [partnerIds: readonly string[], deliveryIds: readonly string[], owner: string, leaseMs: number]
>(
  'webhook_deliveries.renew',
  `UPDATE webhook_deliveries d SET leased_until = clock_timestamp() + $4::int * interval '1 millisecond'
     FROM (SELECT set_config('synchronous_commit', 'off', true)) AS unhurried,
          unnest($1::uuid[], $2::uuid[]) AS held (partner_id, delivery_id)
    WHERE d.partner_id = held.partner_id AND d.delivery_id = held.delivery_id
      AND d.lease_owner = $3 AND d.status = ${PENDING}`,
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
  'webhook_endpoint_health.lock',
  `SELECT FROM webhook_endpoint_health
    WHERE (endpoint_id = ANY($1::uuid[]) AND consecutive_failures > 0) OR endpoint_id = ANY($2::uuid[])
    ORDER BY endpoint_id FOR UPDATE`,
);

export const recordEndpointSuccess = statement<[endpointIds: readonly string[]]>(
  'webhook_endpoint_health.success',
  `UPDATE webhook_endpoint_health
      SET consecutive_failures = 0, failing_since = NULL, last_error = NULL, circuit_opened_at = NULL,
          next_try_at = NULL
    WHERE endpoint_id = ANY($1::uuid[]) AND consecutive_failures > 0`,
);

/**
 * Failures since the last accepted delivery; enough of them in a row open the circuit. Nothing is kept of an endpoint that
 * was deleted while it was tried.
 */
export const recordEndpointFailures = statement<
  [
    endpointIds: readonly string[],
    partnerIds: readonly string[],
    failures: readonly number[],
    errors: readonly string[],
    at: Date,
    openAt: number,
  ]
>(
  'webhook_endpoint_health.failures',
  `INSERT INTO webhook_endpoint_health AS h
          (endpoint_id, partner_id, consecutive_failures, failing_since, last_error, circuit_opened_at, next_try_at)
   SELECT f.endpoint_id, f.partner_id, f.failures, $5::timestamptz, f.error,
          CASE WHEN f.failures >= $6::int THEN $5::timestamptz END,
          CASE WHEN f.failures >= $6::int THEN clock_timestamp() END
     FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[]) AS f (endpoint_id, partner_id, failures, error)
    WHERE f.endpoint_id = f.partner_id
       OR EXISTS (SELECT FROM webhook_endpoints e WHERE e.endpoint_id = f.endpoint_id)
    ORDER BY f.endpoint_id
   ON CONFLICT (endpoint_id) DO UPDATE SET
     consecutive_failures = h.consecutive_failures + excluded.consecutive_failures,
     failing_since = coalesce(h.failing_since, excluded.failing_since),
     last_error = excluded.last_error,
     circuit_opened_at = CASE WHEN h.consecutive_failures + excluded.consecutive_failures >= $6::int
                              THEN coalesce(h.circuit_opened_at, excluded.failing_since) END,
     next_try_at = CASE WHEN h.consecutive_failures + excluded.consecutive_failures >= $6::int
                        THEN coalesce(h.next_try_at, clock_timestamp()) END`,
);

/** Nothing of what was waiting is sent later, to an address that is set later. */
export const cancelPendingDeliveries = statement<[endpointId: string, at: Date]>(
  'webhook_deliveries.cancel_pending',
  `UPDATE webhook_deliveries d SET status = ${sqlWords(DELIVERY_CANCELLED)}, settled_at = $2, leased_until = NULL, lease_owner = NULL
    WHERE d.queue_id = $1 AND d.status = ${PENDING}`,
);

/** What was written while its endpoint was being disabled or deleted. */
export const cancelForDisabled = statement<[at: Date]>(
  'webhook_deliveries.cancel_for_disabled',
  `WITH RECURSIVE ${WAITING_ENDPOINTS},
   off AS (
     SELECT endpoint_id FROM waiting
      WHERE endpoint_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM partners p WHERE p.partner_id = waiting.endpoint_id AND p.webhook_enabled)
        AND NOT EXISTS (SELECT FROM webhook_endpoints e WHERE e.endpoint_id = waiting.endpoint_id AND e.enabled))
   UPDATE webhook_deliveries d SET status = ${sqlWords(DELIVERY_CANCELLED)}, settled_at = $1, leased_until = NULL, lease_owner = NULL
     FROM off WHERE d.queue_id = off.endpoint_id AND d.status = ${PENDING}`,
);
