import { CausewayError } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { partnerScope } from '../../db/database.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { partnerMutation, partnerRoute } from '../../http/route.ts';
import { disableWebhook, readWebhook, setWebhook } from './webhook.store.ts';
import { type AddressPolicy, judgeUrl } from './webhook-address.ts';

const WebhookSchema = Type.Object({
  url: Type.Union([Type.String(), Type.Null()]),
  enabled: Type.Boolean(),
});

export function registerWebhookRoutes(
  app: FastifyInstance,
  tools: UnitTools & { readonly webhookPolicy: AddressPolicy },
): void {
  partnerRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/partner/webhooks',
      operationId: 'getWebhook',
      tag: 'Webhooks',
      summary: 'Read where your events go',
      data: WebhookSchema,
    },
    async (_input, partner) => {
      const [row] = await tools.db.query(partnerScope(partner.partnerId), readWebhook, [partner.partnerId]);
      return { url: row?.webhook_url ?? null, enabled: row?.webhook_enabled ?? false };
    },
  );

  partnerMutation(
    app,
    tools,
    {
      method: 'POST',
      url: '/api/v1/partner/webhooks',
      operationId: 'setWebhook',
      tag: 'Webhooks',
      summary: 'Set where your events go',
      description: 'HTTPS, to a public address. Delivery is switched on.',
      body: Type.Object({ url: Type.String({ minLength: 1, maxLength: 2048 }) }),
      data: WebhookSchema,
      errors: ['INVALID_WEBHOOK_URL'],
    },
    ({ body }, partner, unit) => {
      const judged = judgeUrl(body.url, tools.webhookPolicy);
      if ('problem' in judged) throw new CausewayError('INVALID_WEBHOOK_URL');
      unit.tx.defer(setWebhook, [partner.partnerId, judged.url.href]);
      return { url: judged.url.href, enabled: true };
    },
  );

  partnerMutation(
    app,
    tools,
    {
      method: 'DELETE',
      url: '/api/v1/partner/webhooks/:id',
      operationId: 'deleteWebhook',
      tag: 'Webhooks',
      summary: 'Stop deliveries',
      description: 'Any id is accepted: a partner has one webhook.',
      params: Type.Object({ id: Type.String({ maxLength: 512 }) }),
      data: Type.Object({ message: Type.String() }),
    },
    (_input, partner, unit) => {
      unit.tx.defer(disableWebhook, [partner.partnerId]);
      return { message: 'Webhook delivery is disabled.' };
    },
  );
}
