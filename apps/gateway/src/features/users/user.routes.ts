import { CausewayError, UserSchema, Uuid } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { type Database, partnerScope } from '../../db/database.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { partnerMutation, partnerRoute } from '../../http/route.ts';
import type { Sealer } from '../../lib/crypto.ts';
import { type CreateUserTools, createUser } from './create-user.ts';
import { findUser } from './user.store.ts';
import { userView } from './user.view.ts';

export interface UserRouteTools extends UnitTools, CreateUserTools {
  readonly db: Database;
  readonly sealer: Sealer;
}

export const UserParams = Type.Object({ user_uuid: Uuid });

export function registerUserRoutes(app: FastifyInstance, tools: UserRouteTools): void {
  partnerMutation(
    app,
    tools,
    {
      method: 'POST',
      url: '/api/v1/partner/users',
      operationId: 'createUser',
      tag: 'Users and KYC',
      summary: 'Create a customer',
      body: Type.Object({
        email: Type.String({ format: 'email', maxLength: 254 }),
        reference_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
      }),
      data: UserSchema,
      errors: ['USER_ALREADY_EXISTS'],
    },
    async ({ body }, partner, unit) => createUser(tools, unit, partner.partnerId, body),
  );

  partnerRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/partner/users/:user_uuid',
      operationId: 'getUser',
      tag: 'Users and KYC',
      summary: 'Read a customer',
      params: UserParams,
      data: UserSchema,
      errors: ['USER_NOT_FOUND'],
    },
    async ({ params }, partner) => {
      const [user] = await tools.db.query(partnerScope(partner.partnerId), findUser, [params.user_uuid]);
      if (user === undefined) throw new CausewayError('USER_NOT_FOUND');
      return userView(user, tools.sealer.open(user.email_sealed, `users.email:${user.user_id}`));
    },
  );
}
