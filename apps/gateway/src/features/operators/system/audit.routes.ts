import {
  AuditListSchema,
  AuditQuery,
  CausewayError,
  DeliveryListQuery,
  DeliveryListSchema,
  DeliverySchema,
  OPERATOR_TAG,
  OperatorReplayInput,
  PartnerDeliveryParams,
  PartnerParams,
  ReasonInput,
  ReplaySchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { type Database, type Reading, reading, SYSTEM } from '../../../db/database.ts';
import { type AuditFilters, countAudit, listAudit, recordAction } from '../../../engine/audit.ts';
import type { UnitDeps } from '../../../engine/unit-of-work.ts';
import { route } from '../../../http/route.ts';
import { readDeliveries, replayOne, replaySince } from '../../webhooks/replay-deliveries.ts';
import { findPartner } from '../accounts/accounts.store.ts';

export function registerAuditRoutes(app: FastifyInstance, { db }: { readonly db: Database }): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/audit',
    operationId: 'listAudit',
    tag: OPERATOR_TAG,
    summary: 'List the audit log, newest first',
    query: AuditQuery,
    data: AuditListSchema,
    handle: async ({ query }) => {
      const { limit, offset } = query;
      const filters: AuditFilters = [
        query.subject ?? null,
        query.action ?? null,
        query.actor ?? null,
        query.search ?? null,
        query.from === undefined ? null : new Date(query.from),
        query.to === undefined ? null : new Date(query.to),
      ];
      const [rows, [count]] = await db.transaction(SYSTEM, (tx) =>
        tx.queryBoth(listAudit, [...filters, limit, offset], countAudit, filters),
      );
      return {
        entries: rows.map((row) => ({ ...row, at: row.at.toISOString() })),
        pagination: { total: Number(count?.total ?? 0), limit, offset },
      };
    },
  });
}

const WEBHOOKS = '/api/v1/operator/partners/:partner_id/webhooks';

/** For a partner whose endpoint was down and who cannot, or does not know how to, catch up itself. */
export function registerWebhookReplayRoutes(app: FastifyInstance, deps: UnitDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: `${WEBHOOKS}/deliveries`,
    operationId: 'listPartnerDeliveries',
    tag: OPERATOR_TAG,
    summary: 'List webhook deliveries to a partner, newest first',
    params: PartnerParams,
    query: DeliveryListQuery,
    data: DeliveryListSchema,
    errors: ['PARTNER_NOT_FOUND'],
    handle: async ({ params, query }) => {
      await requirePartner(reading(deps.db, SYSTEM), params.partner_id);
      return readDeliveries(deps.db, params.partner_id, query, null);
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${WEBHOOKS}/deliveries/:delivery_id/replay`,
    operationId: 'replayPartnerDelivery',
    tag: OPERATOR_TAG,
    summary: 'Replay one webhook delivery to a partner',
    description: 'The same event_id and body, as a new delivery with attempts of its own.',
    params: PartnerDeliveryParams,
    body: ReasonInput,
    data: DeliverySchema,
    errors: ['PARTNER_NOT_FOUND', 'DELIVERY_NOT_FOUND', 'WEBHOOK_NOT_CONFIGURED'],
    handle: async ({ params: { partner_id: partnerId, delivery_id: deliveryId }, body }, operator, unit) => {
      await requirePartner(unit.tx, partnerId);
      const delivery = await replayOne(unit, partnerId, deliveryId, null);
      recordAction(unit, operator, {
        action: 'webhook.replay',
        subject: `partners/${partnerId}`,
        reason: body.reason,
        after: { replay_of: deliveryId, delivery_id: delivery.id, event_id: delivery.event_id },
      });
      return delivery;
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${WEBHOOKS}/replay`,
    operationId: 'replayPartnerEvents',
    tag: OPERATOR_TAG,
    summary: 'Replay the latest events to a partner after an outage',
    description:
      'For every order and customer with events since this time, the latest event of each type: superseded states are left out.',
    params: PartnerParams,
    body: OperatorReplayInput,
    data: ReplaySchema,
    errors: ['PARTNER_NOT_FOUND', 'WEBHOOK_NOT_CONFIGURED'],
    handle: async ({ params: { partner_id: partnerId }, body }, operator, unit) => {
      await requirePartner(unit.tx, partnerId);
      const done = await replaySince(unit, partnerId, body.since, partnerId);
      recordAction(unit, operator, {
        action: 'webhook.replay',
        subject: `partners/${partnerId}`,
        reason: body.reason,
        after: { since: body.since, replayed: done.replayed },
      });
      return done;
    },
  });
}

async function requirePartner(reads: Reading, partnerId: string): Promise<void> {
  const [row] = await reads.query(findPartner, [partnerId]);
  if (row === undefined) throw new CausewayError('PARTNER_NOT_FOUND');
}
