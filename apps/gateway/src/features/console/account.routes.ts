import {
  CausewayError,
  ConsoleSessionListSchema,
  DoneSchema,
  NewPasskeyInput,
  OwnAccountSchema,
  OwnNameInput,
  OwnPasswordInput,
  PasskeyLabelInput,
  PasskeyOptionsSchema,
  PasskeyParams,
  PasskeySchema,
  ReauthenticationInput,
  RecoveryCodesSchema,
  SessionParams,
  TotpConfirmationInput,
  TotpEnrolmentSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { SYSTEM } from '../../db/database.ts';
import { endConsoleSessionsOfUser } from '../../http/console-session.store.ts';
import type { ConsolePrincipal } from '../../http/console-sessions.ts';
import { route } from '../../http/route.ts';
import { scopeOf } from '../../http/route-runs.ts';
import { hashPassword, verifyPassword } from '../../lib/password-hash.ts';
import { listPasskeys, type PasskeyRow } from './challenge.store.ts';
import { changeName, changePassword, deleteChallengesOfUser } from './console-user.store.ts';
import { beginAttempt } from './lock-out.ts';
import { addPasskey, beginPasskey, deletePasskey, type PasskeyDeps, renamePasskey } from './passkeys.ts';
import { requireGoodPassword } from './password-rules.ts';
import { beginTotp, confirmTotp, disableTotp, ownRow, renewRecoveryCodes } from './second-factor.ts';
import { consoleRoute } from './session.routes.ts';
import { endOneSession, listOpenSessions } from './team.store.ts';

export interface AccountDeps extends PasskeyDeps {
  readonly idleMs: number;
}

const DONE = { done: true as const };
const own = { access: 'console', transaction: 'none' } as const;

/** What each user does with the own account. */
export function registerConsoleAccountRoutes(app: FastifyInstance, deps: AccountDeps): void {
  registerProfile(app, deps);
  registerTotp(app, deps);
  registerPasskeys(app, deps);
  registerOwnSessions(app, deps);
}

function registerProfile(app: FastifyInstance, deps: AccountDeps): void {
  route(app, {
    ...consoleRoute('getOwnAccount'),
    ...own,
    summary: 'The own account',
    data: OwnAccountSchema,
    handle: async (_input, caller) => {
      const user = await ownRow(deps, caller);
      const passkeys = await deps.db.query(scopeOf(caller), listPasskeys, [user.user_id]);
      return {
        user_id: user.user_id,
        email: user.email,
        name: user.name,
        role: user.role,
        has_password: user.password_hash !== null,
        password_changed_at: user.password_changed_at?.toISOString() ?? null,
        totp: {
          enabled_at: user.totp_confirmed_at?.toISOString() ?? null,
          recovery_codes_left: user.recovery_codes_left,
        },
        passkeys: passkeys.map(passkeyView),
        second_factor_required: deps.requireSecondFactor,
      };
    },
  });

  route(app, {
    ...consoleRoute('changeOwnName'),
    ...own,
    summary: 'Change the own name',
    body: OwnNameInput,
    data: DoneSchema,
    handle: async ({ body }, caller) => {
      await deps.db.query(scopeOf(caller), changeName, [caller.user.userId, body.name]);
      return DONE;
    },
  });

  route(app, {
    ...consoleRoute('changeOwnPassword'),
    ...own,
    summary: 'Change the own password; the other sessions end',
    body: OwnPasswordInput,
    data: DoneSchema,
    errors: ['CREDENTIAL_INVALID', 'SIGN_IN_LOCKED'],
    handle: ({ body }, caller) => changeOwnPassword(deps, caller, body),
  });
}

async function changeOwnPassword(
  deps: AccountDeps,
  caller: ConsolePrincipal,
  given: { readonly current_password: string; readonly new_password: string },
) {
  const user = await ownRow(deps, caller);
  const attempt = await beginAttempt(deps, user.email);
  if (!(await verifyPassword(given.current_password, user.password_hash))) {
    throw new CausewayError('CREDENTIAL_INVALID');
  }
  await attempt.giveBack();
  requireGoodPassword('new_password', given.new_password, user.email);
  const hash = await hashPassword(given.new_password);
  const at = new Date(deps.wall());
  await deps.db.transaction(scopeOf(caller), async (tx) => {
    tx.defer(changePassword, [user.user_id, hash, at]);
    tx.defer(endConsoleSessionsOfUser, [user.user_id, caller.user.sessionId, 'password_changed', at]);
  });
  // Somebody may have come as far as the second step with the old one.
  await deps.db.query(SYSTEM, deleteChallengesOfUser, [user.user_id]);
  return DONE;
}

function registerTotp(app: FastifyInstance, deps: AccountDeps): void {
  route(app, {
    ...consoleRoute('beginTotp'),
    ...own,
    summary: 'Begin to add an authenticator app, or another in its place',
    body: ReauthenticationInput,
    data: TotpEnrolmentSchema,
    errors: ['REAUTHENTICATION_REQUIRED', 'CREDENTIAL_INVALID', 'SIGN_IN_LOCKED'],
    handle: ({ body }, caller) => beginTotp(deps, caller, body),
  });

  route(app, {
    ...consoleRoute('confirmTotp'),
    ...own,
    summary: 'Confirm an authenticator app by its first code',
    body: TotpConfirmationInput,
    data: RecoveryCodesSchema,
    errors: ['SIGN_IN_STEP_EXPIRED', 'CREDENTIAL_INVALID'],
    handle: ({ body }, caller) => confirmTotp(deps, caller, body),
  });

  route(app, {
    ...consoleRoute('disableTotp'),
    ...own,
    summary: 'Remove the authenticator app',
    body: ReauthenticationInput,
    data: DoneSchema,
    errors: ['REAUTHENTICATION_REQUIRED', 'CREDENTIAL_INVALID', 'SIGN_IN_LOCKED', 'LAST_SECOND_FACTOR'],
    handle: async ({ body }, caller) => {
      await disableTotp(deps, caller, body);
      return DONE;
    },
  });

  route(app, {
    ...consoleRoute('renewRecoveryCodes'),
    ...own,
    summary: 'Make new recovery codes; the old ones are good no longer',
    body: ReauthenticationInput,
    data: RecoveryCodesSchema,
    errors: ['REAUTHENTICATION_REQUIRED', 'CREDENTIAL_INVALID', 'SIGN_IN_LOCKED'],
    handle: ({ body }, caller) => renewRecoveryCodes(deps, caller, body),
  });
}

function registerPasskeys(app: FastifyInstance, deps: AccountDeps): void {
  route(app, {
    ...consoleRoute('beginPasskey'),
    ...own,
    summary: 'Begin to add a passkey',
    body: ReauthenticationInput,
    data: PasskeyOptionsSchema,
    errors: ['REAUTHENTICATION_REQUIRED', 'CREDENTIAL_INVALID', 'SIGN_IN_LOCKED', 'PASSKEY_INVALID'],
    handle: ({ body, request }, caller) => beginPasskey(deps, caller, request, body),
  });

  route(app, {
    ...consoleRoute('addPasskey'),
    ...own,
    summary: 'Add a passkey',
    body: NewPasskeyInput,
    data: PasskeySchema,
    errors: ['SIGN_IN_STEP_EXPIRED', 'PASSKEY_INVALID'],
    handle: ({ body, request }, caller) => addPasskey(deps, caller, request, body),
  });

  route(app, {
    ...consoleRoute('renamePasskey'),
    ...own,
    summary: 'Rename a passkey',
    params: PasskeyParams,
    body: PasskeyLabelInput,
    data: DoneSchema,
    errors: ['PASSKEY_NOT_FOUND'],
    handle: async ({ params, body }, caller) => {
      await renamePasskey(deps, caller, params.passkey_id, body.label);
      return DONE;
    },
  });

  route(app, {
    ...consoleRoute('deletePasskey'),
    ...own,
    summary: 'Remove a passkey',
    params: PasskeyParams,
    data: DoneSchema,
    errors: ['PASSKEY_NOT_FOUND', 'LAST_SECOND_FACTOR'],
    handle: async ({ params }, caller) => {
      await deletePasskey(deps, caller, params.passkey_id);
      return DONE;
    },
  });
}

function registerOwnSessions(app: FastifyInstance, deps: AccountDeps): void {
  route(app, {
    ...consoleRoute('listOwnSessions'),
    ...own,
    summary: 'Where the own user is signed in',
    data: ConsoleSessionListSchema,
    handle: async (_input, caller) => {
      const { userId, sessionId } = caller.user;
      const at = deps.wall();
      const since = new Date(at - deps.idleMs);
      const rows = await deps.db.query(scopeOf(caller), listOpenSessions, [userId, new Date(at), since]);
      return {
        sessions: rows.map((row) => ({
          session_id: row.session_id,
          current: row.session_id === sessionId,
          method: row.method,
          network: row.network,
          user_agent: row.user_agent,
          created_at: row.created_at.toISOString(),
          seen_at: row.seen_at.toISOString(),
          expires_at: row.expires_at.toISOString(),
        })),
      };
    },
  });

  route(app, {
    ...consoleRoute('endOwnSession'),
    ...own,
    summary: 'End one of the own sessions',
    params: SessionParams,
    data: DoneSchema,
    errors: ['CONSOLE_SESSION_NOT_FOUND'],
    handle: async ({ params }, caller) => {
      const at = new Date(deps.wall());
      const of = [params.session_id, caller.user.userId, at] as const;
      const [ended] = await deps.db.query(scopeOf(caller), endOneSession, of);
      if (ended === undefined) throw new CausewayError('CONSOLE_SESSION_NOT_FOUND');
      return DONE;
    },
  });

  route(app, {
    ...consoleRoute('endOtherSessions'),
    ...own,
    summary: 'End all of the own sessions but this one',
    data: DoneSchema,
    handle: async (_input, caller) => {
      const { userId, sessionId } = caller.user;
      const at = new Date(deps.wall());
      await deps.db.query(scopeOf(caller), endConsoleSessionsOfUser, [userId, sessionId, 'revoked', at]);
      return DONE;
    },
  });
}

function passkeyView({ passkey_id, label, created_at, last_used_at }: PasskeyRow) {
  return {
    passkey_id,
    label,
    created_at: created_at.toISOString(),
    last_used_at: last_used_at?.toISOString() ?? null,
  };
}
