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
    operatorKeyId: string,
    action: string,
    subject: string,
    reason: string,
    before: string | null,
    after: string | null,
    at: Date,
  ]
>(
  'operators.insert_audit',
  `INSERT INTO operator_audit (audit_id, operator_key_id, action, subject, reason, before, after, at)
   VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8)`,
);

/** Written in the transaction of what was done: neither is there without the other. */
export function recordAction(
  unit: UnitOfWork,
  operator: Pick<OperatorPrincipal, 'keyId'>,
  done: OperatorAction,
): void {
  unit.tx.defer(insertAudit, [
    unit.ids.uuid(),
    operator.keyId,
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
  operator_key_id: string;
  action: string;
  subject: string;
  reason: string;
  before: JsonObject | null;
  after: JsonObject | null;
  at: Date;
}

export const listAudit = statement<[subject: string | null, limit: number, offset: number], AuditRow>(
  'operators.list_audit',
  `SELECT audit_id, operator_key_id, action, subject, reason, before, after, at FROM operator_audit
    WHERE ($1::text IS NULL OR subject = $1) ORDER BY at DESC, audit_id DESC LIMIT $2 OFFSET $3`,
);

export const countAudit = statement<[subject: string | null], { total: string }>(
  'operators.count_audit',
  'SELECT count(*) AS total FROM operator_audit WHERE ($1::text IS NULL OR subject = $1)',
);
