import {
  APPROVAL_EXPIRED,
  APPROVAL_REJECTED,
  APPROVAL_WAITING,
  type ApprovalStatus,
} from '@causeway/protocol';
import { sqlWords, statement } from '../db/statement.ts';
import type { JsonObject } from '../engine/intent.ts';

/** SQL of calls that wait for a second person; the only file that writes them. */

const WAITING = sqlWords(APPROVAL_WAITING);

export interface ApprovalRow {
  approval_id: string;
  status: ApprovalStatus;
  operation: string;
  method: string;
  path: string;
  params: JsonObject;
  body_sealed: string;
  payload_hash: string;
  subject: string;
  summary: string;
  amount_usd: string | null;
  requested_by_user_id: string | null;
  requested_by_key_id: string | null;
  requester_person_id: string;
  requester_name: string;
  reason: string | null;
  requested_at: Date;
  expires_at: Date;
  decided_by_user_id: string | null;
  decided_by_key_id: string | null;
  decider_name: string | null;
  decision_reason: string | null;
  decided_at: Date | null;
  error_code: string | null;
}

const COLUMNS = `a.approval_id, a.status, a.operation, a.method, a.path, a.params, a.body_sealed, a.payload_hash, a.subject,
  a.summary, trim_scale(a.amount_usd)::text AS amount_usd, a.requested_by_user_id, a.requested_by_key_id,
  a.requester_person_id, a.reason, a.requested_at, a.expires_at, a.decided_by_user_id, a.decided_by_key_id,
  a.decision_reason, a.decided_at, a.error_code,
  coalesce((SELECT u.name FROM console_users u WHERE u.user_id = a.requested_by_user_id),
    (SELECT coalesce(nullif(k.label, ''), k.hint) FROM api_keys k WHERE k.key_id = a.requested_by_key_id)) AS requester_name,
  coalesce((SELECT u.name FROM console_users u WHERE u.user_id = a.decided_by_user_id),
    (SELECT coalesce(nullif(k.label, ''), k.hint) FROM api_keys k WHERE k.key_id = a.decided_by_key_id)) AS decider_name`;

/** One at a time for a call: two first persons do not both ask, two second ones do not both carry it out. */
export const lockPayload = statement<[payloadHash: string]>(
  'approvals.lock_payload',
  `SELECT pg_advisory_xact_lock(hashtextextended('approval:' || $1::text, 0))`,
);

export const findWaitingApproval = statement<[payloadHash: string], ApprovalRow>(
  'approvals.find_waiting',
  `SELECT ${COLUMNS} FROM approvals a WHERE a.payload_hash = $1 AND a.status IN (${WAITING}) FOR UPDATE OF a`,
);

export const findApproval = statement<[approvalId: string], ApprovalRow>(
  'approvals.find',
  `SELECT ${COLUMNS} FROM approvals a WHERE a.approval_id = $1`,
);

export const insertApproval = statement<
  [
    approvalId: string,
    operation: string,
    method: string,
    path: string,
    params: string,
    bodySealed: string,
    payloadHash: string,
    subject: string,
    summary: string,
    amountUsd: string | null,
    userId: string | null,
    keyId: string | null,
    personId: string,
    reason: string | null,
    at: Date,
    expiresAt: Date,
  ]
>(
  'approvals.insert',
  `INSERT INTO approvals (approval_id, status, operation, method, path, params, body_sealed, payload_hash, subject, summary,
     amount_usd, requested_by_user_id, requested_by_key_id, requester_person_id, reason, requested_at, expires_at)
   VALUES ($1, ${WAITING}, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10::numeric, $11, $12, $13, $14, $15, $16)`,
);

/** Ends one that waits. */
export const closeApproval = statement<
  [
    approvalId: string,
    status: ApprovalStatus,
    userId: string | null,
    keyId: string | null,
    reason: string | null,
    errorCode: string | null,
    at: Date,
  ],
  { approval_id: string }
>(
  'approvals.close',
  `UPDATE approvals SET status = $2, decided_by_user_id = $3, decided_by_key_id = $4, decision_reason = $5, error_code = $6,
     decided_at = $7
    WHERE approval_id = $1 AND status IN (${WAITING}) RETURNING approval_id`,
);

/** Refuses one that waits and has not expired. */
export const rejectApproval = statement<
  [approvalId: string, userId: string | null, keyId: string | null, reason: string, at: Date],
  { approval_id: string }
>(
  'approvals.reject',
  `UPDATE approvals SET status = ${sqlWords(APPROVAL_REJECTED)}, decided_by_user_id = $2, decided_by_key_id = $3,
     decision_reason = $4, decided_at = $5
    WHERE approval_id = $1 AND status IN (${WAITING}) AND expires_at > $5 RETURNING approval_id`,
);

export const expireApprovals = statement<[at: Date]>(
  'approvals.expire',
  `UPDATE approvals SET status = ${sqlWords(APPROVAL_EXPIRED)}, decided_at = expires_at
    WHERE status IN (${WAITING}) AND expires_at <= $1`,
);

/** What is over counts as expired before the worker has come by. */
const STATUS_AT = (at: string) =>
  `CASE WHEN a.status IN (${WAITING}) AND a.expires_at <= ${at} THEN ${sqlWords(APPROVAL_EXPIRED)} ELSE a.status END`;

export const listApprovals = statement<
  [status: string | null, subject: string | null, at: Date, limit: number, offset: number],
  ApprovalRow
>(
  'approvals.list',
  `SELECT ${COLUMNS} FROM approvals a
    WHERE ($1::text IS NULL OR ${STATUS_AT('$3')} = $1) AND ($2::text IS NULL OR a.subject = $2)
    ORDER BY (a.status IN (${WAITING}) AND a.expires_at > $3) DESC, a.requested_at DESC, a.approval_id DESC
    LIMIT $4 OFFSET $5`,
);

export const countApprovals = statement<
  [status: string | null, subject: string | null, at: Date],
  { total: string }
>(
  'approvals.count',
  `SELECT count(*) AS total FROM approvals a
    WHERE ($1::text IS NULL OR ${STATUS_AT('$3')} = $1) AND ($2::text IS NULL OR a.subject = $2)`,
);

export const countWaitingApprovals = statement<[at: Date], { waiting: string; oldest_seconds: string }>(
  'approvals.count_waiting',
  `SELECT count(*) AS waiting, coalesce(extract(epoch FROM $1 - min(requested_at)), 0)::bigint AS oldest_seconds
     FROM approvals WHERE status IN (${WAITING}) AND expires_at > $1`,
);
