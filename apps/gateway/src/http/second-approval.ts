import {
  APPROVAL_APPROVED,
  APPROVAL_EXPIRED,
  APPROVAL_FAILED,
  APPROVAL_WAITING,
  type ApprovalStatus,
  CausewayError,
  type Decimal,
  type ErrorCode,
  formatShortest,
  parseDecimal,
  powerOfTen,
} from '@causeway/protocol';
import type { FastifyRequest } from 'fastify';
import { recordAction } from '../engine/audit.ts';
import { RecordedRefusal, type UnitOfWork } from '../engine/unit-of-work.ts';
import { sha256Hex } from '../lib/crypto.ts';
import {
  type ApprovalRow,
  closeApproval,
  findApproval,
  findWaitingApproval,
  insertApproval,
  lockPayload,
} from './approval.store.ts';
import type { ResponseSealer } from './idempotency.store.ts';
import { canonicalJson } from './idempotency.ts';
import { type OperatorPrincipal, personOf } from './principals.ts';

/**
 * Two persons for decisions that move much money. A route that declares `secondApproval` is carried out at once up to the
 * limit; above it the first call is stored, and the same call of another person carries it out and ends the request in
 * one transaction. Nothing a handler does can pass it by.
 */

/** What a call moves. `isKnown` is false where nothing tells its worth: `usd` is then more than it can be. */
export interface MovedValue {
  readonly usd: Decimal;
  readonly isKnown: boolean;
}

export interface CallInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly request: FastifyRequest;
}

export interface SecondApproval<Input> {
  /**
   * What the call moves; undefined where it moves nothing. Asked in the transaction that carries it out, and locks what
   * it is about, so that the value cannot change in between.
   */
  readonly amountOf: (input: Input, unit: UnitOfWork) => Promise<MovedValue | undefined>;
  /** What it is about, as the audit log names it. */
  readonly subjectOf: (input: Input) => string;
  /** What happens, in a sentence, for the person who is asked to agree. */
  readonly describe: (input: Input) => string;
}

export const APPROVAL_ERRORS: readonly ErrorCode[] = ['APPROVAL_REQUIRED'];

/** A call as it was made: by itself, or as it is stored. */
export interface ApprovableCall {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly input: CallInput;
}

/** A route that two persons may have to agree on. */
export interface ApprovableRoute {
  readonly rules: SecondApproval<CallInput>;
  /** What is read before the transaction, see `route`. */
  readonly readFirst: (input: CallInput) => Promise<unknown>;
  readonly handle: (
    input: CallInput,
    operator: OperatorPrincipal,
    unit: UnitOfWork,
    seen: unknown,
  ) => unknown;
}

/** Somebody who makes a call, or agrees to a stored one. */
interface Asking {
  readonly operator: OperatorPrincipal;
  readonly reason: string | null;
  /** The request that is agreed to, where it was named; otherwise the one of the same call. */
  readonly approvalId?: string;
}

export interface SecondApprovals {
  /** So that a stored call can be carried out. */
  declare(operation: string, route: ApprovableRoute): void;
  routeOf(operation: string): ApprovableRoute | undefined;
  /** Carries the work out, or stores the call and throws what the caller is told. */
  guard(
    unit: UnitOfWork,
    call: ApprovableCall,
    asking: Asking,
    work: () => Promise<unknown>,
  ): Promise<unknown>;
  /** The call that a request holds. */
  open(row: ApprovalRow, request: FastifyRequest): ApprovableCall;
}

declare module 'fastify' {
  interface FastifyInstance {
    secondApprovals: SecondApprovals;
  }
}

const VALID_MS = 24 * 60 * 60_000;

export const approvalBodyContext = (approvalId: string) => `approvals:${approvalId}`;

export interface SecondApprovalOptions {
  /** Decimal text; null where one person is enough for everything. */
  readonly aboveUsd: string | null;
  readonly sealer: ResponseSealer | null;
}

export function createSecondApprovals({ aboveUsd, sealer }: SecondApprovalOptions): SecondApprovals {
  const limit = aboveUsd === null ? null : limitOf(aboveUsd);
  const routes = new Map<string, ApprovableRoute>();

  function request(unit: UnitOfWork, call: ApprovableCall, asking: Asking, hash: string, moved: MovedValue) {
    const { operator, reason } = asking;
    const rules = rulesOf(call);
    const approvalId = unit.ids.uuid();
    const expiresAt = new Date(unit.at.getTime() + VALID_MS);
    const amountUsd = moved.isKnown ? formatShortest(moved.usd.unscaled, moved.usd.scale) : null;
    const subject = rules.subjectOf(call.input);
    const body = JSON.stringify(call.input.body ?? null);
    unit.tx.defer(insertApproval, [
      approvalId,
      call.operation,
      call.method,
      call.path,
      JSON.stringify(call.input.params ?? {}),
      sealer === null ? body : sealer.seal(body, approvalBodyContext(approvalId)),
      hash,
      subject,
      rules.describe(call.input),
      amountUsd,
      operator.user?.userId ?? null,
      operator.user === undefined ? operator.keyId : null,
      personOf(operator),
      reason,
      unit.at,
      expiresAt,
    ]);
    recordAction(unit, operator, {
      action: 'approval.request',
      subject,
      reason: reason ?? NO_REASON,
      after: {
        approval_id: approvalId,
        operation: call.operation,
        amount_usd: amountUsd,
        payload_hash: hash,
        expires_at: expiresAt.toISOString(),
      },
    });
    return { approval_id: approvalId, expires_at: expiresAt.toISOString(), amount_usd: amountUsd };
  }

  function rulesOf({ operation }: ApprovableCall): SecondApproval<CallInput> {
    const found = routes.get(operation);
    if (found === undefined) throw new Error(`${operation} is no call that a second person approves`);
    return found.rules;
  }

  /** The request of this very call, where one waits. One whose time is over is closed on the way. */
  async function waitingFor(unit: UnitOfWork, hash: string): Promise<ApprovalRow | undefined> {
    const [, [row]] = await unit.tx.queryBoth(lockPayload, [hash], findWaitingApproval, [hash]);
    if (row === undefined || row.expires_at > unit.at) return row;
    await unit.tx.query(closeApproval, [row.approval_id, APPROVAL_EXPIRED, null, null, null, null, unit.at]);
    return undefined;
  }

  return {
    declare: (operation, route) => void routes.set(operation, route),
    routeOf: (operation) => routes.get(operation),

    async guard(unit, call, asking, work) {
      const isNamed = asking.approvalId !== undefined;
      const moved = limit === null && !isNamed ? undefined : await rulesOf(call).amountOf(call.input, unit);
      const isAbove = moved !== undefined && limit !== null && isMore(moved.usd, limit);
      if (!isAbove && !isNamed) return work();
      const hash = payloadHash(call);
      const waiting = await waitingFor(unit, hash);
      if (isNamed && waiting?.approval_id !== asking.approvalId) {
        throw await closedApproval(unit, asking.approvalId ?? '');
      }
      const isSecond = waiting !== undefined && waiting.requester_person_id !== personOf(asking.operator);
      // A call that could not be carried out is refused as ever, whoever makes it; the first one is only tried.
      unit.tx.savepoint();
      let result: unknown;
      try {
        result = await work();
      } catch (error) {
        throw waiting === undefined ? error : await failed(unit, waiting, asking, error);
      }
      if (isSecond) {
        approve(unit, waiting, asking);
        return result;
      }
      await unit.tx.rollbackToSavepoint();
      const details =
        waiting === undefined
          ? request(unit, call, asking, hash, moved ?? NOTHING)
          : {
              approval_id: waiting.approval_id,
              expires_at: waiting.expires_at.toISOString(),
              amount_usd: waiting.amount_usd,
            };
      throw new RecordedRefusal(new CausewayError('APPROVAL_REQUIRED', { details }));
    },

    open(row, request) {
      const text =
        sealer === null
          ? row.body_sealed
          : sealer.open(row.body_sealed, approvalBodyContext(row.approval_id));
      const body: unknown = JSON.parse(text);
      const input = { params: row.params, query: {}, body: body ?? undefined, request };
      return { operation: row.operation, method: row.method, path: row.path, input };
    },
  };
}

/** An audit entry always has a reason. */
const NO_REASON = 'not stated';
const NOTHING: MovedValue = { usd: { unscaled: 0n, scale: 0 }, isKnown: true };

function approve(unit: UnitOfWork, row: ApprovalRow, asking: Asking): void {
  const { operator, reason } = asking;
  close(unit, row, asking, APPROVAL_APPROVED, null);
  recordAction(unit, operator, {
    action: 'approval.approve',
    subject: row.subject,
    reason: reason ?? NO_REASON,
    before: requestOf(row),
    after: { approval_id: row.approval_id, status: APPROVAL_APPROVED },
  });
}

/** What was asked, and by whom: an entry of the audit log that names both persons. */
export function requestOf(row: ApprovalRow) {
  return {
    operation: row.operation,
    amount_usd: row.amount_usd,
    payload_hash: row.payload_hash,
    requested_by_user_id: row.requested_by_user_id,
    requested_by_key_id: row.requested_by_key_id,
    requested_at: row.requested_at.toISOString(),
    reason: row.reason,
  };
}

/** The call is refused by what it is about: the request is over, and its caller gets the usual error. */
async function failed(unit: UnitOfWork, row: ApprovalRow, asking: Asking, error: unknown): Promise<unknown> {
  const isRecorded = error instanceof RecordedRefusal;
  const refusal = isRecorded ? error.refusal : error;
  // A failure of ours leaves everything as it was: the request waits on.
  if (!(refusal instanceof CausewayError) || refusal.status >= 500) return error;
  if (!isRecorded) await unit.tx.rollbackToSavepoint();
  close(unit, row, asking, APPROVAL_FAILED, refusal.code);
  recordAction(unit, asking.operator, {
    action: 'approval.fail',
    subject: row.subject,
    reason: asking.reason ?? NO_REASON,
    before: requestOf(row),
    after: { approval_id: row.approval_id, status: APPROVAL_FAILED, error_code: refusal.code },
  });
  return new RecordedRefusal(refusal);
}

function close(
  unit: UnitOfWork,
  { approval_id }: ApprovalRow,
  { operator, reason }: Asking,
  status: ApprovalStatus,
  errorCode: ErrorCode | null,
): void {
  const userId = operator.user?.userId ?? null;
  const keyId = operator.user === undefined ? operator.keyId : null;
  unit.tx.defer(closeApproval, [approval_id, status, userId, keyId, reason, errorCode, unit.at]);
}

export async function closedApproval(unit: UnitOfWork, approvalId: string): Promise<CausewayError> {
  const [row] = await unit.tx.query(findApproval, [approvalId]);
  if (row === undefined) return new CausewayError('APPROVAL_NOT_FOUND');
  const status = row.status === APPROVAL_WAITING ? APPROVAL_EXPIRED : row.status;
  return new CausewayError('APPROVAL_CLOSED', { details: { status } });
}

/** The reason is what each person says about it; everything else has to be the same. */
export function payloadHash({ operation, input }: ApprovableCall): string {
  const { reason: _reason, ...body } = (input.body ?? {}) as Readonly<Record<string, unknown>>;
  const params = Object.entries((input.params ?? {}) as Readonly<Record<string, string>>);
  const named = Object.fromEntries(params.map(([name, value]) => [name, value.toLowerCase()]));
  return sha256Hex(`${operation}\n${canonicalJson(named)}\n${canonicalJson(body)}`);
}

export function reasonOf(body: unknown): string | null {
  const { reason } = (body ?? {}) as { readonly reason?: unknown };
  return typeof reason === 'string' ? reason : null;
}

function limitOf(text: string): Decimal {
  const parsed = parseDecimal(text);
  if (!parsed.ok) throw new Error('the limit of second approvals is no decimal');
  return parsed.value;
}

function isMore(a: Decimal, b: Decimal): boolean {
  return a.unscaled * powerOfTen(b.scale) > b.unscaled * powerOfTen(a.scale);
}
