import { randomInt } from 'node:crypto';
import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { endConsoleSessionsOfUser } from '../../http/console-session.store.ts';
import type { ConsolePrincipal } from '../../http/console-sessions.ts';
import { scopeOf } from '../../http/route-runs.ts';
import { randomToken, type Sealer, sha256Hex, TOKEN_PREFIX } from '../../lib/crypto.ts';
import type { IdGenerator } from '../../lib/ids.ts';
import { verifyPassword } from '../../lib/password-hash.ts';
import { matchTotp, newTotpSecret, otpauthUrl } from '../../lib/totp.ts';
import {
  type ChallengeKind,
  type ChallengeRow,
  insertChallenge,
  takeChallenge,
  tryChallenge,
} from './challenge.store.ts';
import {
  type ConsoleUserRow,
  clearTotp,
  deleteChallengesOfUser,
  findConsoleUser,
  setRecoveryCodes,
  setTotp,
  useRecoveryCode,
  useTotpStep,
} from './console-user.store.ts';
import { beginAttempt } from './lock-out.ts';

/** Codes of an app, recovery codes, and saying once more who one is. */
export interface SecondFactorDeps {
  readonly db: Database;
  readonly ids: IdGenerator;
  readonly sealer: Sealer;
  /** Of the machine: moving a sandbox’s clock signs nobody out. */
  readonly wall: () => number;
  readonly requireSecondFactor: boolean;
}

export interface Proof {
  readonly password?: string;
  readonly code?: string;
}

const ISSUER = 'Causeway';
const MINUTE_MS = 60_000;
const STEP_MS: Readonly<Record<ChallengeKind, number>> = {
  second_step: 5 * MINUTE_MS,
  passkey_sign_in: 5 * MINUTE_MS,
  passkey_registration: 5 * MINUTE_MS,
  // Somebody installs an app meanwhile.
  totp_enrolment: 15 * MINUTE_MS,
};
const MAX_TRIES = 5;
/** After a sign-in something can be added to the account without a second proof. */
const FRESH_MS = 15 * MINUTE_MS;
const RECOVERY_CODES = 10;
/** Letters and digits that are not mistaken for each other; 16 of them are 79 bits, too many to be found from a hash. */
const RECOVERY_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const RECOVERY_LENGTH = 16;

export const totpContext = (userId: string) => `console_users.totp:${userId}`;
export const enrolmentContext = (challengeId: string) => `console_challenges.secret:${challengeId}`;

/** A step that waits for the next request; its token is the only way to it. */
export async function openChallenge(
  { db, ids, wall }: Pick<SecondFactorDeps, 'db' | 'ids' | 'wall'>,
  kind: ChallengeKind,
  {
    userId = null,
    challenge = null,
    seal,
  }: {
    readonly userId?: string | null;
    readonly challenge?: string | null;
    readonly seal?: (challengeId: string) => string;
  },
): Promise<{ readonly token: string; readonly expires_at: string }> {
  const token = randomToken(TOKEN_PREFIX.consoleStep);
  const challengeId = ids.uuid();
  const expiresAt = new Date(wall() + STEP_MS[kind]);
  await db.query(SYSTEM, insertChallenge, [
    ...([challengeId, kind, userId, sha256Hex(token)] as const),
    ...([challenge, seal?.(challengeId) ?? null, expiresAt] as const),
  ]);
  return { token, expires_at: expiresAt.toISOString() };
}

/** Counts a try; throws where there are none left. */
export async function tryStep(
  { db, wall }: Pick<SecondFactorDeps, 'db' | 'wall'>,
  kind: ChallengeKind,
  token: string,
): Promise<ChallengeRow> {
  const [row] = await db.query(SYSTEM, tryChallenge, [sha256Hex(token), kind, new Date(wall()), MAX_TRIES]);
  if (row === undefined) throw new CausewayError('SIGN_IN_STEP_EXPIRED');
  return row;
}

/** Of several at the same time one gets it. */
export async function takeStep(
  { db, wall }: Pick<SecondFactorDeps, 'db' | 'wall'>,
  kind: ChallengeKind,
  token: string,
): Promise<ChallengeRow> {
  const [row] = await db.query(SYSTEM, takeChallenge, [sha256Hex(token), kind, new Date(wall())]);
  if (row === undefined) throw new CausewayError('SIGN_IN_STEP_EXPIRED');
  return row;
}

/** Uses a code up; null where it is none of the user’s, or was used before. */
export async function useCode(
  { db, sealer, wall }: SecondFactorDeps,
  user: ConsoleUserRow,
  given: string,
): Promise<'totp' | 'recovery_code' | null> {
  const code = given.replaceAll(/[\s-]/g, '').toLowerCase();
  if (user.totp_confirmed_at === null || user.totp_secret_sealed === null) return null;
  if (!/^\d{6}$/.test(code)) {
    const [used] = await db.query(SYSTEM, useRecoveryCode, [user.user_id, sha256Hex(code)]);
    return used === undefined ? null : 'recovery_code';
  }
  const secret = sealer.open(user.totp_secret_sealed, totpContext(user.user_id));
  const step = matchTotp(secret, code, wall());
  if (step === null) return null;
  const [used] = await db.query(SYSTEM, useTotpStep, [user.user_id, String(step)]);
  return used === undefined ? null : 'totp';
}

/** Of the user who is signed in. */
export async function ownRow(
  { db }: { readonly db: Database },
  caller: ConsolePrincipal,
): Promise<ConsoleUserRow> {
  const [user] = await db.query(scopeOf(caller), findConsoleUser, [caller.user.userId]);
  if (user === undefined) throw new CausewayError('SIGN_IN_REQUIRED');
  return user;
}

/** Throws unless the user has just signed in, or gives the password or a code; with `always` the sign-in is not enough. */
export async function reauthenticate(
  deps: SecondFactorDeps,
  caller: ConsolePrincipal,
  user: ConsoleUserRow,
  proof: Proof,
  always = false,
): Promise<void> {
  const { password, code } = proof;
  if (password === undefined && code === undefined) {
    const isFresh = deps.wall() - caller.user.signedInAt.getTime() < FRESH_MS;
    if (isFresh && !always) return;
    throw new CausewayError('REAUTHENTICATION_REQUIRED');
  }
  const attempt = await beginAttempt(deps, user.email);
  const isRight =
    password === undefined
      ? (await useCode(deps, user, code ?? '')) !== null
      : await verifyPassword(password, user.password_hash);
  if (!isRight) throw new CausewayError('CREDENTIAL_INVALID');
  await attempt.giveBack();
}

/** A new app; the old one, where there is one, is good until the new one is confirmed. */
export async function beginTotp(deps: SecondFactorDeps, caller: ConsolePrincipal, proof: Proof) {
  const user = await ownRow(deps, caller);
  await reauthenticate(deps, caller, user, proof, user.totp_confirmed_at !== null);
  const secret = newTotpSecret();
  const opened = await openChallenge(deps, 'totp_enrolment', {
    userId: user.user_id,
    seal: (id) => deps.sealer.seal(secret, enrolmentContext(id)),
  });
  return { ...opened, secret, otpauth_url: otpauthUrl(secret, user.email, ISSUER) };
}

/** From here on a password alone is not enough: sessions that were begun with less end. */
export async function confirmTotp(
  deps: SecondFactorDeps,
  caller: ConsolePrincipal,
  { token, code }: { readonly token: string; readonly code: string },
): Promise<{ readonly recovery_codes: string[] }> {
  const { userId, sessionId } = caller.user;
  const challenge = await tryStep(deps, 'totp_enrolment', token);
  if (challenge.user_id !== userId || challenge.secret_sealed === null) {
    throw new CausewayError('SIGN_IN_STEP_EXPIRED');
  }
  const secret = deps.sealer.open(challenge.secret_sealed, enrolmentContext(challenge.challenge_id));
  const step = matchTotp(secret, code.replaceAll(/\s/g, ''), deps.wall());
  if (step === null) throw new CausewayError('CREDENTIAL_INVALID');
  await takeStep(deps, 'totp_enrolment', token);
  const codes = newRecoveryCodes();
  const at = new Date(deps.wall());
  const sealed = deps.sealer.seal(secret, totpContext(userId));
  await deps.db.transaction(scopeOf(caller), async (tx) => {
    tx.defer(setTotp, [userId, sealed, String(step), codes.map(hashOfCode), at]);
    tx.defer(endConsoleSessionsOfUser, [userId, sessionId, 'revoked', at]);
  });
  await deps.db.query(SYSTEM, deleteChallengesOfUser, [userId]);
  return { recovery_codes: codes };
}

export async function disableTotp(
  deps: SecondFactorDeps,
  caller: ConsolePrincipal,
  proof: Proof,
): Promise<void> {
  const user = await ownRow(deps, caller);
  await reauthenticate(deps, caller, user, proof, true);
  if (deps.requireSecondFactor && !user.has_passkey) throw new CausewayError('LAST_SECOND_FACTOR');
  await deps.db.query(scopeOf(caller), clearTotp, [user.user_id]);
  await deps.db.query(SYSTEM, deleteChallengesOfUser, [user.user_id]);
}

/** The old ones are good no longer. */
export async function renewRecoveryCodes(
  deps: SecondFactorDeps,
  caller: ConsolePrincipal,
  proof: Proof,
): Promise<{ readonly recovery_codes: string[] }> {
  const user = await ownRow(deps, caller);
  await reauthenticate(deps, caller, user, proof, true);
  if (user.totp_confirmed_at === null) throw new CausewayError('CREDENTIAL_INVALID');
  const codes = newRecoveryCodes();
  await deps.db.query(scopeOf(caller), setRecoveryCodes, [user.user_id, codes.map(hashOfCode)]);
  return { recovery_codes: codes };
}

const hashOfCode = (code: string) => sha256Hex(code.replaceAll('-', ''));

function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const characters = Array.from({ length: RECOVERY_LENGTH }, () =>
      RECOVERY_ALPHABET.charAt(randomInt(RECOVERY_ALPHABET.length)),
    ).join('');
    return characters.replaceAll(/(.{4})(?=.)/g, '$1-');
  });
}
