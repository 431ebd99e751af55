import {
  AcceptInvitationInput,
  CONSOLE_TAG,
  ConsoleOptionsSchema,
  ConsoleSessionSchema,
  ConsoleSignInInput,
  DoneSchema,
  InvitationTokenInput,
  OpenInvitationSchema,
  PasskeyOptionsSchema,
  PasskeySignInInput,
  SandboxSignInInput,
  SecondStepInput,
  SignInAnswerSchema,
} from '@causeway/protocol';
import { CONSOLE_ROUTES } from '@causeway/protocol/console';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { SYSTEM } from '../../db/database.ts';
import { announceLimit } from '../../http/access.ts';
import { endConsoleSession } from '../../http/console-session.store.ts';
import type { ConsolePrincipal } from '../../http/console-sessions.ts';
import { isLocalCaller } from '../../http/docs/sandbox-keys.ts';
import type { RateLimit } from '../../http/rate-limit.ts';
import { route } from '../../http/route.ts';
import { addressBucket } from '../../lib/address-bucket.ts';
import type { Clock } from '../../lib/clock.ts';
import { listOwners, listSandboxUsers } from './console-user.store.ts';
import {
  deskOf,
  type InvitationDeps,
  makeUserOfInvitation,
  ownersOf,
  readInvitation,
} from './invitations.ts';
import { beginPasskeySignIn, relyingParty } from './passkeys.ts';
import {
  completeSignIn,
  type Exchange,
  goOnWithPassword,
  type SignInDeps,
  signInToSandbox,
  signInWithPasskey,
  signInWithPassword,
} from './sign-in.ts';

export interface ConsoleRouteDeps extends SignInDeps, InvitationDeps {
  readonly clock: Pick<Clock, 'date'>;
  readonly rateLimit: RateLimit;
  readonly signInsPerMinute: number;
  /** Users that a sandbox shows on its first page; none elsewhere. */
  readonly sandboxUsers: readonly string[];
}

/** Method and address of one of the console’s own routes. */
export function consoleRoute(operationId: keyof typeof CONSOLE_ROUTES) {
  const [method = '', path = ''] = CONSOLE_ROUTES[operationId].split(' ');
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
  return { method: method as HTTPMethods, url, operationId, tag: CONSOLE_TAG, hidden: true } as const;
}

/** The handler needs the reply only to set the cookie. */
const exchangeOf = (request: FastifyRequest): Exchange => ({
  request,
  reply: request.consoleReply as FastifyReply,
});

declare module 'fastify' {
  interface FastifyRequest {
    consoleReply: FastifyReply | null;
  }
}

const DONE = { done: true as const };

export function registerConsoleSessionRoutes(app: FastifyInstance, deps: ConsoleRouteDeps): void {
  app.decorateRequest('consoleReply', null);
  app.register(async (scope) => {
    scope.addHook('preHandler', async (request, reply) => {
      request.consoleReply = reply;
    });
    registerSession(scope, deps);
    scope.register(async (open) => {
      open.addHook('onRequest', limitSignIns(deps));
      registerSignIn(open, deps);
      registerPasskeySignIn(open, deps);
      registerInvitation(open, deps);
    });
  });
}

/** Before anybody is signed in: no page of another site signs its reader in, and no address guesses without end. */
function limitSignIns({ consoleSessions, rateLimit, signInsPerMinute }: ConsoleRouteDeps) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (request.method !== 'POST') return;
    consoleSessions.requireOwnOrigin(request);
    const verdict = await rateLimit.take(`console-sign-in:${addressBucket(request.ip)}`, signInsPerMinute);
    if (!verdict.allowed) throw announceLimit(reply, verdict);
  };
}

function registerSignIn(app: FastifyInstance, deps: ConsoleRouteDeps): void {
  const environment = deps.sandbox ? ('sandbox' as const) : ('production' as const);
  route(app, {
    ...consoleRoute('getConsoleOptions'),
    access: 'public',
    transaction: 'none',
    summary: 'How one can sign in here',
    data: ConsoleOptionsSchema,
    handle: async ({ request }) => {
      const isOpen = deps.sandbox && isLocalCaller(request);
      const users = isOpen ? await deps.db.query(SYSTEM, listSandboxUsers, [deps.sandboxUsers]) : [];
      const owners = await ownersOf(deps.db, users);
      return {
        environment,
        passkeys: relyingParty(deps, request) !== null,
        sandbox_accounts: users.map(({ desk, email, name, role, partner_id, vendor_id }) => ({
          desk,
          email,
          name,
          role,
          owner_name: owners.get(partner_id ?? vendor_id ?? '')?.name ?? null,
        })),
      };
    },
  });

  route(app, {
    ...consoleRoute('signInToConsole'),
    access: 'public',
    transaction: 'none',
    summary: 'Sign in with a password',
    body: ConsoleSignInInput,
    data: SignInAnswerSchema,
    errors: ['SIGN_IN_FAILED', 'SIGN_IN_LOCKED', 'CSRF_TOKEN_INVALID'],
    handle: ({ body, request }) => signInWithPassword(deps, body, exchangeOf(request)),
  });

  route(app, {
    ...consoleRoute('completeConsoleSignIn'),
    access: 'public',
    transaction: 'none',
    summary: 'Complete a sign-in with a code',
    body: SecondStepInput,
    data: SignInAnswerSchema,
    errors: ['SIGN_IN_FAILED', 'SIGN_IN_LOCKED', 'SIGN_IN_STEP_EXPIRED', 'CSRF_TOKEN_INVALID'],
    handle: ({ body, request }) => completeSignIn(deps, body, exchangeOf(request)),
  });

  if (!deps.sandbox) return;
  route(app, {
    ...consoleRoute('signInToSandboxConsole'),
    access: 'public',
    transaction: 'none',
    summary: 'Enter a desk of a sandbox',
    body: SandboxSignInInput,
    data: SignInAnswerSchema,
    errors: ['SIGN_IN_FAILED', 'CSRF_TOKEN_INVALID'],
    handle: ({ body, request }) => signInToSandbox(deps, body, deps.sandboxUsers, exchangeOf(request)),
  });
}

function registerPasskeySignIn(app: FastifyInstance, deps: ConsoleRouteDeps): void {
  route(app, {
    ...consoleRoute('beginPasskeySignIn'),
    access: 'public',
    transaction: 'none',
    summary: 'Begin to sign in with a passkey',
    data: PasskeyOptionsSchema,
    errors: ['PASSKEY_INVALID', 'CSRF_TOKEN_INVALID'],
    handle: ({ request }) => beginPasskeySignIn(deps, request),
  });

  route(app, {
    ...consoleRoute('signInWithPasskey'),
    access: 'public',
    transaction: 'none',
    summary: 'Sign in with a passkey',
    body: PasskeySignInInput,
    data: SignInAnswerSchema,
    errors: ['SIGN_IN_FAILED', 'SIGN_IN_STEP_EXPIRED', 'PASSKEY_INVALID', 'CSRF_TOKEN_INVALID'],
    handle: ({ body, request }) => signInWithPasskey(deps, body, exchangeOf(request)),
  });
}

function registerInvitation(app: FastifyInstance, deps: ConsoleRouteDeps): void {
  route(app, {
    ...consoleRoute('readInvitation'),
    access: 'public',
    transaction: 'none',
    summary: 'What an invitation is for',
    body: InvitationTokenInput,
    data: OpenInvitationSchema,
    errors: ['INVITATION_EXPIRED', 'CSRF_TOKEN_INVALID'],
    handle: async ({ body }) => {
      const row = await readInvitation(deps, body.token);
      const owners = await ownersOf(deps.db, [row]);
      return {
        email: row.email,
        role: row.role,
        ...deskOf(row),
        owner_name: owners.get(row.partner_id ?? row.vendor_id ?? '')?.name ?? null,
        expires_at: row.expires_at.toISOString(),
      };
    },
  });

  route(app, {
    ...consoleRoute('acceptInvitation'),
    access: 'public',
    transaction: 'none',
    summary: 'Accept an invitation',
    body: AcceptInvitationInput,
    data: SignInAnswerSchema,
    errors: ['INVITATION_EXPIRED', 'EMAIL_IN_USE', 'CSRF_TOKEN_INVALID'],
    handle: async ({ body, request }) => {
      const user = await makeUserOfInvitation(deps, body);
      return goOnWithPassword(deps, user, 'invitation', exchangeOf(request));
    },
  });
}

function registerSession(app: FastifyInstance, deps: ConsoleRouteDeps): void {
  const environment = deps.sandbox ? ('sandbox' as const) : ('production' as const);
  route(app, {
    ...consoleRoute('getConsoleSession'),
    access: 'console',
    transaction: 'none',
    summary: 'Who is signed in',
    data: ConsoleSessionSchema,
    handle: async (_input, caller) => {
      const { userId, email, name, role, csrfToken, mustAddSecondFactor } = caller.user;
      return {
        user: { user_id: userId, email, name, role },
        desk: caller.kind,
        owner: await ownerOf(deps, caller),
        csrf_token: csrfToken,
        must_add_second_factor: mustAddSecondFactor,
        environment,
        server_time: deps.clock.date().toISOString(),
      };
    },
  });

  route(app, {
    ...consoleRoute('signOutOfConsole'),
    access: 'console',
    transaction: 'none',
    summary: 'Sign out',
    data: DoneSchema,
    handle: async ({ request }, caller) => {
      await deps.db.query(SYSTEM, endConsoleSession, [
        caller.user.sessionId,
        'signed_out',
        new Date(deps.wall()),
      ]);
      deps.consoleSessions.clearCookie(exchangeOf(request).reply);
      return DONE;
    },
  });
}

async function ownerOf({ db }: ConsoleRouteDeps, caller: ConsolePrincipal) {
  if (caller.kind === 'operator') return null;
  const id = caller.kind === 'partner' ? caller.partnerId : caller.vendorId;
  const [row] = await db.query(SYSTEM, listOwners, [[id]]);
  return { id, name: row?.name ?? '' };
}
