import { DELIVERY_PENDING } from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';
import type { SealedSecrets } from './webhook-sender.ts';

/** SQL of where a partner's events go: its default endpoint, which is in `partners`, and its further ones. */

export interface HealthRow {
  consecutive_failures: number | null;
  failing_since: Date | null;
  last_error: string | null;
  circuit_opened_at: Date | null;
  pending: number;
}

export interface WebhookRow extends HealthRow {
  webhook_url: string | null;
  webhook_enabled: boolean;
  webhook_previous_secret_until: Date | null;
}

/** Counting stops where it would cost more than it tells. */
const PENDING_COUNTED = 1_000;

const health = (
  endpointId: string,
) => `h.consecutive_failures, h.failing_since, h.last_error, h.circuit_opened_at,
          (SELECT count(*)::int FROM (
             SELECT FROM webhook_deliveries d
              WHERE d.queue_id = ${endpointId} AND d.status = ${sqlWords(DELIVERY_PENDING)}
              LIMIT ${PENDING_COUNTED}) AS waiting) AS pending`;

export const readWebhook = statement<[partnerId: string], WebhookRow>(
  'webhooks.read',
  `SELECT p.webhook_url, p.webhook_enabled, p.webhook_previous_secret_until, ${health('p.partner_id')}
     FROM partners p LEFT JOIN webhook_endpoint_health h ON h.endpoint_id = p.partner_id WHERE p.partner_id = $1`,
);

export const setWebhook = statement<[partnerId: string, url: string]>(
  'webhooks.set',
  'UPDATE partners SET webhook_url = $2, webhook_enabled = true WHERE partner_id = $1',
);

/** A new address has no history. */
export const resetEndpointFailures = statement<[endpointId: string]>(
  'webhook_endpoint_health.purge',
  `UPDATE webhook_endpoint_health
      SET consecutive_failures = 0, failing_since = NULL, last_error = NULL, circuit_opened_at = NULL,
          next_try_at = NULL
    WHERE endpoint_id = $1`,
);

export const disableWebhook = statement<[partnerId: string]>(
  'webhooks.disable',
  'UPDATE partners SET webhook_enabled = false WHERE partner_id = $1',
);

export const rotateWebhookSecret = statement<[partnerId: string, sealed: string, previousUntil: Date]>(
  'webhooks.rotate_secret',
  `UPDATE partners SET webhook_previous_secret_sealed = webhook_secret_sealed,
          webhook_previous_secret_until = $3, webhook_secret_sealed = $2
    WHERE partner_id = $1`,
);

export const readWebhookTarget = statement<
  [partnerId: string],
  SealedSecrets & { webhook_url: string | null; webhook_enabled: boolean }
>(
  'webhooks.target',
  `SELECT webhook_url, webhook_enabled, webhook_secret_sealed, webhook_previous_secret_sealed,
          webhook_previous_secret_until
     FROM partners WHERE partner_id = $1`,
);

export interface EndpointRow extends SealedSecrets, HealthRow {
  endpoint_id: string;
  is_default: boolean;
  url: string;
  events: string[];
  enabled: boolean;
  api_version: string;
  created_at: Date | null;
}

/**
 * All endpoints of a partner alike: the default one first, once it has an address, then the oldest. The default's filter
 * and version are given.
 */
const ENDPOINTS = `SELECT listed.*, ${health('listed.endpoint_id')}
     FROM (SELECT p.partner_id AS endpoint_id, true AS is_default, p.webhook_url AS url, $2::text[] AS events,
                  p.webhook_enabled AS enabled, $3::text AS api_version, p.webhook_secret_sealed,
                  p.webhook_previous_secret_sealed, p.webhook_previous_secret_until, NULL::timestamptz AS created_at
             FROM partners p WHERE p.partner_id = $1 AND p.webhook_url IS NOT NULL
           UNION ALL
           SELECT e.endpoint_id, false, e.url, e.events, e.enabled, e.api_version, e.secret_sealed,
                  e.previous_secret_sealed, e.previous_secret_until, e.created_at
             FROM webhook_endpoints e WHERE e.partner_id = $1) AS listed
     LEFT JOIN webhook_endpoint_health h USING (endpoint_id)`;

type OfPartner = [partnerId: string, defaultEvents: readonly string[], defaultVersion: string];

export const listEndpoints = statement<OfPartner, EndpointRow>(
  'webhook_endpoints.list',
  `${ENDPOINTS} ORDER BY listed.is_default DESC, listed.created_at, listed.endpoint_id`,
);

export const findEndpoint = statement<[...OfPartner, endpointId: string], EndpointRow>(
  'webhook_endpoints.find',
  `${ENDPOINTS} WHERE listed.endpoint_id = $4`,
);

/** Two requests at once may not both take the last place; a statement of its own, so that the next counts what the last one wrote. */
export const lockEndpointsOf = statement<[partnerId: string]>(
  'webhook_endpoints.lock_all',
  `SELECT pg_advisory_xact_lock(hashtextextended('webhook_endpoints:' || $1::uuid::text, 0))`,
);

/** Answers nothing where the partner has as many as it may have. */
export const insertEndpoint = statement<
  [
    endpointId: string,
    partnerId: string,
    url: string,
    events: readonly string[],
    enabled: boolean,
    apiVersion: string,
    secretSealed: string,
    at: Date,
    most: number,
  ],
  { endpoint_id: string }
>(
  'webhook_endpoints.insert',
  `INSERT INTO webhook_endpoints (endpoint_id, partner_id, url, events, enabled, api_version, secret_sealed, created_at)
   SELECT $1, $2, $3, $4, $5, $6, $7, $8
    WHERE (SELECT count(*) FROM webhook_endpoints WHERE partner_id = $2) < $9
   RETURNING endpoint_id`,
);

/** What is not given stays as it is. */
export const updateEndpoint = statement<
  [endpointId: string, url: string | null, events: readonly string[] | null, enabled: boolean | null]
>(
  'webhook_endpoints.update',
  `UPDATE webhook_endpoints
      SET url = coalesce($2, url), events = coalesce($3::text[], events), enabled = coalesce($4::boolean, enabled)
    WHERE endpoint_id = $1`,
);

export const deleteEndpoint = statement<[endpointId: string]>(
  'webhook_endpoints.delete',
  'DELETE FROM webhook_endpoints WHERE endpoint_id = $1',
);

export const deleteEndpointHealth = statement<[endpointId: string]>(
  'webhook_endpoint_health.delete',
  'DELETE FROM webhook_endpoint_health WHERE endpoint_id = $1',
);

export const rotateEndpointSecret = statement<[endpointId: string, sealed: string, previousUntil: Date]>(
  'webhook_endpoints.rotate_secret',
  `UPDATE webhook_endpoints SET previous_secret_sealed = secret_sealed, previous_secret_until = $3, secret_sealed = $2
    WHERE endpoint_id = $1`,
);
