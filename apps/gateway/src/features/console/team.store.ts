import { statement } from '../../db/statement.ts';

/** Sessions of users, and what users did, as they are shown. */
export interface OpenSessionRow {
  session_id: string;
  method: 'password' | 'totp' | 'recovery_code' | 'passkey' | 'sandbox' | 'invitation';
  network: string | null;
  user_agent: string | null;
  created_at: Date;
  seen_at: Date;
  expires_at: Date;
}

export const listOpenSessions = statement<[userId: string, at: Date, idleSince: Date], OpenSessionRow>(
  'console_sessions.list_open',
  `SELECT session_id, method, network, user_agent, created_at, seen_at, expires_at FROM console_sessions
    WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2 AND seen_at > $3 ORDER BY seen_at DESC, session_id`,
);

export const endOneSession = statement<[sessionId: string, userId: string, at: Date], { session_id: string }>(
  'console_sessions.end_one',
  `UPDATE console_sessions SET ended_at = $3, ended_because = 'revoked'
    WHERE session_id = $1 AND user_id = $2 AND ended_at IS NULL RETURNING session_id`,
);

export interface ActivityRow {
  activity_id: string;
  at: Date;
  partner_id: string | null;
  vendor_id: string | null;
  user_id: string | null;
  email: string | null;
  name: string | null;
  operation: string;
  path: string | null;
  status_code: number | null;
  network: string | null;
}

/** What the caller’s scope lets it see: an operator everything, others their own desk. */
export const listActivity = statement<
  [
    cursor: string | null,
    userId: string | null,
    operation: string | null,
    from: Date | null,
    to: Date | null,
    limit: number,
  ],
  ActivityRow
>(
  'console_activity.list',
  `SELECT a.activity_id, a.at, a.partner_id, a.vendor_id, a.user_id, u.email, u.name, a.operation, a.path, a.status_code,
          a.network
     FROM console_activity a LEFT JOIN console_users u USING (user_id)
    WHERE ($1::uuid IS NULL OR (a.at, a.activity_id) <
            (SELECT c.at, c.activity_id FROM console_activity c WHERE c.activity_id = $1))
      AND ($2::uuid IS NULL OR a.user_id = $2) AND ($3::text IS NULL OR a.operation = $3)
      AND ($4::timestamptz IS NULL OR a.at >= $4) AND ($5::timestamptz IS NULL OR a.at < $5)
    ORDER BY a.at DESC, a.activity_id DESC LIMIT $6`,
);
