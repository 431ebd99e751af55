import {
  EffectListSchema,
  EffectParams,
  EffectQuery,
  EffectSchema,
  OPERATOR_TAG,
  pageOf,
  ReasonInput,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import { stuckIntents } from '../../../engine/stuck-intents.store.ts';
import type { UnitDeps } from '../../../engine/unit-of-work.ts';
import { route } from '../../../http/route.ts';
import type { OrderAdapters } from '../../orders/lifecycle/order.adapter.ts';
import { type EffectRemedy, effectView, lateBefore, remedyEffect } from './stuck-effects.ts';

export interface EffectRouteDeps extends UnitDeps {
  readonly orderAdapters: OrderAdapters;
}

/** Effects that left the process, or should have, and need a person. */
export function registerEffectRoutes(app: FastifyInstance, deps: EffectRouteDeps): void {
  registerList(app, deps);
  registerRemedy(app, deps, 'retry', 'retryEffect', 'Retry an effect', [
    'An effect under way is checked, never repeated. After a failure that its order has acted on, release the order’s hold instead.',
  ]);
  registerRemedy(app, deps, 'give-up', 'giveUpEffect', 'Give up an effect, or close a failed one', [
    'Only where it certainly has not happened and no longer can. Its order is notified, and held for review where crypto is at stake.',
  ]);
}

function registerList(app: FastifyInstance, deps: EffectRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/effects',
    operationId: 'listStuckEffects',
    tag: OPERATOR_TAG,
    summary: 'List stuck effects: failed, unknown or late; newest first',
    description:
      'Calls to chains, banks, bridges and providers, each with its last error. Failed effects that were started again are left out.',
    query: EffectQuery,
    data: EffectListSchema,
    handle: async ({ query }) => {
      const { state = null, kind = null, order_id = null, partner_id = null, cursor = null, limit } = query;
      const rows = await deps.db.query(SYSTEM, stuckIntents, [
        lateBefore(deps.clock.date()),
        state,
        kind,
        order_id?.toLowerCase() ?? null,
        partner_id,
        cursor,
        limit + 1,
      ]);
      const { page, pagination } = pageOf(rows, limit, (row) => row.intent_id);
      return { effects: page.map(effectView), pagination };
    },
  });
}

function registerRemedy(
  app: FastifyInstance,
  deps: EffectRouteDeps,
  remedy: EffectRemedy,
  operationId: string,
  summary: string,
  [description]: readonly [string],
): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `/api/v1/operator/effects/:effect_id/${remedy}`,
    operationId,
    tag: OPERATOR_TAG,
    summary,
    description,
    params: EffectParams,
    body: ReasonInput,
    data: EffectSchema,
    errors: ['EFFECT_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, operator, unit) => {
      const { before, after } = await remedyEffect(unit, deps.orderAdapters, params.effect_id, remedy);
      recordAction(unit, operator, {
        action: `effect.${remedy}`,
        // Under its order, where it has one: one look shows all that was done about it.
        subject: after.order_id === null ? `effects/${after.intent_id}` : `orders/${after.order_id}`,
        reason: body.reason,
        before: { effect_id: before.intent_id, kind: before.kind, status: before.status },
        after: { effect_id: after.intent_id, status: after.status },
      });
      return effectView(after);
    },
  });
}
