import { CausewayError, type ErrorCode } from '@causeway/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '../db/database.ts';
import { RecordedRefusal, type UnitDeps, type UnitOfWork, unitOfWork } from '../engine/unit-of-work.ts';
import { sha256Hex } from '../lib/crypto.ts';
import { invalidRequest } from './errors.ts';
import {
  BEGUN,
  claimIdempotencyKey,
  type KeyOwner,
  keepLeased,
  leaseIdempotencyKey,
  type RequestIdentity,
  type ResponseSealer,
  releaseIdempotencyKey,
  type StoredResponse,
  storeResponse,
  WRITTEN,
} from './idempotency.store.ts';
import type { Principal } from './principals.ts';

/**
 * Idempotency-Key: the response is stored in the transaction of the work it answers for, so there is no moment
 * in which the work is done and the response is not stored. While the first request runs it holds an advisory
 * lock on the key; if its process dies, the lock goes with the connection and so does the work.
 */
export interface IdempotentResponse extends StoredResponse {
  readonly replayed: boolean;
}

export const IDEMPOTENCY_ERRORS: readonly ErrorCode[] = ['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_IN_PROGRESS'];

const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

/** Null where the request carries no key. */
export function identityOf(request: FastifyRequest): RequestIdentity | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key.length < 1 || key.length > IDEMPOTENCY_KEY_MAX_LENGTH) {
    throw invalidRequest('Idempotency-Key', `must have 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters`);
  }
  const { principal } = request;
  return {
    owner: ownerOf(principal),
    // Customers of one partner share its rows; each session has its own keys.
    idempotencyKey: principal?.kind === 'session' ? sha256Hex(`${principal.sessionId}:${key}`) : key,
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
    case 'session':
      return { kind: 'partner', id: principal.partnerId };
    default:
      throw new Error('a key that writes nothing needs no idempotency key');
  }
}

function fingerprintOf(method: string, path: string, body: unknown): string {
  return sha256Hex(`${method}\n${path}\n${body === undefined || body === null ? '' : canonicalJson(body)}`);
}

/** The same object written with its fields in another order is the same request. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** The work and its response in the unit's one transaction. */
export async function idempotentResponse(
  unit: UnitOfWork,
  identity: RequestIdentity,
  sealer: ResponseSealer | null,
  reply: FastifyReply,
  work: () => Promise<unknown> | unknown,
): Promise<IdempotentResponse> {
  const { stored } = await claimIdempotencyKey(unit, identity, sealer);
  if (stored !== null) return { ...stored, replayed: true };
  let response: StoredResponse;
  try {
    response = accepted(reply, await work());
  } catch (error) {
    // What a refusal itself records (a hold) stays; everything else is rolled back.
    const isRecorded = error instanceof RecordedRefusal;
    response = refusal(isRecorded ? error.refusal : error);
    if (!isRecorded) await unit.tx.rollbackToSavepoint();
  }
  storeResponse(unit, identity, response, sealer);
  return { ...response, replayed: false };
}

/** The answer that a request with this key was given before; null where there is none yet. */
export function answeredBefore(
  deps: UnitDeps,
  scope: Scope,
  identity: RequestIdentity,
  sealer: ResponseSealer | null,
): Promise<IdempotentResponse | null> {
  return unitOfWork(deps, scope, async (unit) => {
    const { stored } = await claimIdempotencyKey(unit, identity, sealer);
    return stored && { ...stored, replayed: true };
  });
}

/** For work that leaves the process and also writes, in a transaction of its own. */
export interface OutsideWork {
  /** A request with this key has written already and ended without an answer: there is only the answer to be found. */
  readonly isWritten: boolean;
  /** Said in the transaction that writes, so that there is no moment in which it is done and not known to be. */
  written(unit: UnitOfWork): void;
}

/** Without a key nothing is remembered. */
export const UNREMEMBERED: OutsideWork = { isWritten: false, written: () => undefined };

/**
 * For work that leaves the process, which no transaction may wait for: the key is leased before, the response stored after.
 * Should the process die in between, a retry goes on once the lease is over: from what the work has written, or anew.
 */
export async function idempotentResponseOutside(
  deps: UnitDeps,
  scope: Scope,
  identity: RequestIdentity,
  sealer: ResponseSealer | null,
  reply: FastifyReply,
  work: (outside: OutsideWork) => Promise<unknown> | unknown,
): Promise<IdempotentResponse> {
  const { stored, isWritten } = await unitOfWork(deps, scope, async (unit) => {
    const found = await claimIdempotencyKey(unit, identity, sealer);
    if (found.stored === null) leaseIdempotencyKey(unit, identity, sealer, found.isWritten ? WRITTEN : BEGUN);
    return found;
  });
  if (stored !== null) return { ...stored, replayed: true };
  const outside: OutsideWork = {
    isWritten,
    written: (unit) => leaseIdempotencyKey(unit, identity, sealer, WRITTEN),
  };
  let response: StoredResponse;
  const renewing = keepLeased(deps, scope, identity);
  try {
    response = await Promise.resolve(work(outside)).then((data) => accepted(reply, data), refusal);
  } catch (error) {
    await unitOfWork(deps, scope, async (unit) => releaseIdempotencyKey(unit, identity));
    throw error;
  } finally {
    clearInterval(renewing);
  }
  await unitOfWork(deps, scope, async (unit) => storeResponse(unit, identity, response, sealer));
  return { ...response, replayed: false };
}

function accepted(reply: FastifyReply, data: unknown): StoredResponse {
  return { status: 200, body: String(reply.serialize({ success: true, data })) };
}

/** A refusal is a response too and is stored; a failure and a limit are not, so that a retry may succeed later. */
function refusal(error: unknown): StoredResponse {
  if (!(error instanceof CausewayError) || error.status >= 500 || error.status === 429) throw error;
  return { status: error.status, body: JSON.stringify(error) };
}

export function sendIdempotentResponse(reply: FastifyReply, response: IdempotentResponse): FastifyReply {
  if (response.replayed) reply.header('idempotency-replayed', 'true');
  return reply.code(response.status).type('application/json; charset=utf-8').send(response.body);
}
