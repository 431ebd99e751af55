import {
  CausewayError,
  OPERATOR_TAG,
  PartnerParams,
  WidgetOriginsInput,
  WidgetOriginsSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import { route } from '../../../http/route.ts';
import { readOrigins } from '../../widget/widget-origins.ts';
import { findWidgetOrigins, lockWidgetOrigins, setWidgetOrigins } from './accounts.store.ts';
import type { KeyRouteDeps } from './keys.routes.ts';
import { NO_REASON, seeChangedKeys } from './keys.ts';

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
      const [row] = await deps.db.query(SYSTEM, findWidgetOrigins, [params.partner_id]);
      if (row === undefined) throw new CausewayError('PARTNER_NOT_FOUND');
      return { origins: row.widget_origins };
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
      const origins = readOrigins(body.origins, deps.sandbox);
      const [before] = await unit.tx.query(lockWidgetOrigins, [params.partner_id]);
      if (before === undefined) throw new CausewayError('PARTNER_NOT_FOUND');
      unit.tx.defer(setWidgetOrigins, [params.partner_id, origins]);
      recordAction(unit, operator, {
        action: 'partner.widget_origins',
        subject: `partners/${params.partner_id}`,
        reason: body.reason ?? NO_REASON,
        before: { origins: before.widget_origins },
        after: { origins },
      });
      return { origins };
    },
    afterCommit: () => seeChangedKeys(deps.principals),
  });
}
