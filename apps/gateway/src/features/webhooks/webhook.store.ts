import { DELIVERY_CANCELLED, DELIVERY_PENDING } from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';
import type { SealedSecrets } from './webhook-sender.ts';

const PENDING = sqlWords(DELIVERY_PENDING);

export interface WebhookRow {
  webhook_url: string | null;
  webhook_enabled: boolean;
  webhook_previous_secret_until: Date | null;
  consecutive_failures: number | null;
  failing_since: Date | null;
  last_error: string | null;
  circuit_opened_at: Date | null;
  pending: number;
}

/** Counting stops where it would cost more than it tells. */
export const PENDING_COUNTED = 1_000;

export const readWebhook = statement<[partnerId: string], WebhookRow>(
  'webhooks.read',
  `SELECT p.webhook_url, p.webhook_enabled, p.webhook_previous_secret_until, e.consecutive_failures,
          e.failing_since, e.last_error, e.circuit_opened_at,
          (SELECT count(*)::int FROM (
             SELECT FROM webhook_deliveries d WHERE d.partner_id = p.partner_id AND d.status = ${PENDING}
              LIMIT ${PENDING_COUNTED}) AS waiting) AS pending
     FROM partners p LEFT JOIN webhook_endpoints e USING (partner_id) WHERE p.partner_id = $1`,
);

export const setWebhook = statement<[partnerId: string, url: string]>(
  'webhooks.set',
  'UPDATE partners SET webhook_url = $2, webhook_enabled = true WHERE partner_id = $1',
);

/** A new address has no history. */
export const resetEndpointFailures = statement<[partnerId: string]>(
  'webhook_endpoints.purge',
  `UPDATE webhook_endpoints
      SET consecutive_failures = 0, failing_since = NULL, last_error = NULL, circuit_opened_at = NULL,
          next_try_at = NULL
    WHERE partner_id = $1`,
);

export const disableWebhook = statement<[partnerId: string]>(
  'webhooks.disable',
  'UPDATE partners SET webhook_enabled = false WHERE partner_id = $1',
);

/** Nothing of what was waiting is sent later to an address that is set later. */
export const cancelPendingDeliveries = statement<[partnerId: string, at: Date]>(
  'webhook_deliveries.cancel_pending',
  `UPDATE webhook_deliveries SET status = ${sqlWords(DELIVERY_CANCELLED)}, settled_at = $2, leased_until = NULL, lease_owner = NULL
    WHERE partner_id = $1 AND status = ${PENDING}`,
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
