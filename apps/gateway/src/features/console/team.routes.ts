import {
  CausewayError,
  ConsoleActivityQuery,
  ConsoleActivitySchema,
  DoneSchema,
  InvitationParams,
  NewInvitationSchema,
  pageOf,
  TeamInvitationInput,
  TeamMemberParams,
  TeamMemberPatchInput,
  TeamQuery,
  TeamSchema,
} from '@causeway/protocol';
import type { Role } from '@causeway/protocol/console';
import type { FastifyInstance } from 'fastify';
import { SYSTEM, type Transaction } from '../../db/database.ts';
import { type UnitDeps, unitOfWork } from '../../engine/unit-of-work.ts';
import { endConsoleSessionsOfUser } from '../../http/console-session.store.ts';
import type { ConsolePrincipal } from '../../http/console-sessions.ts';
import { route } from '../../http/route.ts';
import { scopeOf } from '../../http/route-runs.ts';
import { deletePasskeysOfUser } from './challenge.store.ts';
import {
  type ConsoleUserRow,
  changeMember,
  clearTotp,
  deleteChallengesOfUser,
  findConsoleUser,
  listOwners,
  listTeam,
  lockAdmins,
} from './console-user.store.ts';
import { listInvitationsOf, withdrawInvitationOfDesk, withdrawInvitationsOf } from './invitation.store.ts';
import {
  type DeskOwner,
  deskOf,
  type InvitationDeps,
  invitationViews,
  invite,
  ownersOf,
} from './invitations.ts';
import { locksOf, unlock } from './lock-out.ts';
import { consoleRoute } from './session.routes.ts';
import { listActivity } from './team.store.ts';

export interface TeamDeps extends InvitationDeps {
  readonly clock: UnitDeps['clock'];
  readonly idleMs: number;
}

const DONE = { done: true as const };
const atConsole = { access: 'console', transaction: 'none' } as const;

/** The people of a desk. Admins manage their own; those of the operator reach every desk. */
export function registerTeamRoutes(app: FastifyInstance, deps: TeamDeps): void {
  registerTeam(app, deps);
  registerMembers(app, deps);
  registerActivity(app, deps);
}

function deskOwner(caller: ConsolePrincipal): DeskOwner {
  return {
    partnerId: caller.kind === 'partner' ? caller.partnerId : null,
    vendorId: caller.kind === 'vendor' ? caller.vendorId : null,
  };
}

/** Whose team is meant: the own, or the one that an operator names. */
async function chosenDesk(
  { db }: TeamDeps,
  caller: ConsolePrincipal,
  ownerId: string | undefined,
): Promise<DeskOwner> {
  if (caller.kind !== 'operator' || ownerId === undefined) return deskOwner(caller);
  const [owner] = await db.query(SYSTEM, listOwners, [[ownerId]]);
  if (owner === undefined) throw new CausewayError('TEAM_MEMBER_NOT_FOUND');
  return owner.desk === 'partner'
    ? { partnerId: ownerId, vendorId: null }
    : { partnerId: null, vendorId: ownerId };
}

function registerTeam(app: FastifyInstance, deps: TeamDeps): void {
  route(app, {
    ...consoleRoute('getTeam'),
    ...atConsole,
    summary: 'Members of the team, and open invitations',
    query: TeamQuery,
    data: TeamSchema,
    errors: ['TEAM_MEMBER_NOT_FOUND'],
    handle: async ({ query }, caller) => {
      const { partnerId, vendorId } = await chosenDesk(deps, caller, query.owner_id);
      const now = deps.wall();
      const at = new Date(now);
      const scope = scopeOf(caller);
      const since = new Date(now - deps.idleMs);
      const members = await deps.db.query(scope, listTeam, [partnerId, vendorId, at, since]);
      const invitations = await deps.db.query(scope, listInvitationsOf, [partnerId, vendorId, at]);
      const locks = await locksOf(
        deps,
        members.map(({ email }) => email),
      );
      return {
        members: members.map((row) => ({
          ...memberView(row, caller),
          locked_until: locks.get(row.email)?.toISOString() ?? null,
          open_sessions: row.open_sessions,
        })),
        invitations: await invitationViews(deps.db, invitations),
      };
    },
  });

  route(app, {
    ...consoleRoute('inviteToTeam'),
    ...atConsole,
    summary: 'Invite somebody to the team',
    body: TeamInvitationInput,
    data: NewInvitationSchema,
    errors: ['EMAIL_IN_USE'],
    handle: ({ body }, caller) =>
      unitOfWork(deps, SYSTEM, (unit) => invite(deps, unit, deskOwner(caller), body, caller.user.userId)),
  });

  route(app, {
    ...consoleRoute('withdrawTeamInvitation'),
    ...atConsole,
    summary: 'Withdraw an invitation',
    params: InvitationParams,
    data: DoneSchema,
    errors: ['INVITATION_NOT_FOUND'],
    handle: async ({ params }, caller) => {
      const { partnerId, vendorId } = deskOwner(caller);
      const of = [partnerId, vendorId, params.invitation_id, new Date(deps.wall())] as const;
      const [done] = await deps.db.query(scopeOf(caller), withdrawInvitationOfDesk, of);
      if (done === undefined) throw new CausewayError('INVITATION_NOT_FOUND');
      return DONE;
    },
  });
}

function registerMembers(app: FastifyInstance, deps: TeamDeps): void {
  route(app, {
    ...consoleRoute('changeTeamMember'),
    ...atConsole,
    summary: 'Change a member’s role, or disable and enable the member',
    params: TeamMemberParams,
    body: TeamMemberPatchInput,
    data: DoneSchema,
    errors: ['TEAM_MEMBER_NOT_FOUND', 'OWN_ROLE', 'LAST_ADMIN'],
    handle: async ({ params, body }, caller) => {
      const at = new Date(deps.wall());
      await deps.db.transaction(scopeOf(caller), (tx) => changeOne(tx, caller, params.user_id, body, at));
      if (body.disabled === true) await deps.db.query(SYSTEM, deleteChallengesOfUser, [params.user_id]);
      return DONE;
    },
  });

  route(app, {
    ...consoleRoute('resetMemberSecondFactor'),
    ...atConsole,
    summary: 'Remove a member’s second factors; the member signs in with the password and adds new ones',
    params: TeamMemberParams,
    data: DoneSchema,
    errors: ['TEAM_MEMBER_NOT_FOUND', 'OWN_ROLE'],
    handle: async ({ params }, caller) => {
      const at = new Date(deps.wall());
      const { email } = await deps.db.transaction(scopeOf(caller), async (tx) => {
        const member = await otherMember(tx, caller, params.user_id);
        tx.defer(clearTotp, [member.user_id]);
        tx.defer(deletePasskeysOfUser, [member.user_id]);
        tx.defer(endConsoleSessionsOfUser, [member.user_id, null, 'revoked', at]);
        return member;
      });
      await deps.db.query(SYSTEM, deleteChallengesOfUser, [params.user_id]);
      await unlock(deps, email);
      return DONE;
    },
  });

  route(app, {
    ...consoleRoute('endMemberSessions'),
    ...atConsole,
    summary: 'Sign a member out everywhere',
    params: TeamMemberParams,
    data: DoneSchema,
    errors: ['TEAM_MEMBER_NOT_FOUND', 'OWN_ROLE'],
    handle: async ({ params }, caller) => {
      const at = new Date(deps.wall());
      await deps.db.transaction(scopeOf(caller), async (tx) => {
        const member = await otherMember(tx, caller, params.user_id);
        tx.defer(endConsoleSessionsOfUser, [member.user_id, null, 'revoked', at]);
      });
      return DONE;
    },
  });
}

/** Nobody manages the own account as a member: with the last admin’s role or factor the desk would be lost. */
async function otherMember(
  tx: Transaction,
  caller: ConsolePrincipal,
  userId: string,
): Promise<ConsoleUserRow> {
  if (userId === caller.user.userId) throw new CausewayError('OWN_ROLE');
  const [member] = await tx.query(findConsoleUser, [userId]);
  if (member === undefined) throw new CausewayError('TEAM_MEMBER_NOT_FOUND');
  return member;
}

async function changeOne(
  tx: Transaction,
  caller: ConsolePrincipal,
  userId: string,
  change: { readonly role?: Role; readonly disabled?: boolean },
  at: Date,
): Promise<void> {
  const { partner_id, vendor_id } = await otherMember(tx, caller, userId);
  const admins = await tx.query(lockAdmins, [partner_id, vendor_id]);
  // Read again behind the lock: another admin may have changed the member meanwhile.
  const member = await otherMember(tx, caller, userId);
  const role = change.role ?? member.role;
  const disabled = change.disabled ?? member.disabled_at !== null;
  const losesAdmin = admins.some(({ user_id }) => user_id === userId) && (role !== 'admin' || disabled);
  // The operator shuts a partner or a vendor out, and can invite an admin anew.
  const isShutOut = disabled && caller.kind === 'operator' && (partner_id ?? vendor_id) !== null;
  if (losesAdmin && admins.length === 1 && !isShutOut) throw new CausewayError('LAST_ADMIN');
  tx.defer(changeMember, [userId, role, disabled ? (member.disabled_at ?? at) : null]);
  if (disabled) tx.defer(endConsoleSessionsOfUser, [userId, null, 'disabled', at]);
  // An invitation that was meant for before would let in whoever has kept it.
  if (change.disabled !== undefined)
    tx.defer(withdrawInvitationsOf, [partner_id, vendor_id, member.email, at]);
}

function memberView(row: ConsoleUserRow, caller: ConsolePrincipal) {
  return {
    user_id: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role,
    is_self: row.user_id === caller.user.userId,
    second_factor: [
      ...(row.totp_confirmed_at === null ? [] : (['totp'] as const)),
      ...(row.has_passkey ? (['passkey'] as const) : []),
    ],
    created_at: row.created_at.toISOString(),
    last_signed_in_at: row.last_signed_in_at?.toISOString() ?? null,
    disabled_at: row.disabled_at?.toISOString() ?? null,
  };
}

function registerActivity(app: FastifyInstance, deps: TeamDeps): void {
  route(app, {
    ...consoleRoute('listConsoleActivity'),
    ...atConsole,
    summary: 'What users did, newest first',
    query: ConsoleActivityQuery,
    data: ConsoleActivitySchema,
    handle: async ({ query }, caller) => {
      const dateOf = (text: string | undefined) => (text === undefined ? null : new Date(text));
      const rows = await deps.db.query(scopeOf(caller), listActivity, [
        ...([query.cursor ?? null, query.user_id ?? null, query.operation ?? null] as const),
        ...([dateOf(query.from), dateOf(query.to), query.limit + 1] as const),
      ]);
      const { page, pagination } = pageOf(rows, query.limit, (row) => row.activity_id);
      const owners = await ownersOf(deps.db, page);
      return {
        activity: page.map((row) => ({
          activity_id: row.activity_id,
          at: row.at.toISOString(),
          user:
            row.user_id === null || row.email === null
              ? null
              : { user_id: row.user_id, email: row.email, name: row.name ?? '' },
          ...deskOf(row),
          owner_name: owners.get(row.partner_id ?? row.vendor_id ?? '')?.name ?? null,
          operation: row.operation,
          path: row.path,
          status_code: row.status_code,
          network: row.network,
        })),
        pagination,
      };
    },
  });
}
