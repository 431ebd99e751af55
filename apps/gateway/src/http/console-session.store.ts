import type { Role } from '@causeway/protocol/console';
import { statement } from '../db/statement.ts';

export interface ConsoleSessionRow {
  session_id: string;
  user_id: string;
  partner_id: string | null;
  vendor_id: string | null;
  role: Role;
  email: string;
  name: string;
  csrf_token: string;
  is_current: boolean;
  is_previous: boolean;
  token_hash: string;
  created_at: Date;
  rotated_at: Date;
  confirmed_at: Date | null;
  seen_at: Date;
  has_second_factor: boolean;
}

/** By the part of the cookie that stays; whether the rest is the latest is for the caller. A disabled user has no session. */
export const findConsoleSession = statement<
  [familyHash: string, tokenHash: string, at: Date, idleSince: Date],
  ConsoleSessionRow
>(
  'console_sessions.find',
  `SELECT s.session_id, s.user_id, u.partner_id, u.vendor_id, u.role, u.email, u.name, s.csrf_token,
          s.token_hash = $2 AS is_current, coalesce(s.previous_token_hash = $2, false) AS is_previous, s.token_hash,
          s.created_at, s.rotated_at, s.confirmed_at, s.seen_at,
          u.totp_confirmed_at IS NOT NULL
            OR EXISTS (SELECT FROM console_passkeys p WHERE p.user_id = u.user_id) AS has_second_factor
     FROM console_sessions s JOIN console_users u USING (user_id)
    WHERE s.family_hash = $1 AND s.expires_at > $3 AND s.seen_at > $4 AND s.ended_at IS NULL AND u.disabled_at IS NULL`,
);

/** Requests overtake each other: only the first that finds the cookie old gets a new one. */
export const rotateConsoleSession = statement<
  [sessionId: string, currentHash: string, newHash: string, at: Date],
  { session_id: string }
>(
  'console_sessions.rotate',
  `UPDATE console_sessions
      SET previous_token_hash = token_hash, token_hash = $3, rotated_at = $4, seen_at = $4, confirmed_at = NULL
    WHERE session_id = $1 AND token_hash = $2 RETURNING session_id`,
);

/** The new cookie never came back, so the browser does not have it: it gets another, and what it has stays good till then. */
export const reissueConsoleSession = statement<
  [sessionId: string, currentHash: string, newHash: string, at: Date],
  { session_id: string }
>(
  'console_sessions.reissue',
  `UPDATE console_sessions SET token_hash = $3, rotated_at = $4, seen_at = $4
    WHERE session_id = $1 AND token_hash = $2 AND confirmed_at IS NULL RETURNING session_id`,
);

export const confirmConsoleSession = statement<[sessionId: string, at: Date]>(
  'console_sessions.confirm',
  `UPDATE console_sessions SET seen_at = greatest(seen_at, $2), confirmed_at = coalesce(confirmed_at, $2)
    WHERE session_id = $1`,
);

/** A session cannot change its user’s partner or vendor, so that only whether it is over is asked. */
export const findLiveSession = statement<[sessionId: string, at: Date], { session_id: string }>(
  'console_sessions.find_live',
  `SELECT s.session_id FROM console_sessions s JOIN console_users u USING (user_id)
    WHERE s.session_id = $1 AND s.expires_at > $2 AND s.ended_at IS NULL AND u.disabled_at IS NULL`,
);

export type SessionEnd = 'signed_out' | 'revoked' | 'replayed' | 'disabled' | 'password_changed';

export const endConsoleSession = statement<[sessionId: string, because: SessionEnd, at: Date]>(
  'console_sessions.end',
  'UPDATE console_sessions SET ended_at = $3, ended_because = $2 WHERE session_id = $1 AND ended_at IS NULL',
);

/** The session that a browser has when somebody signs in anew there; a cookie that is not the latest ends nothing. */
export const endConsoleSessionOfToken = statement<[tokenHash: string, familyHash: string, at: Date]>(
  'console_sessions.end_of_token',
  `UPDATE console_sessions SET ended_at = $3, ended_because = 'signed_out'
    WHERE family_hash = $2 AND token_hash = $1 AND ended_at IS NULL`,
);

/** All of a user, but for one where that is given. */
export const endConsoleSessionsOfUser = statement<
  [userId: string, exceptSessionId: string | null, because: SessionEnd, at: Date],
  { session_id: string }
>(
  'console_sessions.end_of_user',
  `UPDATE console_sessions SET ended_at = $4, ended_because = $3
    WHERE user_id = $1 AND session_id IS DISTINCT FROM $2 AND ended_at IS NULL RETURNING session_id`,
);

export const insertConsoleSession = statement<
  [
    sessionId: string,
    userId: string,
    partnerId: string | null,
    vendorId: string | null,
    familyHash: string,
    tokenHash: string,
    csrfToken: string,
    method: string,
    network: string | null,
    userAgent: string | null,
    at: Date,
    expiresAt: Date,
  ]
>(
  'console_sessions.insert',
  `INSERT INTO console_sessions (session_id, user_id, partner_id, vendor_id, family_hash, token_hash, csrf_token, method,
     network, user_agent, created_at, seen_at, rotated_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, left($10, 200), $11, $11, $11, $12)`,
);

export const insertConsoleActivity = statement<
  [
    activityId: string,
    partnerId: string | null,
    vendorId: string | null,
    userId: string | null,
    sessionId: string | null,
    operation: string,
    path: string | null,
    statusCode: number | null,
    network: string | null,
    at: Date,
  ]
>(
  'console_activity.insert',
  `INSERT INTO console_activity (activity_id, partner_id, vendor_id, user_id, session_id, operation, path, status_code, network, at)
   VALUES ($1, $2, $3, $4, $5, $6, left($7, 500), $8, $9, $10)`,
);

export const finishConsoleActivity = statement<[activityId: string, statusCode: number]>(
  'console_activity.finish',
  'UPDATE console_activity SET status_code = $2 WHERE activity_id = $1',
);
