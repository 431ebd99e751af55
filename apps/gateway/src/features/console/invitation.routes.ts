import {
  CausewayError,
  CursorQuery,
  InvitationListSchema,
  InvitationParams,
  NewInvitationSchema,
  OPERATOR_TAG,
  OperatorInvitationInput,
  pageOf,
  WithdrawnInvitationSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { SYSTEM } from '../../db/database.ts';
import { recordAction } from '../../engine/audit.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import { listAllInvitations, withdrawInvitation } from './invitation.store.ts';
import { deskOwnerOf, type InvitationDeps, invitationViews, invite } from './invitations.ts';

const INVITATIONS = '/api/v1/operator/invitations';

/** Invitations into every desk, for operators and their programs: how the first admin of a deployment comes in. */
export function registerInvitationRoutes(app: FastifyInstance, deps: InvitationDeps & UnitDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: INVITATIONS,
    operationId: 'createInvitation',
    tag: OPERATOR_TAG,
    summary: 'Invite a user to the console',
    description:
      'Into the desk of a partner, of a vendor or of the operator. The link is shown only in this answer, is good once and for seven days; an earlier one for the same address and desk is withdrawn.',
    body: OperatorInvitationInput,
    data: NewInvitationSchema,
    errors: ['PARTNER_NOT_FOUND', 'VENDOR_NOT_FOUND', 'EMAIL_IN_USE'],
    handle: async ({ body }, operator, unit) => {
      const owner = await deskOwnerOf(unit, body.desk, body.owner_id);
      const made = await invite(deps, unit, owner, body, operator.keyId);
      recordAction(unit, operator, {
        action: 'invitation.create',
        subject: `invitations/${made.invitation_id}`,
        reason: `invited to the ${body.desk} desk as ${body.role}`,
        after: { desk: body.desk, owner_id: body.owner_id ?? null, role: body.role },
      });
      return made;
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: INVITATIONS,
    operationId: 'listInvitations',
    tag: OPERATOR_TAG,
    summary: 'List open invitations to the console, newest first',
    query: CursorQuery,
    data: InvitationListSchema,
    handle: async ({ query }) => {
      const at = new Date(deps.wall());
      const of = [at, query.cursor ?? null, query.limit + 1] as const;
      const rows = await deps.db.query(SYSTEM, listAllInvitations, of);
      const { page, pagination } = pageOf(rows, query.limit, (row) => row.invitation_id);
      return { invitations: await invitationViews(deps.db, page), pagination };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'DELETE',
    url: `${INVITATIONS}/:invitation_id`,
    operationId: 'withdrawInvitation',
    tag: OPERATOR_TAG,
    summary: 'Withdraw an invitation to the console',
    params: InvitationParams,
    data: WithdrawnInvitationSchema,
    errors: ['INVITATION_NOT_FOUND'],
    handle: async ({ params }, operator, unit) => {
      const of = [params.invitation_id, new Date(deps.wall())] as const;
      const [done] = await unit.tx.query(withdrawInvitation, of);
      if (done === undefined) throw new CausewayError('INVITATION_NOT_FOUND');
      recordAction(unit, operator, {
        action: 'invitation.withdraw',
        subject: `invitations/${params.invitation_id}`,
        reason: 'withdrawn',
      });
      return { invitation_id: params.invitation_id };
    },
  });
}
