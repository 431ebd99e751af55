import type { ErrorCode } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { partnerScope, type Scope, SYSTEM, vendorScope } from '../db/database.ts';
import type { Statement } from '../db/statement.ts';
import { type UnitOfWork, type UnitTools, unitOfWork } from '../engine/unit-of-work.ts';
import { withSpan } from '../lib/tracing.ts';
import { type Access, announceLimit } from './access.ts';
import { answerOnce, answerOnceOutside, IDEMPOTENCY_ERRORS, identityOf, sendAnswer } from './answer-once.ts';
import { isUnfit } from './errors.ts';
import type { OperatorPrincipal, PartnerPrincipal, Principal, VendorPrincipal } from './principals.ts';

/**
 * How a route is declared: one schema validates, types, serialises and documents it. A handler returns the
 * data; the envelope, the transaction and the idempotency key are not its business.
 */
export interface RouteSpec<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema> {
  readonly method: HTTPMethods;
  readonly url: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The shape of `data`; only what it names leaves the process. */
  readonly data: D;
  /** Codes this route can answer beyond those every route of its kind can. */
  readonly errors?: readonly ErrorCode[];
  /**
   * Throws where what the path names is not there for this caller. Asked before a request that does not fit is told so:
   * whoever may not act on something learns nothing about how to.
   */
  readonly requireSubject?: (request: FastifyRequest) => Promise<void>;
}

export interface RouteInput<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly params: Static<P>;
  readonly query: Static<Q>;
  readonly body: Static<B>;
  readonly request: FastifyRequest;
}

type Handler<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  D extends TSchema,
  Extra extends unknown[],
> = (input: RouteInput<P, Q, B>, ...extra: Extra) => Promise<Static<D>> | Static<D>;

export function publicRoute<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, []>,
): void {
  add(app, spec, 'public', (request) => succeed(handle(inputOf(request))));
}

export function partnerRoute<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [partner: PartnerPrincipal]>,
): void {
  add(app, spec, 'partner', (request) => succeed(handle(inputOf(request), partnerOf(request))));
}

export function vendorRoute<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [vendor: VendorPrincipal]>,
): void {
  add(app, spec, 'vendor', (request) =>
    succeed(handle(inputOf(request), request.principal as VendorPrincipal)),
  );
}

export function operatorRoute<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [operator: OperatorPrincipal]>,
): void {
  add(app, spec, 'operator', (request) =>
    succeed(handle(inputOf(request), request.principal as OperatorPrincipal)),
  );
}

/**
 * A partner's write: one unit of work in the partner's own scope, answered once a key. Nothing may
 * leave the process inside it; what must leave is written as an intent.
 */
export function partnerMutation<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  tools: UnitTools,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [partner: PartnerPrincipal, unit: UnitOfWork]>,
): void {
  addMutation(app, tools, spec, 'partner', (request) => partnerScope(partnerOf(request).partnerId), handle);
}

/** A vendor's write, likewise, in the vendor's own scope. */
export function vendorMutation<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  tools: UnitTools,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [vendor: VendorPrincipal, unit: UnitOfWork]>,
): void {
  addMutation(
    app,
    tools,
    spec,
    'vendor',
    (request) => vendorScope((request.principal as VendorPrincipal).vendorId),
    handle,
  );
}

/** An operator's write, likewise. What others must notice at once is told to them afterwards, once it is committed. */
export function operatorMutation<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  tools: UnitTools,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [operator: OperatorPrincipal, unit: UnitOfWork]>,
  afterwards?: () => Promise<void>,
): void {
  addMutation(app, tools, spec, 'operator', () => SYSTEM, handle, afterwards);
}

/**
 * An operator's write that rests on something outside the process: looked at first, while no transaction waits, and
 * judged in the unit. `look` answers what it saw and refuses nothing, so that a repeated key still gets its answer.
 */
export function operatorMutationAfter<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  D extends TSchema,
  Seen,
>(
  app: FastifyInstance,
  tools: UnitTools,
  spec: RouteSpec<P, Q, B, D>,
  look: (input: RouteInput<P, Q, B>) => Promise<Seen>,
  handle: Handler<P, Q, B, D, [operator: OperatorPrincipal, unit: UnitOfWork, seen: Seen]>,
  afterwards: () => Promise<void> = async () => {},
): void {
  add(app, answeredOnce(spec), 'operator', async (request, reply) => {
    const input = inputOf<P, Q, B>(request);
    const identity = identityOf(request);
    const seen = await look(input);
    const work = (unit: UnitOfWork) => handle(input, request.principal as OperatorPrincipal, unit, seen);
    if (identity === null) {
      const answer = await unitOfWork(tools, SYSTEM, async (unit) => success(await work(unit)));
      await afterwards();
      return answer;
    }
    const answer = await unitOfWork(tools, SYSTEM, (unit) =>
      answerOnce(unit, identity, app.answerSealer, reply, () => work(unit)),
    );
    await afterwards();
    return sendAnswer(reply, answer);
  });
}

/**
 * A partner's write that needs something taken for it first, while no transaction waits. `take` hands it to the unit and
 * gives it back where nothing came of it.
 */
export function partnerMutationWith<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  D extends TSchema,
  Taken,
>(
  app: FastifyInstance,
  tools: UnitTools,
  spec: RouteSpec<P, Q, B, D>,
  take: <T>(
    input: RouteInput<P, Q, B>,
    partner: PartnerPrincipal,
    work: (taken: Taken) => Promise<T>,
  ) => Promise<T>,
  handle: Handler<P, Q, B, D, [partner: PartnerPrincipal, unit: UnitOfWork, taken: Taken]>,
): void {
  add(app, answeredOnce(spec), 'partner', async (request, reply) => {
    const input = inputOf<P, Q, B>(request);
    const partner = partnerOf(request);
    const scope = partnerScope(partner.partnerId);
    const identity = identityOf(request);
    if (identity === null) {
      return take(input, partner, (taken) =>
        unitOfWork(tools, scope, async (unit) => success(await handle(input, partner, unit, taken))),
      );
    }
    const answer = await take(input, partner, (taken) =>
      unitOfWork(tools, scope, (unit) =>
        answerOnce(unit, identity, app.answerSealer, reply, () => handle(input, partner, unit, taken)),
      ),
    );
    return sendAnswer(reply, answer);
  });
}

function addMutation<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  D extends TSchema,
  Caller extends Principal,
>(
  app: FastifyInstance,
  tools: UnitTools,
  spec: RouteSpec<P, Q, B, D>,
  access: Caller['kind'],
  scopeOf: (request: FastifyRequest) => Scope,
  handle: Handler<P, Q, B, D, [caller: Caller, unit: UnitOfWork]>,
  afterwards?: () => Promise<void>,
): void {
  add(app, answeredOnce(spec), access, async (request, reply) => {
    const caller = request.principal as Caller;
    const scope = scopeOf(request);
    const identity = identityOf(request);
    if (identity === null) {
      const answer = await unitOfWork(tools, scope, async (unit) =>
        success(await handle(inputOf(request), caller, unit)),
      );
      if (afterwards !== undefined) await afterwards();
      return answer;
    }
    const answer = await unitOfWork(tools, scope, (unit) =>
      answerOnce(unit, identity, app.answerSealer, reply, () => handle(inputOf(request), caller, unit)),
    );
    if (afterwards !== undefined) await afterwards();
    return sendAnswer(reply, answer);
  });
}

function answeredOnce<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  spec: RouteSpec<P, Q, B, D>,
): RouteSpec<P, Q, B, D> {
  return { ...spec, errors: [...(spec.errors ?? []), ...IDEMPOTENCY_ERRORS] };
}

/** A partner's request whose work leaves the process, so that no transaction can hold it; answered once a key as well. */
export function partnerAction<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  tools: UnitTools,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [partner: PartnerPrincipal]>,
): void {
  const run = async (request: FastifyRequest, reply: FastifyReply) => {
    const partner = partnerOf(request);
    const identity = identityOf(request);
    if (identity === null) return success(await handle(inputOf(request), partner));
    const scope = partnerScope(partner.partnerId);
    const answer = await answerOnceOutside(tools, scope, identity, app.answerSealer, reply, () =>
      handle(inputOf(request), partner),
    );
    return sendAnswer(reply, answer);
  };
  // Whoever waits for somebody outside does not keep the partner's other requests waiting.
  add(app, answeredOnce(spec), 'partner', run, { takesTurn: false });
}

/** For a write that is one statement: as a unit of work, but every statement runs at once and stands alone. */
export interface StatementRun {
  readonly ids: UnitTools['ids'];
  readonly at: Date;
  query<P extends readonly unknown[], R>(declared: Statement<P, R>, params: P): Promise<R[]>;
}

/**
 * A partner's write whose last statement alone decides and writes. Without an idempotency key it needs no transaction,
 * which saves opening and closing one; with a key the answer is stored in the same transaction as ever.
 */
export function partnerStatement<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  tools: UnitTools,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [partner: PartnerPrincipal, run: StatementRun]>,
): void {
  add(app, answeredOnce(spec), 'partner', async (request, reply) => {
    const partner = partnerOf(request);
    const scope = partnerScope(partner.partnerId);
    const identity = identityOf(request);
    if (identity === null) {
      const { db, clock, ids } = tools;
      const run: StatementRun = {
        ids,
        at: clock.date(),
        query: (declared, params) => db.query(scope, declared, params),
      };
      return success(await handle(inputOf(request), partner, run));
    }
    const answer = await unitOfWork(tools, scope, (unit) => {
      const run: StatementRun = { ids: unit.ids, at: unit.at, query: unit.tx.query };
      return answerOnce(unit, identity, app.answerSealer, reply, () =>
        handle(inputOf(request), partner, run),
      );
    });
    return sendAnswer(reply, answer);
  });
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

function partnerOf(request: FastifyRequest): PartnerPrincipal {
  return request.principal as PartnerPrincipal;
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

/** Codes that any route can answer. */
export const EVERY_ROUTE: readonly ErrorCode[] = [
  'VALIDATION_ERROR',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];
/** Of every route that reads a body, whether it wants one or not. */
const WITH_BODY: readonly ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

function add<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  spec: RouteSpec<P, Q, B, D>,
  access: Access,
  handler: (request: FastifyRequest, reply: FastifyReply) => unknown,
  { takesTurn = access === 'partner' } = {},
): void {
  const codes = [
    ...EVERY_ROUTE,
    ...(spec.method === 'GET' ? [] : WITH_BODY),
    ...(access === 'public' ? [] : (['UNAUTHORIZED'] as const)),
    ...(spec.errors ?? []),
  ];
  const spanName = `${String(spec.method)} ${spec.url}`;
  const traced = (request: FastifyRequest, reply: FastifyReply) =>
    withSpan(spanName, {}, () => handler(request, reply));
  app.route({
    method: spec.method,
    url: spec.url,
    config: { access, errors: codes },
    schema: {
      operationId: spec.operationId,
      tags: [spec.tag],
      summary: spec.summary,
      ...(spec.description === undefined ? {} : { description: spec.description }),
      security: access === 'public' ? [] : [{ [`${access}Key`]: [] }],
      ...(spec.params === undefined ? {} : { params: spec.params }),
      ...(spec.query === undefined ? {} : { querystring: spec.query }),
      ...(spec.body === undefined ? {} : { body: spec.body }),
      response: {
        200: Type.Object({ success: Type.Literal(true), data: spec.data }, { description: 'Success' }),
      },
    },
    ...(spec.requireSubject === undefined ? {} : { errorHandler: subjectFirst(spec.requireSubject) }),
    handler: takesTurn
      ? (request, reply) =>
          app.turns.take(
            partnerOf(request).bucket,
            () => traced(request, reply),
            (full) => announceLimit(reply, full),
          )
      : traced,
  });
}

/** Looks only where a request is refused for its form, so that one that fits costs nothing more. */
function subjectFirst(requireSubject: (request: FastifyRequest) => Promise<void>) {
  return async (error: Error, request: FastifyRequest): Promise<never> => {
    if (request.principal !== null && isUnfit(error)) await requireSubject(request);
    throw error;
  };
}
