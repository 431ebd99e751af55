import { statement } from '../db/statement.ts';
import type { OperatorPrincipal } from '../http/principals.ts';
import type { JsonObject } from './intent.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Something an operator did. It names the subject by its id, never by a person's name. */
export interface OperatorAction {
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
  readonly before?: JsonObject;
  readonly after?: JsonObject;
}

/** The one decision that an order's audit trail shows among its statuses. */
export const KYC_WAIVED = 'order.hold.release_without_kyc';

const insertAudit = statement<
  [
    auditId: string,
    operatorKeyId: string | null,
    operatorUserId: string | null,
    action: string,
    subject: string,
    reason: string,
    before: string | null,
    after: string | null,
    at: Date,
  ]
>(
  'operators.insert_audit',
  `INSERT INTO operator_audit (audit_id, operator_key_id, operator_user_id, action, subject, reason, before, after, at)
   VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, $9)`,
);

/** Written in the transaction of what was done: neither is there without the other. */
export function recordAction(
  unit: UnitOfWork,
  operator: Pick<OperatorPrincipal, 'keyId' | 'user'>,
  done: OperatorAction,
): void {
  unit.tx.defer(insertAudit, [
    unit.ids.uuid(),
    operator.user === undefined ? operator.keyId : null,
    operator.user?.userId ?? null,
    done.action,
    done.subject,
    done.reason,
    done.before === undefined ? null : JSON.stringify(done.before),
    done.after === undefined ? null : JSON.stringify(done.after),
    unit.at,
  ]);
}

export interface AuditRow {
  audit_id: string;
  operator_key_id: string | null;
  operator_user_id: string | null;
  actor: { readonly kind: 'key' | 'user'; readonly id: string; readonly name: string };
  action: string;
  subject: string;
  reason: string;
  before: JsonObject | null;
  after: JsonObject | null;
  at: Date;
}

export type AuditFilters = [
  /** With a slash at its end: everything of a kind. */
  subject: string | null,
  action: string | null,
  /** An id, or a part of a name. */
  actor: string | null,
  inReason: string | null,
  from: Date | null,
  to: Date | null,
];

const ENTRIES = `operator_audit a LEFT JOIN api_keys k ON k.key_id = a.operator_key_id
  LEFT JOIN console_users u ON u.user_id = a.operator_user_id`;

const contains = (column: string, sought: string) => `position(lower(${sought}) IN lower(${column})) > 0`;

const MATCHES = `($1::text IS NULL OR a.subject = $1 OR (right($1, 1) = '/' AND starts_with(a.subject, $1)))
  AND ($2::text IS NULL OR starts_with(a.action, $2))
  AND ($3::text IS NULL OR a.operator_key_id::text = lower($3) OR a.operator_user_id::text = lower($3)
       OR ${contains('u.name', '$3')} OR ${contains('u.email', '$3')} OR ${contains('k.label', '$3')} OR k.hint = $3)
  AND ($4::text IS NULL OR ${contains('a.reason', '$4')})
  AND ($5::timestamptz IS NULL OR a.at >= $5) AND ($6::timestamptz IS NULL OR a.at < $6)`;

export const listAudit = statement<[...AuditFilters, limit: number, offset: number], AuditRow>(
  'operators.list_audit',
  `SELECT a.audit_id, a.operator_key_id, a.operator_user_id,
          jsonb_build_object('kind', CASE WHEN a.operator_user_id IS NULL THEN 'key' ELSE 'user' END,
            'id', coalesce(a.operator_user_id, a.operator_key_id),
            'name', coalesce(u.name, nullif(k.label, ''), k.hint, 'a key that is gone')) AS actor,
          a.action, a.subject, a.reason, a.before, a.after, a.at
     FROM ${ENTRIES} WHERE ${MATCHES} ORDER BY a.at DESC, a.audit_id DESC LIMIT $7 OFFSET $8`,
);

export const countAudit = statement<AuditFilters, { total: string }>(
  'operators.count_audit',
  `SELECT count(*) AS total FROM ${ENTRIES} WHERE ${MATCHES}`,
);

/** All that was done to one subject. */
export const auditOf = (subject: string): AuditFilters => [subject, null, null, null, null, null];
