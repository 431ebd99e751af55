import { CausewayError, OwnWidgetSchema, WidgetOriginsInput, WidgetOriginsSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { reading } from '../../db/database.ts';
import { recordAction } from '../../engine/audit.ts';
import type { ConsolePrincipal } from '../../http/console-sessions.ts';
import { route } from '../../http/route.ts';
import { scopeOf } from '../../http/route-runs.ts';
import { seeChangedKeys } from '../api-keys/keys.ts';
import { changeOrigins, ORIGINS_CHANGED, originsOfPartner } from '../widget/change-origins.ts';
import type { OwnKeyDeps } from './own-keys.routes.ts';
import { consoleRoute } from './session.routes.ts';

export interface OwnWidgetDeps extends OwnKeyDeps {
  readonly publicBaseUrl: string;
}

/** Where a partner’s widget may be shown, managed by the partner itself. */
export function registerOwnWidgetRoutes(app: FastifyInstance, deps: OwnWidgetDeps): void {
  route(app, {
    ...consoleRoute('getOwnWidget'),
    access: 'console',
    transaction: 'none',
    summary: 'What a partner needs to embed its widget',
    data: OwnWidgetSchema,
    errors: ['OPERATION_NOT_ALLOWED'],
    handle: async (_input, caller) => ({
      origins: [...(await originsOfPartner(reading(deps.db, scopeOf(caller)), partnerOf(caller)))],
      base_url: new URL(deps.publicBaseUrl).origin,
    }),
  });

  route(app, {
    ...consoleRoute('setOwnWidgetOrigins'),
    access: 'console',
    transaction: 'unit',
    deps,
    summary: 'Set the origins that may show one’s own widget',
    body: WidgetOriginsInput,
    data: WidgetOriginsSchema,
    errors: ['OPERATION_NOT_ALLOWED'],
    handle: async ({ body }, caller, unit) => {
      const partnerId = partnerOf(caller);
      const { before, origins } = await changeOrigins(unit, {
        sandbox: deps.sandbox,
        partnerId,
        given: body.origins,
      });
      recordAction(unit, caller, {
        action: ORIGINS_CHANGED,
        subject: `partners/${partnerId}`,
        reason: body.reason ?? 'by the partner, at the console',
        before: { origins: before },
        after: { origins },
      });
      return { origins };
    },
    afterCommit: () => seeChangedKeys(deps.principals),
  });
}

function partnerOf(caller: ConsolePrincipal): string {
  if (caller.kind === 'partner') return caller.partnerId;
  throw new CausewayError('OPERATION_NOT_ALLOWED', { message: 'Only partners have a widget.' });
}
