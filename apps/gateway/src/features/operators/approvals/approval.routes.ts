import {
  APPROVAL_EXPIRED,
  APPROVAL_REJECTED,
  APPROVAL_WAITING,
  type Approval,
  ApprovalDetailSchema,
  ApprovalListSchema,
  ApprovalParams,
  ApprovalQuery,
  ApprovalSchema,
  ApprovedSchema,
  ApproveInput,
  CausewayError,
  OPERATOR_TAG,
  ReasonInput,
} from '@causeway/protocol';
import { can, OPERATION_CAPABILITIES } from '@causeway/protocol/console';
import type { FastifyInstance } from 'fastify';
import { SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import type { UnitDeps } from '../../../engine/unit-of-work.ts';
import {
  type ApprovalRow,
  countApprovals,
  findApproval,
  listApprovals,
  rejectApproval,
} from '../../../http/approval.store.ts';
import { type OperatorPrincipal, personOf } from '../../../http/principals.ts';
import { route } from '../../../http/route.ts';
import { closedApproval, requestOf } from '../../../http/second-approval.ts';

const APPROVALS = '/api/v1/operator/approvals';
const APPROVAL = `${APPROVALS}/:approval_id`;

/** Decisions that move much money, as the second person sees them. What stores them is `http/second-approval.ts`. */
export function registerApprovalRoutes(app: FastifyInstance, deps: UnitDeps): void {
  registerReads(app, deps);
  registerApprove(app, deps);
  registerReject(app, deps);
}

function registerReads(app: FastifyInstance, deps: UnitDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: APPROVALS,
    operationId: 'listApprovals',
    tag: OPERATOR_TAG,
    summary: 'List decisions that need a second person; waiting ones first, then newest first',
    description:
      'A decision that moves more than SECOND_APPROVAL_ABOVE_USD is answered 409 APPROVAL_REQUIRED and waits here for 24 hours.',
    query: ApprovalQuery,
    data: ApprovalListSchema,
    handle: async ({ query: { limit, offset, status = null, subject = null } }, operator) => {
      const at = deps.clock.date();
      const [rows, [count]] = await deps.db.transaction(SYSTEM, (tx) =>
        tx.queryBoth(listApprovals, [status, subject, at, limit, offset], countApprovals, [
          status,
          subject,
          at,
        ]),
      );
      return {
        approvals: rows.map((row) => approvalView(row, operator, at)),
        pagination: { total: Number(count?.total ?? 0), limit, offset },
      };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: APPROVAL,
    operationId: 'getApproval',
    tag: OPERATOR_TAG,
    summary: 'Get a decision that needs a second person, with the call in full',
    params: ApprovalParams,
    data: ApprovalDetailSchema,
    errors: ['APPROVAL_NOT_FOUND'],
    handle: async ({ params, request }, operator) => {
      const [row] = await deps.db.query(SYSTEM, findApproval, [params.approval_id]);
      if (row === undefined) throw new CausewayError('APPROVAL_NOT_FOUND');
      const { method, path, input } = app.secondApprovals.open(row, request);
      return {
        ...approvalView(row, operator, deps.clock.date()),
        call: { method, path, body: (input.body ?? null) as Record<string, unknown> | null },
        payload_hash: row.payload_hash,
      };
    },
  });
}

function registerApprove(app: FastifyInstance, deps: UnitDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${APPROVAL}/approve`,
    operationId: 'approveApproval',
    tag: OPERATOR_TAG,
    summary: 'Approve a decision of another person: it is carried out',
    description:
      'The same as making the stored call oneself. The person who asked is answered 409 APPROVAL_REQUIRED again. Where the call cannot be carried out any more, its usual error is answered and the request is closed.',
    params: ApprovalParams,
    body: ApproveInput,
    data: ApprovedSchema,
    errors: [
      'APPROVAL_NOT_FOUND',
      'APPROVAL_CLOSED',
      'APPROVAL_REQUIRED',
      // Of the calls themselves.
      'INVALID_STATUS',
      'OPERATION_NOT_ALLOWED',
      'KYC_NOT_CLEARED',
      'WALLET_NOT_CLEARED',
      'TRANSACTOR_UNAVAILABLE',
    ],
    readFirst: async ({ params, request }) => {
      const [row] = await deps.db.query(SYSTEM, findApproval, [params.approval_id]);
      const target = row === undefined ? undefined : app.secondApprovals.routeOf(row.operation);
      if (row === undefined || target === undefined || row.status !== APPROVAL_WAITING) return null;
      const call = app.secondApprovals.open(row, request);
      return { call, target, seen: await target.readFirst(call.input) };
    },
    handle: async ({ params, body }, operator, unit, ready) => {
      if (ready === null) throw await closedApproval(unit, params.approval_id);
      const { call, target, seen } = ready;
      requireCapability(operator, call.operation);
      const asking = { operator, reason: body?.reason ?? null, approvalId: params.approval_id.toLowerCase() };
      const result = await app.secondApprovals.guard(unit, call, asking, async () =>
        target.handle(call.input, operator, unit, seen),
      );
      const [row] = await unit.tx.query(findApproval, [params.approval_id]);
      if (row === undefined) throw new CausewayError('APPROVAL_NOT_FOUND');
      return {
        approval: approvalView(row, operator, unit.at),
        result: result as Record<string, unknown>,
      };
    },
  });
}

/** A user who may approve must also be one who may make the call. */
function requireCapability({ user }: OperatorPrincipal, operation: string): void {
  const capability = OPERATION_CAPABILITIES[operation];
  if (user === undefined || (capability !== undefined && can(user.role, capability))) return;
  throw new CausewayError('FORBIDDEN', {
    details: { role: user.role, required_capability: capability ?? 'none' },
  });
}

function registerReject(app: FastifyInstance, deps: UnitDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${APPROVAL}/reject`,
    operationId: 'rejectApproval',
    tag: OPERATOR_TAG,
    summary: 'Reject a decision of another person, or withdraw one’s own',
    description: 'Nothing is carried out. The call can be made again, which asks anew.',
    params: ApprovalParams,
    body: ReasonInput,
    data: ApprovalSchema,
    errors: ['APPROVAL_NOT_FOUND', 'APPROVAL_CLOSED'],
    handle: async ({ params, body: { reason } }, operator, unit) => {
      const id = params.approval_id;
      const userId = operator.user?.userId ?? null;
      const keyId = operator.user === undefined ? operator.keyId : null;
      const [done] = await unit.tx.query(rejectApproval, [id, userId, keyId, reason, unit.at]);
      if (done === undefined) throw await closedApproval(unit, id);
      const [row] = await unit.tx.query(findApproval, [id]);
      if (row === undefined) throw new CausewayError('APPROVAL_NOT_FOUND');
      const isOwn = row.requester_person_id === personOf(operator);
      recordAction(unit, operator, {
        action: isOwn ? 'approval.withdraw' : 'approval.reject',
        subject: row.subject,
        reason,
        before: requestOf(row),
        after: { approval_id: row.approval_id, status: APPROVAL_REJECTED },
      });
      return approvalView(row, operator, unit.at);
    },
  });
}

export function approvalView(row: ApprovalRow, operator: OperatorPrincipal, at: Date): Approval {
  const isOver = row.status === APPROVAL_WAITING && row.expires_at <= at;
  const isDecided = row.decided_by_user_id !== null || row.decided_by_key_id !== null;
  return {
    approval_id: row.approval_id,
    status: isOver ? APPROVAL_EXPIRED : row.status,
    operation: row.operation,
    subject: row.subject,
    summary: row.summary,
    amount_usd: row.amount_usd,
    requested_by: {
      user_id: row.requested_by_user_id,
      key_id: row.requested_by_key_id,
      name: row.requester_name,
    },
    requested_by_you: row.requester_person_id === personOf(operator),
    reason: row.reason,
    requested_at: row.requested_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    decided_by: isDecided
      ? {
          user_id: row.decided_by_user_id,
          key_id: row.decided_by_key_id,
          name: row.decider_name ?? '',
        }
      : null,
    decision_reason: row.decision_reason,
    decided_at: (row.decided_at ?? (isOver ? row.expires_at : null))?.toISOString() ?? null,
    error_code: row.error_code,
  };
}
