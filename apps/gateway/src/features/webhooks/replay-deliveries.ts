import {
  ALL_EVENTS,
  type AttemptDetailView,
  CausewayError,
  DELIVERY_PENDING,
  type DeliveryDetailView,
  type DeliveryListQuery,
  type DeliveryView,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, partnerScope } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { AttemptLogEntry } from './delivery.store.ts';
import {
  type DeliveryRow,
  eraseAnswersAboutRecipient,
  eraseAnswersAboutUser,
  findDelivery,
  listAllDeliveries,
  listDefaultDeliveries,
  listDeliveriesAbout,
  listEndpointDeliveries,
  replayDelivery,
  replayLatest,
} from './delivery-log.store.ts';
import type { EndpointRow } from './webhook.store.ts';
import { findWebhookEndpoint } from './webhook-endpoint.ts';
import { requestHeaders } from './webhook-sender.ts';

/** What was sent to a partner, and sending it again: for the partner itself and for an operator who helps it. */

const DEFAULT_LIMIT = 20;
/** What one call may send again; the answer says when there was more. */
const MAX_REPLAYED = 10_000;
/** A list shows the beginning of an answer, one delivery all that is kept of it. */
const LISTED_CHARACTERS = 256;

export function deliveryView(row: DeliveryRow): DeliveryView {
  return {
    id: row.delivery_id,
    endpoint_id: endpointOf(row),
    event_id: row.event_id,
    event_type: row.event_type as DeliveryView['event_type'],
    subject_id: row.subject_id,
    status: row.status,
    attempts: row.attempt_log.map(attemptView),
    next_attempt_at: row.status === DELIVERY_PENDING ? row.run_at.toISOString() : null,
    replay_of: row.replay_of,
    body: row.body,
    created_at: row.created_at.toISOString(),
  };
}

const endpointOf = ({ endpoint_id, partner_id }: DeliveryRow) => endpoint_id ?? partner_id;

function attemptView({ at, http_status, duration_ms, error, response }: AttemptLogEntry) {
  const beginning = response?.slice(0, LISTED_CHARACTERS).toWellFormed() ?? null;
  return { at, http_status, duration_ms, error, response: beginning };
}

function attemptDetail(entry: AttemptLogEntry, apiVersion: string | null): AttemptDetailView {
  const { url, sent, response, response_headers = null, cut = false } = entry;
  return {
    ...attemptView(entry),
    request:
      url === undefined || sent === undefined
        ? null
        : { method: 'POST', url, headers: requestHeaders(sent, apiVersion) },
    response_headers,
    response_body: response,
    response_truncated: cut,
  };
}

/** The deliveries of one endpoint, the partner's id being that of its default one; of all where none is named. */
export async function readDeliveries(
  db: Database,
  partnerId: string,
  query: Static<typeof DeliveryListQuery>,
  endpointId: string | null,
): Promise<{ deliveries: DeliveryView[]; pagination: { limit: number; next_cursor: string | null } }> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const rows = await findDeliveries(db, partnerId, query, limit + 1, endpointId);
  const page = rows.slice(0, limit);
  const next = rows.length > limit ? (page.at(-1)?.delivery_id ?? null) : null;
  return { deliveries: page.map(deliveryView), pagination: { limit, next_cursor: next } };
}

/** One delivery with all that is kept of its attempts. */
export async function readDelivery(
  db: Database,
  partnerId: string,
  endpoint: EndpointRow,
  deliveryId: string,
): Promise<DeliveryDetailView> {
  const [row] = await db.query(partnerScope(partnerId), findDelivery, [partnerId, deliveryId]);
  if (row === undefined || endpointOf(row) !== endpoint.endpoint_id) {
    throw new CausewayError('DELIVERY_NOT_FOUND');
  }
  return {
    ...deliveryView(row),
    api_version: endpoint.api_version,
    attempts: row.attempt_log.map((entry) =>
      attemptDetail(entry, endpoint.is_default ? null : endpoint.api_version),
    ),
  };
}

/** Sends one event again to the endpoint it was for: to this one, or to whichever it was where none is named. */
export async function replayOne(
  unit: UnitOfWork,
  partnerId: string,
  deliveryId: string,
  endpointId: string | null,
): Promise<DeliveryView> {
  if (endpointId !== null) await requireEnabled(unit, partnerId, endpointId);
  const [sent] = await unit.tx.query(findDelivery, [partnerId, deliveryId]);
  if (sent === undefined || (endpointId !== null && endpointOf(sent) !== endpointId)) {
    throw new CausewayError('DELIVERY_NOT_FOUND');
  }
  if (endpointId === null) await requireEnabled(unit, partnerId, endpointOf(sent));
  const [row] = await unit.tx.query(replayDelivery, [partnerId, deliveryId, unit.ids.uuid(), unit.at]);
  if (row === undefined) throw new CausewayError('DELIVERY_NOT_FOUND');
  return deliveryView(row);
}

/** The latest event of each type about each subject since this time: never the states that were overtaken. */
export async function replaySince(
  unit: UnitOfWork,
  partnerId: string,
  sinceText: string,
  endpointId: string,
): Promise<{ replayed: number; has_more: boolean }> {
  const { events, is_default } = await requireEnabled(unit, partnerId, endpointId);
  const [row] = await unit.tx.query(replayLatest, [
    partnerId,
    new Date(sinceText),
    unit.at,
    MAX_REPLAYED,
    is_default ? null : endpointId,
    events.includes(ALL_EVENTS) ? null : events,
  ]);
  const replayed = row?.replayed ?? 0;
  return { replayed, has_more: replayed === MAX_REPLAYED };
}

function findDeliveries(
  db: Database,
  partnerId: string,
  query: Static<typeof DeliveryListQuery>,
  limit: number,
  endpointId: string | null,
): Promise<DeliveryRow[]> {
  const { cursor = null, event_type = null, status = null, event_id = null, order_id = null } = query;
  const scope = partnerScope(partnerId);
  const filters = [partnerId, cursor, event_type, status, limit] as const;
  if (event_id !== null || order_id !== null) {
    return db.query(scope, listDeliveriesAbout, [...filters, event_id, order_id, endpointId]);
  }
  if (endpointId === null) return db.query(scope, listAllDeliveries, [...filters]);
  if (endpointId === partnerId) return db.query(scope, listDefaultDeliveries, [...filters]);
  return db.query(scope, listEndpointDeliveries, [...filters, endpointId]);
}

/** What endpoints answered to events about a person: it may name the person, and is kept in clear. */
export function eraseAnswersOfReceivers(
  unit: UnitOfWork,
  person: { readonly userId: string } | { readonly recipientId: string },
): void {
  if ('userId' in person) unit.tx.defer(eraseAnswersAboutUser, [person.userId]);
  else unit.tx.defer(eraseAnswersAboutRecipient, [person.recipientId]);
}

/** The default endpoint is as good as none until it has an address. */
async function requireEnabled(unit: UnitOfWork, partnerId: string, endpointId: string): Promise<EndpointRow> {
  const endpoint = await findWebhookEndpoint(unit.tx, partnerId, endpointId);
  if (endpoint?.enabled) return endpoint;
  if (endpoint === undefined || endpoint.is_default) throw new CausewayError('WEBHOOK_NOT_CONFIGURED');
  throw new CausewayError('WEBHOOK_NOT_CONFIGURED', { message: 'The webhook endpoint is disabled.' });
}
