import { CausewayError } from '@causeway/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SYSTEM } from '../../db/database.ts';
import {
  endConsoleSessionOfToken,
  insertConsoleActivity,
  insertConsoleSession,
} from '../../http/console-session.store.ts';
import { type ConsoleSessions, hashedToken, newSessionToken } from '../../http/console-sessions.ts';
import { isLocalCaller } from '../../http/docs/sandbox-keys.ts';
import { addressBucket } from '../../lib/address-bucket.ts';
import { randomToken, TOKEN_PREFIX } from '../../lib/crypto.ts';
import { verifyPassword } from '../../lib/password-hash.ts';
import {
  type ConsoleUserRow,
  findConsoleUser,
  findConsoleUserByEmail,
  listSandboxUsers,
  noteSignIn,
} from './console-user.store.ts';
import { beginAttempt, normalEmail } from './lock-out.ts';
import { type PasskeyDeps, verifyPasskey } from './passkeys.ts';
import { openChallenge, takeStep, tryStep, useCode } from './second-factor.ts';

export interface SignInDeps extends PasskeyDeps {
  readonly consoleSessions: ConsoleSessions;
  /** How long a session lasts at most. */
  readonly sessionMs: number;
}

/** Where the cookie is set, and where it is known who asks. */
export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** How somebody proved who they are. */
type SignInMethod = 'password' | 'totp' | 'recovery_code' | 'passkey' | 'sandbox' | 'invitation';

const SIGNED_IN = { signed_in: true, second_step: null };

export async function signInWithPassword(
  deps: SignInDeps,
  given: { readonly email: string; readonly password: string },
  exchange: Exchange,
) {
  const email = normalEmail(given.email);
  const [user] = await deps.db.query(SYSTEM, findConsoleUserByEmail, [email]);
  const attempt = await countedAttempt(deps, email, user ?? null, exchange);
  const isRight = await verifyPassword(given.password, user?.password_hash ?? null);
  if (user === undefined || !isRight || user.disabled_at !== null) {
    throw await refused(deps, user ?? null, exchange);
  }
  const answer = await goOnWithPassword(deps, user, 'password', exchange);
  await (answer.signed_in ? attempt.clear() : attempt.giveBack());
  return answer;
}

/** Somebody who knows the password, or has just chosen it: signed in, or asked for the second factor. */
export async function goOnWithPassword(
  deps: SignInDeps,
  user: ConsoleUserRow,
  method: 'password' | 'invitation',
  exchange: Exchange,
) {
  const methods = secondStepsOf(deps, user);
  if (methods.length > 0) {
    const opened = await openChallenge(deps, 'second_step', { userId: user.user_id });
    return { signed_in: false, second_step: { ...opened, methods } };
  }
  await startConsoleSession(deps, user, method, exchange);
  return SIGNED_IN;
}

/**
 * Where a second factor is required, somebody whose only one is a passkey signs in with that: the password would get by
 * without it. Where it is not, a passkey is a convenience beside the password.
 */
function secondStepsOf({ requireSecondFactor }: SignInDeps, user: ConsoleUserRow) {
  const hasTotp = user.totp_confirmed_at !== null;
  const codes = hasTotp ? (['totp', 'recovery_code'] as const) : [];
  const passkey = user.has_passkey && (hasTotp || requireSecondFactor) ? (['passkey'] as const) : [];
  return [...codes, ...passkey];
}

export async function completeSignIn(
  deps: SignInDeps,
  { token, code }: { readonly token: string; readonly code: string },
  exchange: Exchange,
) {
  const step = await tryStep(deps, 'second_step', token);
  const [user] = await deps.db.query(SYSTEM, findConsoleUser, [step.user_id ?? '']);
  if (user === undefined || user.disabled_at !== null) throw await refused(deps, user ?? null, exchange);
  const attempt = await countedAttempt(deps, user.email, user, exchange);
  const method = await useCode(deps, user, code);
  if (method === null) throw await refused(deps, user, exchange);
  await takeStep(deps, 'second_step', token);
  await startConsoleSession(deps, user, method, exchange);
  await attempt.clear();
  return SIGNED_IN;
}

export async function signInWithPasskey(
  deps: SignInDeps,
  given: { readonly token: string; readonly response: object },
  exchange: Exchange,
) {
  const user = await verifyPasskey(deps, exchange.request, given);
  if (user === null || user.disabled_at !== null) throw await refused(deps, user, exchange);
  await startConsoleSession(deps, user, 'passkey', exchange);
  return SIGNED_IN;
}

/** In a sandbox one click enters a desk, from the machine that it runs on. */
export async function signInToSandbox(
  deps: SignInDeps,
  wanted: { readonly desk: string; readonly email?: string },
  emails: readonly string[],
  exchange: Exchange,
) {
  const users = isLocalCaller(exchange.request)
    ? await deps.db.query(SYSTEM, listSandboxUsers, [emails])
    : [];
  const user = users.find(
    ({ desk, email }) => desk === wanted.desk && (wanted.email === undefined || email === wanted.email),
  );
  if (user === undefined) throw new CausewayError('SIGN_IN_FAILED');
  await startConsoleSession(deps, user, 'sandbox', exchange);
  return SIGNED_IN;
}

/** Always a new token, whatever the browser sent: a session that was planted there gains nothing, and ends. */
async function startConsoleSession(
  deps: SignInDeps,
  user: Pick<ConsoleUserRow, 'user_id' | 'partner_id' | 'vendor_id'>,
  method: SignInMethod,
  { request, reply }: Exchange,
): Promise<void> {
  const { db, ids, wall, consoleSessions } = deps;
  const { token, familyHash, tokenHash } = newSessionToken();
  const before = hashedToken(consoleSessions.tokenOf(request));
  const at = new Date(wall());
  await db.transaction(SYSTEM, async (tx) => {
    tx.defer(endConsoleSessionOfToken, [before.tokenHash, before.familyHash, at]);
    tx.defer(insertConsoleSession, [
      ...([ids.uuid(), user.user_id, user.partner_id, user.vendor_id] as const),
      ...([familyHash, tokenHash, randomToken(TOKEN_PREFIX.console), method] as const),
      ...([addressBucket(request.ip), request.headers['user-agent'] ?? null] as const),
      ...([at, new Date(at.getTime() + deps.sessionMs)] as const),
    ]);
    tx.defer(noteSignIn, [user.user_id, at]);
  });
  await noteActivity(deps, user, `sign_in_${method}`, request, 200);
  consoleSessions.setCookie(reply, token);
}

/** Counted before it is judged; told in the activity where the address is locked. */
async function countedAttempt(
  deps: SignInDeps,
  email: string,
  user: ConsoleUserRow | null,
  { request }: Exchange,
) {
  try {
    return await beginAttempt(deps, email);
  } catch (error) {
    await noteActivity(deps, user, 'sign_in_locked', request, 429);
    throw error;
  }
}

async function refused(
  deps: SignInDeps,
  user: ConsoleUserRow | null,
  { request }: Exchange,
): Promise<CausewayError> {
  await noteActivity(deps, user, 'sign_in_failed', request, 401);
  return new CausewayError('SIGN_IN_FAILED');
}

/** What happens where nobody is signed in yet; `user` is null where there is no such user. */
async function noteActivity(
  { db, ids, wall }: SignInDeps,
  user: Pick<ConsoleUserRow, 'user_id' | 'partner_id' | 'vendor_id'> | null,
  operation: string,
  request: FastifyRequest,
  statusCode: number,
): Promise<void> {
  const owner = [user?.partner_id ?? null, user?.vendor_id ?? null, user?.user_id ?? null] as const;
  await db.query(SYSTEM, insertConsoleActivity, [
    ...([ids.uuid(), ...owner, null, operation, null, statusCode] as const),
    ...([addressBucket(request.ip), new Date(wall())] as const),
  ]);
}
