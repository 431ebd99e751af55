import {
  DeliveryListQuery,
  DeliveryListSchema,
  DeliveryParams,
  DeliverySchema,
  ReplayInput,
  ReplaySchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { limitPartner } from '../../http/access.ts';
import type { RateLimit } from '../../http/rate-limit.ts';
import { route } from '../../http/route.ts';
import { readDeliveries, replayOne, replaySince } from './replay-deliveries.ts';

const TAG = 'Webhooks';
export const REPLAYS_A_MINUTE = 10;

/** One call may write ten thousand deliveries. Shared by all endpoints of a partner. */
export const limitReplays = (rateLimit: RateLimit) =>
  limitPartner(rateLimit, 'webhook-replay', REPLAYS_A_MINUTE);

interface DeliveryRouteDeps extends UnitDeps {
  readonly rateLimit: RateLimit;
}

export function registerDeliveryRoutes(app: FastifyInstance, deps: DeliveryRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/webhooks/deliveries',
    operationId: 'listWebhookDeliveries',
    tag: TAG,
    summary: 'List webhook deliveries',
    description:
      'Those to the default endpoint, newest first, with the body that was sent and every attempt. /partner/webhook-endpoints has the log of each endpoint, with requests and responses.',
    query: DeliveryListQuery,
    data: DeliveryListSchema,
    handle: ({ query }, { partnerId }) => readDeliveries(deps.db, partnerId, query, partnerId),
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/webhooks/deliveries/:id/replay',
    operationId: 'replayWebhookDelivery',
    tag: TAG,
    summary: 'Replay a webhook delivery',
    description: 'The same event_id and body, as a new delivery with attempts of its own.',
    params: DeliveryParams,
    data: DeliverySchema,
    errors: ['DELIVERY_NOT_FOUND', 'WEBHOOK_NOT_CONFIGURED'],
    handle: ({ params }, { partnerId }, unit) => replayOne(unit, partnerId, params.id, partnerId),
  });
  app.register(async (scope) => registerReplaySince(scope, deps));
}

function registerReplaySince(scope: FastifyInstance, deps: DeliveryRouteDeps): void {
  scope.addHook('preHandler', limitReplays(deps.rateLimit));
  route(scope, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/webhooks/replay',
    operationId: 'replayLatestEvents',
    tag: TAG,
    summary: 'Replay the latest events after an outage',
    description: `For every order and customer with events since this time, the latest event of each type: superseded states are left out, and what still waits is sent at once. At most ${REPLAYS_A_MINUTE} a minute.`,
    body: ReplayInput,
    data: ReplaySchema,
    errors: ['WEBHOOK_NOT_CONFIGURED'],
    handle: ({ body }, { partnerId }, unit) => replaySince(unit, partnerId, body.since, partnerId),
  });
}
