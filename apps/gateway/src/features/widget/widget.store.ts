import { statement } from '../../db/statement.ts';
import type { SessionStart } from './starting-point.ts';

/** All SQL of widget sessions and of the codes that confirm an e-mail address. */

export interface SessionRow {
  session_id: string;
  partner_id: string;
  key_id: string | null;
  widget_key_sealed: string | null;
  user_id: string | null;
  start: SessionStart;
  locked: boolean;
  partner_fee_pct: string | null;
  expires_at: Date;
  created_at: Date;
}

const COLUMNS = `session_id, partner_id, key_id, widget_key_sealed, user_id, start, locked,
  trim_scale(partner_fee_pct)::text AS partner_fee_pct, expires_at, created_at`;

export const insertSession = statement<
  [
    sessionId: string,
    partnerId: string,
    keyId: string | null,
    widgetKeySealed: string | null,
    userId: string | null,
    tokenHash: string | null,
    codeHash: string | null,
    codeExpiresAt: Date | null,
    start: string,
    locked: boolean,
    partnerFeePct: string | null,
    expiresAt: Date,
    at: Date,
  ],
  SessionRow
>(
  'widget_sessions.insert',
  `INSERT INTO widget_sessions (session_id, partner_id, key_id, widget_key_sealed, user_id, token_hash, code_hash,
     code_expires_at, start, locked, partner_fee_pct, expires_at, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11, $12, $13) RETURNING ${COLUMNS}`,
);

export const findSession = statement<[sessionId: string], SessionRow>(
  'widget_sessions.find',
  `SELECT ${COLUMNS} FROM widget_sessions WHERE session_id = $1`,
);

/**
 * One statement, so that of all who use a code at the same time one token is left: the last. A code is kept until its token
 * is used, because the answer that brings the token may be lost; from the first use on there is no such code (principals.ts).
 */
export const exchangeCode = statement<
  [sessionId: string, codeHash: string, tokenHash: string, at: Date, repeatedUntil: Date],
  SessionRow
>(
  'widget_sessions.exchange_code',
  `UPDATE widget_sessions SET token_hash = $3,
     code_expires_at = CASE WHEN token_hash IS NULL THEN $5 ELSE code_expires_at END
    WHERE session_id = $1 AND code_hash = $2 AND code_expires_at > $4 AND expires_at > $4 AND ended_at IS NULL
   RETURNING ${COLUMNS}`,
);

export const bindCustomer = statement<[sessionId: string, userId: string], SessionRow>(
  'widget_sessions.bind_customer',
  `UPDATE widget_sessions SET user_id = $2 WHERE session_id = $1 AND user_id IS NULL RETURNING ${COLUMNS}`,
);

/** What the session knows of its customer goes; what the page began with stays. */
const FORGET_PERSON = `start = start - 'wallet_address' - 'reference_id'`;

export const dropCustomer = statement<[sessionId: string], SessionRow>(
  'widget_sessions.drop_customer',
  `UPDATE widget_sessions SET user_id = NULL, ${FORGET_PERSON} WHERE session_id = $1 RETURNING ${COLUMNS}`,
);

export const endSessionsOfUser = statement<[userId: string, at: Date]>(
  'widget_sessions.end_of_user',
  `UPDATE widget_sessions SET ended_at = coalesce(ended_at, $2), user_id = NULL, ${FORGET_PERSON} WHERE user_id = $1`,
);

/** The codes of a session go with it. */
export const purgeSessions = statement<[before: Date, limit: number], { purged: number }>(
  'widget_sessions.purge',
  `WITH gone AS (
     DELETE FROM widget_sessions WHERE session_id IN (
       SELECT session_id FROM widget_sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)
     RETURNING 1)
   SELECT count(*)::int AS purged FROM gone`,
);

export interface EmailCodeRow {
  session_id: string;
  partner_id: string;
  email_index: string;
  message_sealed: string;
  code_hash: string;
  attempts: number;
  sent_at: Date;
  expires_at: Date;
}

const CODE_COLUMNS =
  'session_id, partner_id, email_index, message_sealed, code_hash, attempts, sent_at, expires_at';

export const findEmailCode = statement<[sessionId: string], EmailCodeRow>(
  'widget_email_codes.find',
  `SELECT ${CODE_COLUMNS} FROM widget_email_codes WHERE session_id = $1`,
);

export const lockEmailCode = statement<[sessionId: string], EmailCodeRow>(
  'widget_email_codes.lock',
  `SELECT ${CODE_COLUMNS} FROM widget_email_codes WHERE session_id = $1 FOR UPDATE`,
);

/** Two requests of one session wait for each other, although there may be no code yet that could be locked. */
export const lockSession = statement<[sessionId: string], { session_id: string }>(
  'widget_sessions.lock',
  'SELECT session_id FROM widget_sessions WHERE session_id = $1 FOR UPDATE',
);

export const saveEmailCode = statement<
  [
    sessionId: string,
    partnerId: string,
    emailIndex: string,
    messageSealed: string,
    codeHash: string,
    sentAt: Date,
    expiresAt: Date,
  ]
>(
  'widget_email_codes.save',
  `INSERT INTO widget_email_codes (session_id, partner_id, email_index, message_sealed, code_hash, sent_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (session_id) DO UPDATE SET email_index = excluded.email_index, message_sealed = excluded.message_sealed,
     code_hash = excluded.code_hash, attempts = 0, sent_at = excluded.sent_at, expires_at = excluded.expires_at`,
);

export const countAttempt = statement<[sessionId: string]>(
  'widget_email_codes.count_attempt',
  'UPDATE widget_email_codes SET attempts = attempts + 1 WHERE session_id = $1',
);

export const deleteEmailCode = statement<[sessionId: string]>(
  'widget_email_codes.delete',
  'DELETE FROM widget_email_codes WHERE session_id = $1',
);

export const purgeEmailCodes = statement<[before: Date]>(
  'widget_email_codes.purge',
  'DELETE FROM widget_email_codes WHERE expires_at < $1',
);

export const countCode = statement<[partnerId: string, counted: string, hour: Date], { codes: number }>(
  'widget_code_counts.add',
  `INSERT INTO widget_code_counts AS c (partner_id, counted, hour, codes) VALUES ($1, $2, $3, 1)
   ON CONFLICT (partner_id, counted, hour) DO UPDATE SET codes = c.codes + 1 RETURNING codes`,
);

export const purgeCodeCounts = statement<[before: Date]>(
  'widget_code_counts.purge',
  'DELETE FROM widget_code_counts WHERE hour < $1',
);

/** So that two sessions that confirm a new address at once make one customer. */
export const lockAddress = statement<[name: string], unknown>(
  'widget_email_codes.lock_address',
  'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
);

/** What is kept of a customer’s mailbox beside the customer; asked while the customer’s own index still is there. */
export const eraseMailbox = statement<[userId: string]>(
  'widget.erase_mailbox',
  `WITH mailbox AS (SELECT partner_id, email_index FROM users WHERE user_id = $1),
     codes AS (DELETE FROM widget_email_codes WHERE (partner_id, email_index) IN (SELECT * FROM mailbox)),
     counts AS (DELETE FROM widget_code_counts WHERE (partner_id, counted) IN (SELECT * FROM mailbox))
   DELETE FROM sandbox_mails WHERE (partner_id, email_index) IN (SELECT * FROM mailbox)`,
);

export interface SandboxMailRow {
  mail_id: string;
  message_sealed: string;
  sent_at: Date;
}

export const insertSandboxMail = statement<
  [mailId: string, partnerId: string, emailIndex: string, messageSealed: string, at: Date]
>(
  'sandbox_mails.insert',
  `INSERT INTO sandbox_mails (mail_id, partner_id, email_index, message_sealed, sent_at) VALUES ($1, $2, $3, $4, $5)`,
);

export const listSandboxMails = statement<
  [partnerId: string, emailIndex: string, limit: number],
  SandboxMailRow
>(
  'sandbox_mails.list',
  `SELECT mail_id, message_sealed, sent_at FROM sandbox_mails
    WHERE partner_id = $1 AND email_index = $2 ORDER BY sent_at DESC, mail_id DESC LIMIT $3`,
);

export const purgeSandboxMails = statement<[before: Date]>(
  'sandbox_mails.purge',
  'DELETE FROM sandbox_mails WHERE sent_at < $1',
);

export const partnerNameOf = statement<[partnerId: string], { name: string }>(
  'widget.partner_name',
  'SELECT name FROM partners WHERE partner_id = $1',
);
