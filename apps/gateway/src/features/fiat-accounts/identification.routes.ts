import { IdentificationSchema, OptionalIdentificationInput, UserParams } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { partnerScope } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import { enabledFirst, requireEnabled } from './fiat-account.ts';
import { type IdentifyDeps, identifyClient, readIdentification } from './identify-client.ts';

const TAG = 'Fiat accounts';
const URL = '/api/v1/partner/users/:user_uuid/identification';

export function registerIdentificationRoutes(app: FastifyInstance, deps: UnitDeps & IdentifyDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: URL,
    operationId: 'submitIdentification',
    tag: TAG,
    summary: 'Submit a customer’s identification to the bank',
    description:
      'Send only what GET identity lists as missing: what KYC has verified is used and counts for more. Asked again it changes nothing, unless the bank has rejected the customer.',
    params: UserParams,
    body: OptionalIdentificationInput,
    requireSubject: enabledFirst,
    data: IdentificationSchema,
    errors: ['USER_NOT_FOUND', 'FEATURE_NOT_ENABLED', 'MISSING_FIELDS', 'BANKING_UNAVAILABLE'],
    handle: ({ params, body }, partner, unit) => {
      requireEnabled(partner);
      return identifyClient(deps, unit, params.user_uuid, body ?? {});
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: URL,
    operationId: 'getIdentification',
    tag: TAG,
    summary: 'Get a customer’s identification status',
    params: UserParams,
    data: IdentificationSchema,
    errors: ['USER_NOT_FOUND'],
    handle: ({ params }, { partnerId }) =>
      readIdentification(deps, partnerScope(partnerId), params.user_uuid),
  });
}
