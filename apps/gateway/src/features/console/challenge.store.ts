import { statement } from '../../db/statement.ts';

/** Steps of a sign-in that wait for the next, passkeys, and failed attempts. */

export type ChallengeKind = 'second_step' | 'totp_enrolment' | 'passkey_sign_in' | 'passkey_registration';

export interface ChallengeRow {
  challenge_id: string;
  user_id: string | null;
  challenge: string | null;
  secret_sealed: string | null;
}

export const insertChallenge = statement<
  [
    challengeId: string,
    kind: ChallengeKind,
    userId: string | null,
    tokenHash: string,
    challenge: string | null,
    secretSealed: string | null,
    expiresAt: Date,
  ]
>(
  'console_challenges.insert',
  `INSERT INTO console_challenges (challenge_id, kind, user_id, token_hash, challenge, secret_sealed, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

/** Counts the try before it is judged: tries at the same time do not get more of them. */
export const tryChallenge = statement<
  [tokenHash: string, kind: ChallengeKind, at: Date, maxTries: number],
  ChallengeRow
>(
  'console_challenges.try',
  `UPDATE console_challenges SET attempts = attempts + 1
    WHERE token_hash = $1 AND kind = $2 AND expires_at > $3 AND attempts < $4
   RETURNING challenge_id, user_id, challenge, secret_sealed`,
);

/** Single use: who deletes it has it. */
export const takeChallenge = statement<[tokenHash: string, kind: ChallengeKind, at: Date], ChallengeRow>(
  'console_challenges.take',
  `DELETE FROM console_challenges WHERE token_hash = $1 AND kind = $2 AND expires_at > $3
   RETURNING challenge_id, user_id, challenge, secret_sealed`,
);

export interface PasskeyRow {
  passkey_id: string;
  user_id: string;
  public_key: Buffer;
  sign_count: string;
  transports: string[];
  label: string;
  created_at: Date;
  last_used_at: Date | null;
}

const PASSKEY =
  'passkey_id, user_id, public_key, sign_count::text, transports, label, created_at, last_used_at';

export const listPasskeys = statement<[userId: string], PasskeyRow>(
  'console_passkeys.list',
  `SELECT ${PASSKEY} FROM console_passkeys WHERE user_id = $1 ORDER BY created_at, passkey_id`,
);

export const findPasskey = statement<[passkeyId: string], PasskeyRow>(
  'console_passkeys.find',
  `SELECT ${PASSKEY} FROM console_passkeys WHERE passkey_id = $1`,
);

export const insertPasskey = statement<
  [
    passkeyId: string,
    userId: string,
    partnerId: string | null,
    vendorId: string | null,
    publicKey: Uint8Array,
    signCount: number,
    transports: readonly string[],
    label: string,
    at: Date,
  ],
  { passkey_id: string }
>(
  'console_passkeys.insert',
  `INSERT INTO console_passkeys (passkey_id, user_id, partner_id, vendor_id, public_key, sign_count, transports, label, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING passkey_id`,
);

/** A count that does not grow is that of a copy; devices that count nothing always say 0. */
export const usePasskey = statement<[passkeyId: string, signCount: number, at: Date], { passkey_id: string }>(
  'console_passkeys.use',
  `UPDATE console_passkeys SET sign_count = $2, last_used_at = $3
    WHERE passkey_id = $1 AND (sign_count < $2 OR (sign_count = 0 AND $2 = 0)) RETURNING passkey_id`,
);

export const renamePasskey = statement<
  [passkeyId: string, userId: string, label: string],
  { passkey_id: string }
>(
  'console_passkeys.rename',
  'UPDATE console_passkeys SET label = $3 WHERE passkey_id = $1 AND user_id = $2 RETURNING passkey_id',
);

export const deletePasskey = statement<[passkeyId: string, userId: string], { passkey_id: string }>(
  'console_passkeys.delete',
  'DELETE FROM console_passkeys WHERE passkey_id = $1 AND user_id = $2 RETURNING passkey_id',
);

export const deletePasskeysOfUser = statement<[userId: string]>(
  'console_passkeys.delete_of_user',
  'DELETE FROM console_passkeys WHERE user_id = $1',
);

/**
 * Counts an attempt before it is judged, or answers nothing where the address is locked. Every tenth in a row locks it: for
 * 15 minutes, then for twice as long each time, up to a day.
 */
export const takeAttempt = statement<[addressHash: string, at: Date], { failures: number }>(
  'console_sign_in_attempts.take',
  `INSERT INTO console_sign_in_attempts AS a (address_hash, failures, last_at) VALUES ($1, 1, $2)
   ON CONFLICT (address_hash) DO UPDATE SET failures = a.failures + 1, last_at = $2,
     locked_until = CASE WHEN (a.failures + 1) % 10 = 0
       THEN $2 + least(interval '24 hours', interval '15 minutes' * power(2, least((a.failures + 1) / 10 - 1, 10))) END
   WHERE a.locked_until IS NULL OR a.locked_until <= $2
   RETURNING failures`,
);

export const findLock = statement<[addressHash: string], { locked_until: Date | null }>(
  'console_sign_in_attempts.find_lock',
  'SELECT locked_until FROM console_sign_in_attempts WHERE address_hash = $1',
);

export const listLocks = statement<
  [addressHashes: readonly string[], at: Date],
  { address_hash: string; locked_until: Date }
>(
  'console_sign_in_attempts.list_locks',
  `SELECT address_hash, locked_until FROM console_sign_in_attempts
    WHERE address_hash = ANY ($1) AND locked_until > $2`,
);

/** Of an attempt that was right so far. It takes back the lock only where it was itself the one that locked. */
export const giveAttemptBack = statement<[addressHash: string, wasTheLock: boolean]>(
  'console_sign_in_attempts.give_back',
  `UPDATE console_sign_in_attempts SET failures = greatest(failures - 1, 0),
     locked_until = CASE WHEN $2 THEN NULL ELSE locked_until END WHERE address_hash = $1`,
);

export const clearAttempts = statement<[addressHash: string]>(
  'console_sign_in_attempts.clear',
  'DELETE FROM console_sign_in_attempts WHERE address_hash = $1',
);

// Housekeeping.

export const purgeChallenges = statement<[before: Date]>(
  'console_challenges.purge',
  'DELETE FROM console_challenges WHERE expires_at < $1',
);

export const purgeAttempts = statement<[before: Date]>(
  'console_sign_in_attempts.purge',
  'DELETE FROM console_sign_in_attempts WHERE greatest(last_at, locked_until) < $1',
);

export const purgeConsoleSessions = statement<[before: Date]>(
  'console_sessions.purge',
  'DELETE FROM console_sessions WHERE expires_at < $1',
);

export const purgeInvitations = statement<[before: Date]>(
  'console_invitations.purge',
  'DELETE FROM console_invitations WHERE expires_at < $1',
);
