import {
  CausewayError,
  DELIVERY_PENDING,
  type DeliveryListQuery,
  type DeliveryView,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, partnerScope } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import {
  type DeliveryRow,
  listDeliveries,
  listDeliveriesAbout,
  replayDelivery,
  replayLatest,
} from './delivery.store.ts';
import { readWebhookTarget } from './webhook.store.ts';

export function deliveryView(row: DeliveryRow): DeliveryView {
  return {
    id: row.delivery_id,
    event_id: row.event_id,
    event_type: row.event_type as DeliveryView['event_type'],
    subject_id: row.subject_id,
    status: row.status,
    attempts: row.attempt_log,
    next_attempt_at: row.status === DELIVERY_PENDING ? row.run_at.toISOString() : null,
    replay_of: row.replay_of,
    created_at: row.created_at.toISOString(),
  };
}

/** What was sent to a partner, and sending it again: for the partner itself and for an operator who helps it. */

const DEFAULT_LIMIT = 20;
/** What one call may send again; the answer says when there was more. */
const MAX_REPLAYED = 10_000;

export async function readDeliveries(
  db: Database,
  partnerId: string,
  query: Static<typeof DeliveryListQuery>,
): Promise<{ deliveries: DeliveryView[]; pagination: { limit: number; next_cursor: string | null } }> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const rows = await findDeliveries(db, partnerId, query, limit + 1);
  const page = rows.slice(0, limit);
  const next = rows.length > limit ? (page.at(-1)?.delivery_id ?? null) : null;
  return { deliveries: page.map(deliveryView), pagination: { limit, next_cursor: next } };
}

export async function replayOne(
  unit: UnitOfWork,
  partnerId: string,
  deliveryId: string,
): Promise<DeliveryView> {
  await requireWebhook(unit, partnerId);
  const [row] = await unit.tx.query(replayDelivery, [partnerId, deliveryId, unit.ids.uuid(), unit.at]);
  if (row === undefined) throw new CausewayError('DELIVERY_NOT_FOUND');
  return deliveryView(row);
}

/** The latest event of each type about each subject since this time: never the states that were overtaken. */
export async function replaySince(
  unit: UnitOfWork,
  partnerId: string,
  sinceText: string,
): Promise<{ replayed: number; has_more: boolean }> {
  const since = new Date(sinceText);
  await requireWebhook(unit, partnerId);
  const [row] = await unit.tx.query(replayLatest, [partnerId, since, unit.at, MAX_REPLAYED]);
  const replayed = row?.replayed ?? 0;
  return { replayed, has_more: replayed === MAX_REPLAYED };
}

function findDeliveries(
  db: Database,
  partnerId: string,
  query: Static<typeof DeliveryListQuery>,
  limit: number,
): Promise<DeliveryRow[]> {
  const { cursor = null, event_type = null, status = null, event_id = null, order_id = null } = query;
  const scope = partnerScope(partnerId);
  if (event_id === null && order_id === null) {
    return db.query(scope, listDeliveries, [partnerId, cursor, event_type, status, limit]);
  }
  return db.query(scope, listDeliveriesAbout, [
    partnerId,
    cursor,
    event_type,
    status,
    limit,
    event_id,
    order_id,
  ]);
}

async function requireWebhook(unit: UnitOfWork, partnerId: string): Promise<void> {
  const [target] = await unit.tx.query(readWebhookTarget, [partnerId]);
  if (!target?.webhook_enabled || target.webhook_url === null) {
    throw new CausewayError('WEBHOOK_NOT_CONFIGURED');
  }
}
