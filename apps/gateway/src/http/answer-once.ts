import { CausewayError, type ErrorCode } from '@causeway/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '../db/database.ts';
import { RecordedRefusal, type UnitDeps, type UnitOfWork, unitOfWork } from '../engine/unit-of-work.ts';
import { invalidRequest } from './errors.ts';
import {
  type AnswerSealer,
  claimIdempotencyKey,
  fingerprintOf,
  type KeyOwner,
  keepAnswer,
  letGoOfIdempotencyKey,
  type RequestIdentity,
  type StoredAnswer,
  takeIdempotencyKey,
} from './idempotency.ts';
import type { Principal } from './principals.ts';

/** How a route answers once a key, whoever calls it. */

export const IDEMPOTENCY_ERRORS: readonly ErrorCode[] = ['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_IN_PROGRESS'];

const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

export interface Answer extends StoredAnswer {
  readonly replayed: boolean;
}

/** Null where the request carries no key. */
export function identityOf(request: FastifyRequest): RequestIdentity | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key.length < 1 || key.length > IDEMPOTENCY_KEY_MAX_LENGTH) {
    throw invalidRequest('Idempotency-Key', `must have 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters`);
  }
  return {
    owner: ownerOf(request.principal),
    idempotencyKey: key,
    fingerprint: fingerprintOf(request.method, request.url, request.body),
  };
}

function ownerOf(principal: Principal | null): KeyOwner {
  switch (principal?.kind) {
    case 'partner':
      return { kind: 'partner', id: principal.partnerId };
    case 'vendor':
      return { kind: 'vendor', id: principal.vendorId };
    case 'operator':
      return { kind: 'operator', id: principal.keyId };
    default:
      throw new Error('only partners, vendors and operators write');
  }
}

/** The work and its answer in the unit's one transaction. */
export async function answerOnce(
  unit: UnitOfWork,
  identity: RequestIdentity,
  sealer: AnswerSealer | null,
  reply: FastifyReply,
  work: () => Promise<unknown> | unknown,
): Promise<Answer> {
  const stored = await claimIdempotencyKey(unit, identity, sealer);
  if (stored !== null) return { ...stored, replayed: true };
  let answer: StoredAnswer;
  try {
    answer = accepted(reply, await work());
  } catch (error) {
    // What a refusal itself records (a hold) stays; everything else is undone.
    const isRecorded = error instanceof RecordedRefusal;
    answer = refusal(isRecorded ? error.refusal : error);
    if (!isRecorded) await unit.tx.undo();
  }
  keepAnswer(unit, identity, answer, sealer);
  return { ...answer, replayed: false };
}

/**
 * For work that leaves the process, which no transaction may wait for: the key is taken before and the answer kept after.
 * Should the process die in between, a retry does the work again once the key counts as free.
 */
export async function answerOnceOutside(
  deps: UnitDeps,
  scope: Scope,
  identity: RequestIdentity,
  sealer: AnswerSealer | null,
  reply: FastifyReply,
  work: () => Promise<unknown> | unknown,
): Promise<Answer> {
  const stored = await unitOfWork(deps, scope, async (unit) => {
    const found = await claimIdempotencyKey(unit, identity, sealer);
    if (found === null) takeIdempotencyKey(unit, identity, sealer);
    return found;
  });
  if (stored !== null) return { ...stored, replayed: true };
  let answer: StoredAnswer;
  try {
    answer = await Promise.resolve(work()).then((data) => accepted(reply, data), refusal);
  } catch (error) {
    await unitOfWork(deps, scope, async (unit) => letGoOfIdempotencyKey(unit, identity));
    throw error;
  }
  await unitOfWork(deps, scope, async (unit) => keepAnswer(unit, identity, answer, sealer));
  return { ...answer, replayed: false };
}

function accepted(reply: FastifyReply, data: unknown): StoredAnswer {
  return { status: 200, body: String(reply.serialize({ success: true, data })) };
}

/** A refusal is an answer too and is kept; a failure is not, so that a retry may succeed. */
function refusal(error: unknown): StoredAnswer {
  if (!(error instanceof CausewayError) || error.status >= 500) throw error;
  return { status: error.status, body: JSON.stringify(error) };
}

export function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer.replayed) reply.header('idempotency-replayed', 'true');
  return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body);
}
