import { CausewayError, UserParams, UserSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../db/database.ts';
import { route } from '../../http/route.ts';
import { scopeOf } from '../../http/route-runs.ts';
import { profileOf, readUser, type UserPrivacyDeps, userView } from '../users/user.ts';
import { consoleRoute } from './session.routes.ts';

export interface CustomerRevealDeps extends Pick<UserPrivacyDeps, 'vaults'> {
  readonly db: Database;
}

/** A customer in full for a person. A POST, so that it is on record before it is answered: what a page reads by GET is masked. */
export function registerCustomerRevealRoute(app: FastifyInstance, deps: CustomerRevealDeps): void {
  route(app, {
    ...consoleRoute('revealCustomer'),
    access: 'console',
    transaction: 'none',
    summary: 'Reveal a customer’s data',
    params: UserParams,
    data: UserSchema,
    errors: ['OPERATION_NOT_ALLOWED', 'USER_NOT_FOUND'],
    handle: async ({ params }, caller) => {
      // Operators reveal with a reason, by a route of their own.
      if (caller.kind !== 'partner') throw new CausewayError('OPERATION_NOT_ALLOWED');
      const user = await readUser(deps.db, scopeOf(caller), params.user_uuid);
      return userView(user, profileOf(deps.vaults, user));
    },
  });
}
