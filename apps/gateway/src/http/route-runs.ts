import { CausewayError } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { customerScope, partnerScope, type Scope, SYSTEM, vendorScope } from '../db/database.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../engine/unit-of-work.ts';
import {
  answeredBefore,
  type IdempotentResponse,
  idempotentResponse,
  idempotentResponseOutside,
  identityOf,
  sendIdempotentResponse,
  UNREMEMBERED,
} from './idempotency.ts';
import type { OperatorPrincipal, Principal } from './principals.ts';
import type { AnyDeclaration, RouteInput, StatementRun, TransactionMode } from './route-declaration.ts';
import { reasonOf } from './second-approval.ts';
import { wantsStream } from './send-stream.ts';

export type Run = (request: FastifyRequest, reply: FastifyReply) => unknown;

export function readRunner({ handle, stream }: AnyDeclaration): Run {
  const read: Run = (request) => succeed(handle(inputOf(request), request.principal, undefined, undefined));
  if (stream === undefined) return read;
  return (request, reply) =>
    wantsStream(request) ? stream.open(inputOf(request), request.principal, reply) : read(request, reply);
}

export function writeRunner(app: FastifyInstance, spec: AnyDeclaration): Run {
  const { deps, transaction, afterCommit } = spec;
  if (deps === undefined) throw new Error(`${spec.operationId} writes and has nothing to write with`);
  if (spec.access === 'public') throw new Error(`${spec.operationId} writes for a caller without a scope`);
  const { readFirst } = spec;
  const acquire: NonNullable<AnyDeclaration['acquire']> =
    spec.acquire ??
    (readFirst === undefined
      ? (_input, _caller, work) => work(undefined)
      : async (input, _caller, work) => work(await app.admission.aside(() => readFirst(input))));
  const handle = spec.secondApproval === undefined ? spec.handle : guardedHandle(app, spec);
  const perform = PERFORM[transaction as Exclude<TransactionMode, 'none'>];
  return async (request, reply) => {
    const input = inputOf(request);
    const identity = identityOf(request);
    const scope = scopeOf(request.principal);
    const sealer = app.responseSealer;
    let isAcquired = false;
    const work = (acquired: unknown) => {
      isAcquired = true;
      return perform({ deps, scope, identity, sealer, reply }, (unit) =>
        handle(input, request.principal, unit, acquired),
      );
    };
    const response = await acquire(input, request.principal, work).catch(async (error: unknown) => {
      // A repeated request needs nothing of what is refused now (a limit, say) to be given the answer that it had.
      const mayBeRepeated = !isAcquired && identity !== null && error instanceof CausewayError;
      const answer = mayBeRepeated ? await answeredBefore(deps, scope, identity, sealer) : null;
      if (answer === null) throw error;
      return answer;
    });
    if (afterCommit !== undefined) await afterCommit();
    return identity === null ? response : sendIdempotentResponse(reply, response as IdempotentResponse);
  };
}

/** The handler behind the guard of a second person. */
function guardedHandle(app: FastifyInstance, spec: AnyDeclaration): AnyDeclaration['handle'] {
  const { operationId, method, handle, readFirst, secondApproval: rules } = spec;
  if (rules === undefined) throw new Error(`${operationId} says nothing of a second person`);
  if (spec.access !== 'operator' || spec.transaction !== 'unit') {
    throw new Error(`${operationId}: a second person approves what an operator does in one transaction`);
  }
  if (spec.acquire !== undefined || spec.afterCommit !== undefined) {
    throw new Error(`${operationId}: a stored call has nothing to acquire or to tell of`);
  }
  app.secondApprovals.declare(operationId, {
    rules,
    readFirst: async (input) => readFirst?.(input),
    handle,
  });
  return (input, operator: OperatorPrincipal, unit: UnitOfWork, acquired) => {
    const path = input.request.url.split('?', 1)[0] ?? '';
    const call = { operation: operationId, method: String(method), path, input };
    return app.secondApprovals.guard(unit, call, { operator, reason: reasonOf(input.body) }, async () =>
      handle(input, operator, unit, acquired),
    );
  };
}

interface Performance {
  readonly deps: UnitDeps;
  readonly scope: Scope;
  readonly identity: ReturnType<typeof identityOf>;
  readonly sealer: FastifyInstance['responseSealer'];
  readonly reply: FastifyReply;
}
// biome-ignore lint/suspicious/noExplicitAny: see `AnyDeclaration`.
type Handle = (work: any) => unknown;

/** How each kind of write runs, with an idempotency key and without. */
const PERFORM: Record<
  Exclude<TransactionMode, 'none'>,
  (how: Performance, handle: Handle) => Promise<unknown>
> = {
  unit: ({ deps, scope, identity, sealer, reply }, handle) =>
    unitOfWork(deps, scope, async (unit) =>
      identity === null
        ? success(await handle(unit))
        : idempotentResponse(unit, identity, sealer, reply, async () => handle(unit)),
    ),

  statement: async ({ deps, scope, identity, sealer, reply }, handle) => {
    if (identity === null) {
      const { db, clock, ids } = deps;
      const query: StatementRun['query'] = (declared, params) => db.query(scope, declared, params);
      return success(await handle({ ids, at: clock.date(), query }));
    }
    return unitOfWork(deps, scope, (unit) => {
      const run: StatementRun = { ids: unit.ids, at: unit.at, query: unit.tx.query };
      return idempotentResponse(unit, identity, sealer, reply, async () => handle(run));
    });
  },

  outside: async ({ deps, scope, identity, sealer, reply }, handle) =>
    identity === null
      ? success(await handle(UNREMEMBERED))
      : idempotentResponseOutside(deps, scope, identity, sealer, reply, async (outside) => handle(outside)),
};

export function scopeOf(principal: Principal | null): Scope {
  switch (principal?.kind) {
    case 'partner':
      return partnerScope(principal.partnerId);
    case 'widget':
      return partnerScope(principal.partnerId);
    case 'session':
      return principal.userId === null
        ? partnerScope(principal.partnerId)
        : customerScope(principal.partnerId, principal.userId);
    case 'vendor':
      return vendorScope(principal.vendorId);
    case 'operator':
      return SYSTEM;
    default:
      throw new Error('a caller without a key writes nothing');
  }
}

interface Success<T> {
  readonly success: true;
  readonly data: T;
}

function success<T>(data: T): Success<T> {
  return { success: true, data };
}

/** What is known at once is answered at once: waiting for it would cost a turn of the event loop. */
function succeed<T>(data: Promise<T> | T): Promise<Success<T>> | Success<T> {
  return data instanceof Promise ? data.then(success) : success(data);
}

function inputOf<P extends TSchema, Q extends TSchema, B extends TSchema>(
  request: FastifyRequest,
): RouteInput<P, Q, B> {
  return {
    params: request.params as Static<P>,
    query: request.query as Static<Q>,
    body: request.body as Static<B>,
    request,
  };
}
