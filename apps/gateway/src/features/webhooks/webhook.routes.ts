import {
  CausewayError,
  MessageSchema,
  WebhookInput,
  WebhookParams,
  WebhookSchema,
  WebhookSecretSchema,
  WebhookTargetSchema,
  WebhookTestSchema,
} from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { type Database, partnerScope } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import { eventText } from '../../engine/outbox.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { announceLimit, limitPartner } from '../../http/access.ts';
import type { PartnerPrincipal, Principals } from '../../http/principals.ts';
import type { RateLimit } from '../../http/rate-limit.ts';
import { route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Sealer } from '../../lib/crypto.ts';
import type { IdGenerator } from '../../lib/ids.ts';
import { LOOKUPS_AN_ASKER, type NameResolver, TooManyLookups } from '../../lib/name-resolver.ts';
import { registerDeliveryRoutes } from './delivery.routes.ts';
import { cancelPendingDeliveries } from './delivery.store.ts';
import { registerEventRoutes } from './event.routes.ts';
import {
  disableWebhook,
  readWebhook,
  readWebhookTarget,
  resetEndpointFailures,
  setWebhook,
  type WebhookRow,
} from './webhook.store.ts';
import { type AddressPolicy, invalidUrl, judgeUrl, leadsToForbiddenAddress } from './webhook-address.ts';
import { healthView, rotateSecret } from './webhook-endpoint.ts';
import {
  type OpenSecrets,
  type SealedSecrets,
  secretContextOf,
  type WebhookSender,
} from './webhook-sender.ts';

export interface TestEventDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly sender: WebhookSender;
  readonly openSecrets: OpenSecrets;
}

/** The endpoint that a test event goes to. */
type TestTarget = SealedSecrets & {
  readonly endpoint_id: string;
  readonly url: string;
  readonly is_default: boolean;
  readonly api_version?: string;
};

async function testDefaultEndpoint(
  deps: TestEventDeps,
  partnerId: string,
): Promise<{ delivered: true; http_status: number }> {
  const [target] = await deps.db.query(partnerScope(partnerId), readWebhookTarget, [partnerId]);
  if (target === undefined || !target.webhook_enabled || target.webhook_url === null) {
    throw new CausewayError('WEBHOOK_NOT_CONFIGURED');
  }
  const { webhook_url: url, ...sealed } = target;
  return sendTestEvent(deps, partnerId, { ...sealed, url, endpoint_id: partnerId, is_default: true });
}

/**
 * Sends a signed event now and says what the endpoint answered. Why a connection failed is not told: an answer that
 * distinguished closed ports from silent hosts would be a scanner.
 */
export async function sendTestEvent(
  deps: TestEventDeps,
  partnerId: string,
  target: TestTarget,
): Promise<{ delivered: true; http_status: number }> {
  const at = deps.clock.date();
  const result = await deps.sender.send({
    url: target.url,
    secrets: deps.openSecrets(secretContextOf(partnerId, target.endpoint_id), target, at.getTime()),
    apiVersion: target.is_default ? null : (target.api_version ?? null),
    body: eventText({
      eventId: deps.ids.eventId(),
      eventType: 'webhook.test',
      at,
      data: { message: 'This is a test event.' },
    }),
  });
  if (result.kind === 'failed') throw new CausewayError('WEBHOOK_DELIVERY_FAILED', { details: {} });
  if (result.status < 200 || result.status > 299) {
    throw new CausewayError('WEBHOOK_DELIVERY_FAILED', { details: { http_status: result.status } });
  }
  return { delivered: true, http_status: result.status };
}

export function webhookView(row: WebhookRow | undefined, now: Date): Static<typeof WebhookSchema> {
  const until = row?.webhook_previous_secret_until ?? null;
  return {
    url: row?.webhook_url ?? null,
    enabled: row?.webhook_enabled ?? false,
    health: healthView(row),
    previous_secret_valid_until: until !== null && until > now ? until.toISOString() : null,
  };
}

export interface WebhookRouteDeps extends UnitDeps, TestEventDeps {
  readonly webhookPolicy: AddressPolicy;
  readonly names: NameResolver;
  readonly rateLimit: RateLimit;
  readonly sealer: Sealer;
  readonly listener: Listener;
  readonly principals: Principals;
}

type BeforeHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

const TAG = 'Webhooks';
const TESTS_A_MINUTE = 30;
/** A look-up takes no longer. */
const LOOKUPS_UNDER_WAY = {
  allowed: false,
  limit: LOOKUPS_AN_ASKER,
  remaining: 0,
  resetSeconds: 2,
} as const;

export function registerWebhookRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/webhooks',
    operationId: 'getWebhook',
    tag: TAG,
    summary: 'Get the webhook and its health',
    data: WebhookSchema,
    handle: async (_input, { partnerId }) => {
      const [row] = await deps.db.query(partnerScope(partnerId), readWebhook, [partnerId]);
      return webhookView(row, deps.clock.date());
    },
  });
  app.register(async (scope) => registerSetting(scope, deps));
  app.register(async (scope) => registerTest(scope, deps));
  registerRemoval(app, deps);
  registerRotation(app, deps);
  registerDeliveryRoutes(app, deps);
  registerEventRoutes(app, deps);
}

/** Looks at the URL of a body before the unit of work begins: a name is not looked up inside a transaction. */
export function checkUrl(deps: WebhookRouteDeps): BeforeHandler {
  return async (request, reply) => {
    const { webhookPolicy, names } = deps;
    const { partnerId } = request.principal as PartnerPrincipal;
    const judged = judgeUrl((request.body as { url: string }).url, webhookPolicy);
    if ('problem' in judged) throw invalidUrl(judged.problem);
    const isForbidden = await leadsToForbiddenAddress(judged.url, webhookPolicy, names, partnerId).catch(
      (error: unknown) => {
        throw error instanceof TooManyLookups ? announceLimit(reply, LOOKUPS_UNDER_WAY) : error;
      },
    );
    if (isForbidden) throw invalidUrl('address_not_allowed');
  };
}

function registerSetting(scope: FastifyInstance, deps: WebhookRouteDeps): void {
  scope.addHook('preHandler', checkUrl(deps));
  route(scope, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/webhooks',
    operationId: 'setWebhook',
    tag: TAG,
    summary: 'Set the webhook URL',
    description: 'HTTPS, to a public address, on port 443 or 8443. Delivery is switched on.',
    body: WebhookInput,
    data: WebhookTargetSchema,
    errors: ['INVALID_WEBHOOK_URL'],
    handle: ({ body: { url } }, { partnerId }, unit) => {
      unit.tx.defer(setWebhook, [partnerId, url]);
      unit.tx.defer(resetEndpointFailures, [partnerId]);
      return { url, enabled: true };
    },
  });
}

/** Shared by all endpoints of a partner. */
export const limitTests = ({ rateLimit }: WebhookRouteDeps): BeforeHandler =>
  limitPartner(rateLimit, 'webhook-test', TESTS_A_MINUTE);

function registerTest(scope: FastifyInstance, deps: WebhookRouteDeps): void {
  scope.addHook('preHandler', limitTests(deps));
  route(scope, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: '/api/v1/partner/webhooks/test',
    operationId: 'testWebhook',
    tag: TAG,
    summary: 'Send a test event',
    description: `Waits up to 10 seconds for the answer; at most ${TESTS_A_MINUTE} a minute.`,
    data: WebhookTestSchema,
    errors: ['WEBHOOK_NOT_CONFIGURED', 'WEBHOOK_DELIVERY_FAILED'],
    handle: (_input, partner) => testDefaultEndpoint(deps, partner.partnerId),
  });
}

function registerRemoval(app: FastifyInstance, deps: WebhookRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'DELETE',
    url: '/api/v1/partner/webhooks/:id',
    operationId: 'deleteWebhook',
    tag: TAG,
    summary: 'Disable the webhook',
    description:
      'Any id is accepted: a partner has one default webhook. What is still waiting for it is cancelled.',
    params: WebhookParams,
    data: MessageSchema,
    handle: (_input, { partnerId }, unit) => {
      unit.tx.defer(disableWebhook, [partnerId]);
      unit.tx.defer(cancelPendingDeliveries, [partnerId, unit.at]);
      return { message: 'Webhook delivery is disabled.' };
    },
  });
}

function registerRotation(app: FastifyInstance, deps: WebhookRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/webhooks/rotate-secret',
    operationId: 'rotateWebhookSecret',
    tag: TAG,
    summary: 'Rotate the webhook secret',
    description:
      'The new secret is shown here and never again. For 24 hours the previous one signs too, in X-Service-Signature-Previous. Send an Idempotency-Key, so that a lost answer can be repeated.',
    data: WebhookSecretSchema,
    handle: (_input, { partnerId }, unit) => rotateSecret(unit, deps.sealer, partnerId, partnerId),
  });
}
