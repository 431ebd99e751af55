import { CausewayError, Timestamp, WebhookSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { partnerScope } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { announceLimit } from '../../http/access.ts';
import type { PartnerPrincipal, Principals } from '../../http/principals.ts';
import type { RateLimit } from '../../http/rate-limit.ts';
import { partnerAction, partnerMutation, partnerRoute } from '../../http/route.ts';
import { randomToken, type Sealer, TOKEN_PREFIX } from '../../lib/crypto.ts';
import { LOOKUPS_AN_ASKER, type NameResolver, TooManyLookups } from '../../lib/name-resolver.ts';
import { registerDeliveryRoutes } from './delivery.routes.ts';
import { registerEventRoutes } from './event.routes.ts';
import { sendTestEvent, type TestEventTools } from './send-test-event.ts';
import {
  cancelPendingDeliveries,
  disableWebhook,
  forgetEndpointFailures,
  readWebhook,
  rotateWebhookSecret,
  setWebhook,
} from './webhook.store.ts';
import { webhookView } from './webhook.view.ts';
import { type AddressPolicy, judgeUrl, leadsToForbiddenAddress } from './webhook-address.ts';
import { webhookSecretContext } from './webhook-secret.ts';

export interface WebhookRouteTools extends UnitTools, TestEventTools {
  readonly webhookPolicy: AddressPolicy;
  readonly names: NameResolver;
  readonly rateLimit: RateLimit;
  readonly sealer: Sealer;
  readonly listener: Listener;
  readonly principals: Principals;
}

const TAG = 'Webhooks';
const TESTS_A_MINUTE = 10;
/** A look-up takes no longer. */
const LOOKUPS_UNDER_WAY = {
  allowed: false,
  limit: LOOKUPS_AN_ASKER,
  remaining: 0,
  resetSeconds: 2,
} as const;
const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1_000;

export function registerWebhookRoutes(app: FastifyInstance, tools: WebhookRouteTools): void {
  partnerRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/partner/webhooks',
      operationId: 'getWebhook',
      tag: TAG,
      summary: 'Read where your events go and how the endpoint is doing',
      data: WebhookSchema,
    },
    async (_input, { partnerId }) => {
      const [row] = await tools.db.query(partnerScope(partnerId), readWebhook, [partnerId]);
      return webhookView(row, tools.clock.date());
    },
  );
  app.register(async (scope) => registerSetting(scope, tools));
  app.register(async (scope) => registerTest(scope, tools));
  registerRemoval(app, tools);
  registerRotation(app, tools);
  registerDeliveryRoutes(app, tools);
  registerEventRoutes(app, tools);
}

function registerSetting(scope: FastifyInstance, tools: WebhookRouteTools): void {
  // Before the unit of work begins: a name is not looked up inside a transaction.
  scope.addHook('preHandler', async (request, reply) => {
    const { webhookPolicy, names } = tools;
    const { partnerId } = request.principal as PartnerPrincipal;
    const judged = judgeUrl((request.body as { url: string }).url, webhookPolicy);
    if ('problem' in judged) throw new CausewayError('INVALID_WEBHOOK_URL');
    const isForbidden = await leadsToForbiddenAddress(judged.url, webhookPolicy, names, partnerId).catch(
      (error: unknown) => {
        throw error instanceof TooManyLookups ? announceLimit(reply, LOOKUPS_UNDER_WAY) : error;
      },
    );
    if (isForbidden) throw new CausewayError('INVALID_WEBHOOK_URL');
  });
  partnerMutation(
    scope,
    tools,
    {
      method: 'POST',
      url: '/api/v1/partner/webhooks',
      operationId: 'setWebhook',
      tag: TAG,
      summary: 'Set where your events go',
      description: 'HTTPS, to a public address, on port 443 or 8443. Delivery is switched on.',
      body: Type.Object({ url: Type.String({ minLength: 1, maxLength: 2048 }) }),
      data: Type.Object({ url: Type.String(), enabled: Type.Boolean() }),
      errors: ['INVALID_WEBHOOK_URL'],
    },
    ({ body }, { partnerId }, unit) => {
      const url = new URL(body.url).href;
      unit.tx.defer(setWebhook, [partnerId, url]);
      unit.tx.defer(forgetEndpointFailures, [partnerId]);
      return { url, enabled: true };
    },
  );
}

function registerTest(scope: FastifyInstance, tools: WebhookRouteTools): void {
  scope.addHook('preHandler', async (request, reply) => {
    const { partnerId } = request.principal as PartnerPrincipal;
    const verdict = await tools.rateLimit.take(`webhook-test:${partnerId}`, TESTS_A_MINUTE);
    if (verdict.allowed) return;
    throw announceLimit(reply, verdict);
  });
  partnerAction(
    scope,
    tools,
    {
      method: 'POST',
      url: '/api/v1/partner/webhooks/test',
      operationId: 'testWebhook',
      tag: TAG,
      summary: 'Send a signed test event now',
      description: `Waits up to 10 seconds for the answer; at most ${TESTS_A_MINUTE} a minute.`,
      data: Type.Object({ delivered: Type.Boolean(), http_status: Type.Integer() }),
      errors: ['WEBHOOK_NOT_CONFIGURED', 'WEBHOOK_DELIVERY_FAILED'],
    },
    (_input, partner) => sendTestEvent(tools, partner.partnerId),
  );
}

function registerRemoval(app: FastifyInstance, tools: WebhookRouteTools): void {
  partnerMutation(
    app,
    tools,
    {
      method: 'DELETE',
      url: '/api/v1/partner/webhooks/:id',
      operationId: 'deleteWebhook',
      tag: TAG,
      summary: 'Stop deliveries',
      description: 'Any id is accepted: a partner has one webhook. What is still waiting is cancelled.',
      params: Type.Object({ id: Type.String({ maxLength: 512 }) }),
      data: Type.Object({ message: Type.String() }),
    },
    (_input, { partnerId }, unit) => {
      unit.tx.defer(disableWebhook, [partnerId]);
      unit.tx.defer(cancelPendingDeliveries, [partnerId, unit.at]);
      return { message: 'Webhook delivery is disabled.' };
    },
  );
}

function registerRotation(app: FastifyInstance, tools: WebhookRouteTools): void {
  partnerMutation(
    app,
    tools,
    {
      method: 'POST',
      url: '/api/v1/partner/webhooks/rotate-secret',
      operationId: 'rotateWebhookSecret',
      tag: TAG,
      summary: 'Replace the secret that signs your events',
      description:
        'The new secret is shown here and never again. For 24 hours the previous one signs too, in X-Service-Signature-Previous. Send an Idempotency-Key, so that a lost answer can be asked for again.',
      data: Type.Object({ secret: Type.String(), previous_secret_valid_until: Timestamp }),
    },
    (_input, { partnerId }, unit) => {
      const secret = randomToken(TOKEN_PREFIX.webhookSecret);
      const until = new Date(unit.at.getTime() + SECRET_OVERLAP_MS);
      const sealed = tools.sealer.seal(secret, webhookSecretContext(partnerId));
      unit.tx.defer(rotateWebhookSecret, [partnerId, sealed, until]);
      return { secret, previous_secret_valid_until: until.toISOString() };
    },
  );
}
