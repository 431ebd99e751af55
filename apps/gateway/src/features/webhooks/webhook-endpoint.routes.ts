import {
  DeliveryDetailSchema,
  DeliveryListQuery,
  DeliveryListSchema,
  DeliverySchema,
  EndpointDeliveryParams,
  MAX_WEBHOOK_ENDPOINTS,
  MessageSchema,
  ReplayInput,
  ReplaySchema,
  WebhookEndpointChange,
  WebhookEndpointCreatedSchema,
  WebhookEndpointInput,
  WebhookEndpointListSchema,
  WebhookEndpointParams,
  WebhookEndpointSchema,
  WebhookSecretSchema,
  WebhookTestSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { partnerScope, reading } from '../../db/database.ts';
import { route } from '../../http/route.ts';
import { limitReplays, REPLAYS_A_MINUTE } from './delivery.routes.ts';
import { readDeliveries, readDelivery, replayOne, replaySince } from './replay-deliveries.ts';
import { checkUrl, limitTests, sendTestEvent, type WebhookRouteDeps } from './webhook.routes.ts';
import {
  changeEndpoint,
  createEndpoint,
  endpointView,
  listWebhookEndpoints,
  lockAnyEndpoint,
  removeEndpoint,
  requireEndpoint,
  rotateSecret,
} from './webhook-endpoint.ts';

const TAG = 'Webhooks';
const ENDPOINTS = '/api/v1/partner/webhook-endpoints';
const ENDPOINT = `${ENDPOINTS}/:endpoint_id`;

/** Further webhook endpoints. The default one is among them to be read, tested and replayed to. */
export function registerWebhookEndpointRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  registerReads(app, deps);
  app.register(async (scope) => registerCreation(scope, deps));
  app.register(async (scope) => registerChange(scope, deps));
  app.register(async (scope) => registerTest(scope, deps));
  registerRemovalAndRotation(app, deps);
  registerLog(app, deps);
  registerReplay(app, deps);
  app.register(async (scope) => registerReplaySince(scope, deps));
}

function registerReads(app: FastifyInstance, { db, clock }: WebhookRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: ENDPOINTS,
    operationId: 'listWebhookEndpoints',
    tag: TAG,
    summary: 'List webhook endpoints',
    description: 'The default endpoint of /partner/webhooks first, once it has an address.',
    data: WebhookEndpointListSchema,
    handle: async (_input, { partnerId }) => {
      const rows = await listWebhookEndpoints(reading(db, partnerScope(partnerId)), partnerId);
      return { endpoints: rows.map((row) => endpointView(row, clock.date())) };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: ENDPOINT,
    operationId: 'getWebhookEndpoint',
    tag: TAG,
    summary: 'Get a webhook endpoint and its health',
    params: WebhookEndpointParams,
    data: WebhookEndpointSchema,
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
    handle: async ({ params }, { partnerId }) => {
      const reads = reading(db, partnerScope(partnerId));
      return endpointView(await requireEndpoint(reads, partnerId, params.endpoint_id), clock.date());
    },
  });
}

function registerCreation(scope: FastifyInstance, deps: WebhookRouteDeps): void {
  scope.addHook('preHandler', checkUrl(deps));
  route(scope, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: ENDPOINTS,
    operationId: 'createWebhookEndpoint',
    tag: TAG,
    summary: 'Create a webhook endpoint',
    description: `Up to ${MAX_WEBHOOK_ENDPOINTS} beside the default one. Each gets every event that its filter names, with the same event_id, signed with its own secret, which is shown here and never again. Send an Idempotency-Key, so that a lost answer can be repeated.`,
    body: WebhookEndpointInput,
    data: WebhookEndpointCreatedSchema,
    errors: ['INVALID_WEBHOOK_URL', 'OPERATION_NOT_ALLOWED'],
    handle: ({ body }, { partnerId }, unit) => createEndpoint(unit, deps.sealer, partnerId, body),
  });
}

function registerChange(scope: FastifyInstance, deps: WebhookRouteDeps): void {
  const check = checkUrl(deps);
  scope.addHook('preHandler', async (request, reply) => {
    if ((request.body as { url?: string }).url !== undefined) await check(request, reply);
  });
  route(scope, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'PATCH',
    url: ENDPOINT,
    operationId: 'changeWebhookEndpoint',
    tag: TAG,
    summary: 'Update a webhook endpoint’s address, filter or switch',
    description:
      'What is not sent stays as it is. A filter applies to events from now on; disabling cancels what is still waiting.',
    params: WebhookEndpointParams,
    body: WebhookEndpointChange,
    data: WebhookEndpointSchema,
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'INVALID_WEBHOOK_URL', 'OPERATION_NOT_ALLOWED'],
    handle: ({ params, body }, { partnerId }, unit) =>
      changeEndpoint(unit, partnerId, params.endpoint_id, body),
  });
}

function registerRemovalAndRotation(app: FastifyInstance, deps: WebhookRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'DELETE',
    url: ENDPOINT,
    operationId: 'deleteWebhookEndpoint',
    tag: TAG,
    summary: 'Delete a webhook endpoint',
    description: 'What is still waiting is cancelled. The default endpoint is removed at /partner/webhooks.',
    params: WebhookEndpointParams,
    data: MessageSchema,
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params }, { partnerId }, unit) => {
      await removeEndpoint(unit, partnerId, params.endpoint_id);
      return { message: 'The webhook endpoint is deleted.' };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${ENDPOINT}/rotate-secret`,
    operationId: 'rotateWebhookEndpointSecret',
    tag: TAG,
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'The new secret is shown here and never again. For 24 hours the previous one signs too, in X-Service-Signature-Previous. Send an Idempotency-Key, so that a lost answer can be repeated.',
    params: WebhookEndpointParams,
    data: WebhookSecretSchema,
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
    handle: async ({ params }, { partnerId }, unit) => {
      await lockAnyEndpoint(unit, partnerId, params.endpoint_id);
      return rotateSecret(unit, deps.sealer, partnerId, params.endpoint_id);
    },
  });
}

function registerTest(scope: FastifyInstance, deps: WebhookRouteDeps): void {
  scope.addHook('preHandler', limitTests(deps));
  route(scope, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: `${ENDPOINT}/test`,
    operationId: 'testWebhookEndpoint',
    tag: TAG,
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Whatever its filter, and also while it is disabled. Counts as a test of /partner/webhooks/test; waits up to 10 seconds for the answer.',
    params: WebhookEndpointParams,
    data: WebhookTestSchema,
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'WEBHOOK_DELIVERY_FAILED'],
    handle: async ({ params }, { partnerId }) => {
      const reads = reading(deps.db, partnerScope(partnerId));
      const endpoint = await requireEndpoint(reads, partnerId, params.endpoint_id);
      return sendTestEvent(deps, partnerId, endpoint);
    },
  });
}

function registerLog(app: FastifyInstance, { db }: WebhookRouteDeps): void {
  const endpointOf = (partnerId: string, endpointId: string) =>
    requireEndpoint(reading(db, partnerScope(partnerId)), partnerId, endpointId);

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: `${ENDPOINT}/deliveries`,
    operationId: 'listWebhookEndpointDeliveries',
    tag: TAG,
    summary: 'List deliveries to a webhook endpoint',
    description: 'Newest first, with the body that was sent and every attempt.',
    params: WebhookEndpointParams,
    query: DeliveryListQuery,
    data: DeliveryListSchema,
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
    handle: async ({ params, query }, { partnerId }) => {
      const { endpoint_id: endpointId } = await endpointOf(partnerId, params.endpoint_id);
      return readDeliveries(db, partnerId, query, endpointId);
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: `${ENDPOINT}/deliveries/:delivery_id`,
    operationId: 'getWebhookEndpointDelivery',
    tag: TAG,
    summary: 'Get a delivery with the request and the response of each attempt',
    params: EndpointDeliveryParams,
    data: DeliveryDetailSchema,
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
    handle: async ({ params }, { partnerId }) => {
      const endpoint = await endpointOf(partnerId, params.endpoint_id);
      return readDelivery(db, partnerId, endpoint, params.delivery_id);
    },
  });
}

function registerReplay(app: FastifyInstance, deps: WebhookRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${ENDPOINT}/deliveries/:delivery_id/replay`,
    operationId: 'replayWebhookEndpointDelivery',
    tag: TAG,
    summary: 'Replay a delivery to its webhook endpoint',
    description: 'The same event_id and body, as a new delivery with attempts of its own.',
    params: EndpointDeliveryParams,
    data: DeliverySchema,
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'DELIVERY_NOT_FOUND', 'WEBHOOK_NOT_CONFIGURED'],
    handle: async ({ params }, { partnerId }, unit) => {
      await requireEndpoint(unit.tx, partnerId, params.endpoint_id);
      return replayOne(unit, partnerId, params.delivery_id, params.endpoint_id);
    },
  });
}

function registerReplaySince(scope: FastifyInstance, deps: WebhookRouteDeps): void {
  scope.addHook('preHandler', limitReplays(deps.rateLimit));
  route(scope, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${ENDPOINT}/replay`,
    operationId: 'replayLatestEventsToEndpoint',
    tag: TAG,
    summary: 'Replay the latest events to a webhook endpoint after an outage',
    description: `For every order and customer with events since this time, the latest event of each type that its filter names: superseded states are left out, and what still waits is sent at once. At most ${REPLAYS_A_MINUTE} a minute.`,
    params: WebhookEndpointParams,
    body: ReplayInput,
    data: ReplaySchema,
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'WEBHOOK_NOT_CONFIGURED'],
    handle: async ({ params, body }, { partnerId }, unit) => {
      await requireEndpoint(unit.tx, partnerId, params.endpoint_id);
      return replaySince(unit, partnerId, body.since, params.endpoint_id);
    },
  });
}
