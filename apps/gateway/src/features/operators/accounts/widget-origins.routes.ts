import { OPERATOR_TAG, PartnerParams, WidgetOriginsInput, WidgetOriginsSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { reading, SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import { route } from '../../../http/route.ts';
import { NO_REASON, seeChangedKeys } from '../../api-keys/keys.ts';
import { changeOrigins, ORIGINS_CHANGED, originsOfPartner } from '../../widget/change-origins.ts';
import type { KeyRouteDeps } from './keys.routes.ts';

const URL = '/api/v1/operator/partners/:partner_id/widget-origins';

/** Whose pages may show a partner’s widget. */
export function registerWidgetOriginRoutes(app: FastifyInstance, deps: KeyRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: URL,
    operationId: 'getWidgetOrigins',
    tag: OPERATOR_TAG,
    summary: 'Get the origins that may show a partner’s widget',
    params: PartnerParams,
    data: WidgetOriginsSchema,
    errors: ['PARTNER_NOT_FOUND'],
    handle: async ({ params }) => {
      return { origins: [...(await originsOfPartner(reading(deps.db, SYSTEM), params.partner_id))] };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'PUT',
    url: URL,
    operationId: 'setWidgetOrigins',
    tag: OPERATOR_TAG,
    summary: 'Set the origins that may show a partner’s widget',
    description:
      'Replaces all of them, in force everywhere within a second. Scheme, host and port, https only outside a sandbox; `https://*.shop.example` is every subdomain. Without an origin no page can embed it; the hosted page works all the same.',
    params: PartnerParams,
    body: WidgetOriginsInput,
    data: WidgetOriginsSchema,
    errors: ['PARTNER_NOT_FOUND'],
    handle: async ({ params, body }, operator, unit) => {
      const { partner_id: partnerId } = params;
      const { before, origins } = await changeOrigins(unit, {
        sandbox: deps.sandbox,
        partnerId,
        given: body.origins,
      });
      recordAction(unit, operator, {
        action: ORIGINS_CHANGED,
        subject: `partners/${partnerId}`,
        reason: body.reason ?? NO_REASON,
        before: { origins: before },
        after: { origins },
      });
      return { origins };
    },
    afterCommit: () => seeChangedKeys(deps.principals),
  });
}
