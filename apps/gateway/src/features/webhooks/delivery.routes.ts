import {
  CausewayError,
  DeliveryListQuery,
  DeliveryListSchema,
  DeliverySchema,
  Timestamp,
  Uuid,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { type Database, partnerScope } from '../../db/database.ts';
import type { UnitOfWork, UnitTools } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import { partnerMutation, partnerRoute } from '../../http/route.ts';
import { deliveryView } from './delivery.view.ts';
import {
  type DeliveryRow,
  listDeliveries,
  listDeliveriesAbout,
  replayDelivery,
  replayLatest,
} from './delivery-history.store.ts';
import { readWebhookTarget } from './webhook.store.ts';

const TAG = 'Webhooks';
const DEFAULT_LIMIT = 20;
/** What one call may send again; the answer says when there was more. */
const MAX_REPLAYED = 10_000;

export function registerDeliveryRoutes(app: FastifyInstance, tools: UnitTools): void {
  partnerRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/partner/webhooks/deliveries',
      operationId: 'listWebhookDeliveries',
      tag: TAG,
      summary: 'What was sent to you, attempt by attempt',
      description: 'Newest first.',
      query: DeliveryListQuery,
      data: DeliveryListSchema,
    },
    async ({ query }, { partnerId }) => {
      const limit = query.limit ?? DEFAULT_LIMIT;
      const rows = await findDeliveries(tools.db, partnerId, query, limit + 1);
      const page = rows.slice(0, limit);
      const next = rows.length > limit ? (page.at(-1)?.delivery_id ?? null) : null;
      return { deliveries: page.map(deliveryView), pagination: { limit, next_cursor: next } };
    },
  );

  partnerMutation(
    app,
    tools,
    {
      method: 'POST',
      url: '/api/v1/partner/webhooks/deliveries/:id/replay',
      operationId: 'replayWebhookDelivery',
      tag: TAG,
      summary: 'Send one event again',
      description: 'The same event_id and body, as a new delivery with attempts of its own.',
      params: Type.Object({ id: Uuid }),
      data: DeliverySchema,
      errors: ['DELIVERY_NOT_FOUND', 'WEBHOOK_NOT_CONFIGURED'],
    },
    async ({ params }, { partnerId }, unit) => {
      await requireWebhook(unit, partnerId);
      const [row] = await unit.tx.query(replayDelivery, [partnerId, params.id, unit.ids.uuid(), unit.at]);
      if (row === undefined) throw new CausewayError('DELIVERY_NOT_FOUND');
      return deliveryView(row);
    },
  );

  partnerMutation(
    app,
    tools,
    {
      method: 'POST',
      url: '/api/v1/partner/webhooks/replay',
      operationId: 'replayLatestEvents',
      tag: TAG,
      summary: 'Send the latest state again after an outage',
      description:
        'For every order and customer with events since this time, the latest event of each type: never the states that were overtaken.',
      body: Type.Object({ since: Timestamp }),
      data: Type.Object({ replayed: Type.Integer(), has_more: Type.Boolean() }),
      errors: ['WEBHOOK_NOT_CONFIGURED'],
    },
    async ({ body }, { partnerId }, unit) => {
      const since = new Date(body.since);
      if (Number.isNaN(since.getTime())) throw invalidRequest('since', 'must be a point in time');
      await requireWebhook(unit, partnerId);
      const [row] = await unit.tx.query(replayLatest, [partnerId, since, unit.at, MAX_REPLAYED]);
      const replayed = row?.replayed ?? 0;
      return { replayed, has_more: replayed === MAX_REPLAYED };
    },
  );
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
