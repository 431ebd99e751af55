import {
  ALL_EVENTS,
  CausewayError,
  FIRST_WEBHOOK_API_VERSION,
  LATEST_WEBHOOK_API_VERSION,
  MAX_WEBHOOK_ENDPOINTS,
  type WebhookEndpointChange,
  type WebhookEndpointInput,
  type WebhookEndpointView,
  type WebhookSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Reading } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { randomToken, type Sealer, TOKEN_PREFIX } from '../../lib/crypto.ts';
import { cancelPendingDeliveries } from './delivery.store.ts';
import {
  deleteEndpoint,
  deleteEndpointHealth,
  type EndpointRow,
  findEndpoint,
  type HealthRow,
  insertEndpoint,
  listEndpoints,
  lockEndpointsOf,
  resetEndpointFailures,
  rotateEndpointSecret,
  rotateWebhookSecret,
  updateEndpoint,
} from './webhook.store.ts';
import { endpointSecretContext, secretContextOf } from './webhook-sender.ts';

/** A partner's webhook endpoints: the default one of /partner/webhooks, and further ones with filters of their own. */

const DEFAULT_EVENTS = [ALL_EVENTS];
const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1_000;

export function healthView(row: HealthRow | undefined): Static<typeof WebhookSchema>['health'] {
  const failures = row?.consecutive_failures ?? 0;
  return {
    state: row?.circuit_opened_at ? 'circuit_open' : failures > 0 ? 'failing' : 'ok',
    consecutive_failures: failures,
    failing_since: row?.failing_since?.toISOString() ?? null,
    last_error: row?.last_error ?? null,
    pending_deliveries: row?.pending ?? 0,
  };
}

export function endpointView(row: EndpointRow, now: Date): WebhookEndpointView {
  const until = row.webhook_previous_secret_until;
  return {
    id: row.endpoint_id,
    url: row.url,
    events: row.events,
    enabled: row.enabled,
    is_default: row.is_default,
    api_version: row.api_version,
    health: healthView(row),
    previous_secret_valid_until: until !== null && until > now ? until.toISOString() : null,
    created_at: row.created_at?.toISOString() ?? null,
  };
}

export function listWebhookEndpoints(reads: Reading, partnerId: string): Promise<EndpointRow[]> {
  return reads.query(listEndpoints, [partnerId, DEFAULT_EVENTS, FIRST_WEBHOOK_API_VERSION]);
}

export async function findWebhookEndpoint(
  reads: Reading,
  partnerId: string,
  endpointId: string,
): Promise<EndpointRow | undefined> {
  const [row] = await reads.query(findEndpoint, [
    partnerId,
    DEFAULT_EVENTS,
    FIRST_WEBHOOK_API_VERSION,
    endpointId,
  ]);
  return row;
}

export async function requireEndpoint(
  reads: Reading,
  partnerId: string,
  endpointId: string,
): Promise<EndpointRow> {
  const row = await findWebhookEndpoint(reads, partnerId, endpointId);
  if (row === undefined) throw new CausewayError('WEBHOOK_ENDPOINT_NOT_FOUND');
  return row;
}

export async function createEndpoint(
  unit: UnitOfWork,
  sealer: Sealer,
  partnerId: string,
  wanted: Static<typeof WebhookEndpointInput>,
): Promise<WebhookEndpointView & { secret: string }> {
  unit.tx.defer(lockEndpointsOf, [partnerId]);
  const endpointId = unit.ids.uuid();
  const secret = randomToken(TOKEN_PREFIX.webhookSecret);
  const [made] = await unit.tx.query(insertEndpoint, [
    endpointId,
    partnerId,
    wanted.url,
    filterOf(wanted.events ?? DEFAULT_EVENTS),
    wanted.enabled ?? true,
    wanted.api_version ?? LATEST_WEBHOOK_API_VERSION,
    sealer.seal(secret, endpointSecretContext(endpointId)),
    unit.at,
    MAX_WEBHOOK_ENDPOINTS,
  ]);
  if (made === undefined) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: `There are ${MAX_WEBHOOK_ENDPOINTS} webhook endpoints beside the default one; delete one first.`,
    });
  }
  const row = await requireEndpoint(unit.tx, partnerId, endpointId);
  return { ...endpointView(row, unit.at), secret };
}

/** All of them is all of them, whatever else is named. */
function filterOf(events: readonly string[]): readonly string[] {
  return events.includes(ALL_EVENTS) ? DEFAULT_EVENTS : events;
}

export async function changeEndpoint(
  unit: UnitOfWork,
  partnerId: string,
  endpointId: string,
  { url, events, enabled }: Static<typeof WebhookEndpointChange>,
): Promise<WebhookEndpointView> {
  const before = await lockFurtherEndpoint(unit, partnerId, endpointId);
  const filter = events === undefined ? null : filterOf(events);
  unit.tx.defer(updateEndpoint, [endpointId, url ?? null, filter, enabled ?? null]);
  // A new address has no history.
  if (url !== undefined && url !== before.url) unit.tx.defer(resetEndpointFailures, [endpointId]);
  if (enabled === false) unit.tx.defer(cancelPendingDeliveries, [endpointId, unit.at]);
  return endpointView(await requireEndpoint(unit.tx, partnerId, endpointId), unit.at);
}

/** For good: a new one at the same address has another secret. What was sent stays in the operator's log. */
export async function removeEndpoint(unit: UnitOfWork, partnerId: string, endpointId: string): Promise<void> {
  await lockFurtherEndpoint(unit, partnerId, endpointId);
  unit.tx.defer(deleteEndpoint, [endpointId]);
  unit.tx.defer(deleteEndpointHealth, [endpointId]);
  unit.tx.defer(cancelPendingDeliveries, [endpointId, unit.at]);
}

/** Of the default endpoint too. The previous secret signs beside the new one for a day. */
export function rotateSecret(
  unit: UnitOfWork,
  sealer: Sealer,
  partnerId: string,
  endpointId: string,
): { secret: string; previous_secret_valid_until: string } {
  const secret = randomToken(TOKEN_PREFIX.webhookSecret);
  const until = new Date(unit.at.getTime() + SECRET_OVERLAP_MS);
  const sealed = sealer.seal(secret, secretContextOf(partnerId, endpointId));
  const rotate = endpointId === partnerId ? rotateWebhookSecret : rotateEndpointSecret;
  unit.tx.defer(rotate, [endpointId, sealed, until]);
  return { secret, previous_secret_valid_until: until.toISOString() };
}

/** Until the end of the unit nobody else changes the partner's endpoints. */
export async function lockAnyEndpoint(
  unit: UnitOfWork,
  partnerId: string,
  endpointId: string,
): Promise<EndpointRow> {
  unit.tx.defer(lockEndpointsOf, [partnerId]);
  return requireEndpoint(unit.tx, partnerId, endpointId);
}

async function lockFurtherEndpoint(
  unit: UnitOfWork,
  partnerId: string,
  endpointId: string,
): Promise<EndpointRow> {
  const row = await lockAnyEndpoint(unit, partnerId, endpointId);
  if (row.is_default) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'This is the default endpoint; change or remove it at /partner/webhooks.',
    });
  }
  return row;
}
