import { UserInput, UserListSchema, UserParams, UserQuery, UserSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { partnerScope } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import type { PartnerPrincipal } from '../../http/principals.ts';
import { route } from '../../http/route.ts';
import { countUsers, listUsers } from './user.store.ts';
import {
  createUser,
  EMAIL_INDEX,
  maskedProfile,
  normalisedEmail,
  profileOf,
  readUser,
  type UserPrivacyDeps,
  type UserProfile,
  type UserRow,
  userView,
} from './user.ts';

export interface UserRouteDeps extends UnitDeps, UserPrivacyDeps {}

const TAG = 'Users and KYC';

export function registerUserRoutes(app: FastifyInstance, deps: UserRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/users',
    operationId: 'createUser',
    tag: TAG,
    summary: 'Create a customer',
    body: UserInput,
    data: UserSchema,
    errors: ['USER_ALREADY_EXISTS'],
    handle: async ({ body }, partner, unit) => createUser(deps, unit, partner.partnerId, body),
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/users',
    operationId: 'listUsers',
    tag: TAG,
    summary: 'List customers, newest first',
    query: UserQuery,
    data: UserListSchema,
    handle: async ({ query }, caller) => {
      const { partnerId } = caller;
      const { page, limit } = query;
      const email = query.email === undefined ? null : (normalisedEmail(query.email) ?? query.email);
      const emailIndex = email === null ? null : deps.blindIndex(EMAIL_INDEX, partnerId, email);
      const filter = [partnerId, emailIndex, query.reference_id ?? null, query.kyc_status ?? null] as const;
      const [users, [count]] = await deps.db.transaction(partnerScope(partnerId), (tx) =>
        tx.queryBoth(listUsers, [...filter, limit, (page - 1) * limit], countUsers, [...filter]),
      );
      return {
        users: users.map((user) => userView(user, shownProfile(deps, caller, user))),
        pagination: { page, limit, total: Number(count?.total ?? 0) },
      };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/users/:user_uuid',
    operationId: 'getUser',
    tag: TAG,
    summary: 'Get a customer',
    params: UserParams,
    data: UserSchema,
    errors: ['USER_NOT_FOUND'],
    handle: async ({ params }, partner) => {
      const user = await readUser(deps.db, partnerScope(partner.partnerId), params.user_uuid);
      return userView(user, shownProfile(deps, partner, user));
    },
  });
}

/** A program gets what it stored; a person gets it masked, and in full by a call that is on record. */
function shownProfile({ vaults }: UserPrivacyDeps, caller: PartnerPrincipal, user: UserRow): UserProfile {
  const profile = profileOf(vaults, user);
  return caller.user === undefined ? profile : maskedProfile(profile);
}
