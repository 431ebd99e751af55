import { type ErrorCode, successResponseOf } from '@causeway/protocol';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  preParsingHookHandler,
} from 'fastify';
import type { Static, TSchema } from 'typebox';
import { customerScope, partnerScope, type Scope, SYSTEM, vendorScope } from '../db/database.ts';
import type { Statement } from '../db/statement.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../engine/unit-of-work.ts';
import { withSpan } from '../lib/tracing.ts';
import { type Access, announceLimit } from './access.ts';
import { refuseOverload } from './admission.ts';
import type { ConsolePrincipal } from './console-sessions.ts';
import { isUnfit } from './errors.ts';
import {
  IDEMPOTENCY_ERRORS,
  type IdempotentResponse,
  idempotentResponse,
  idempotentResponseOutside,
  identityOf,
  type OutsideWork,
  sendIdempotentResponse,
  UNREMEMBERED,
} from './idempotency.ts';
import type {
  OperatorPrincipal,
  PartnerPrincipal,
  Principal,
  SessionPrincipal,
  VendorPrincipal,
  WidgetPrincipal,
} from './principals.ts';
import { APPROVAL_ERRORS, reasonOf, type SecondApproval } from './second-approval.ts';
import { wantsStream } from './send-stream.ts';

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
  /** No part of the described API: the console’s own. */
  readonly hidden?: true;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The shape of `data`; only what it names leaves the process. */
  readonly data: D;
  /** Codes this route can answer beyond those every route of its kind can. */
  readonly errors?: readonly ErrorCode[];
  /** Described only: what the handler reads from the request by itself, and judges. */
  readonly documented?: { readonly body?: TSchema; readonly headers?: TSchema };
  /**
   * Throws where what the path names is not there for this caller. Asked before a request that does not fit is told so:
   * a caller that may not act on something learns nothing about how to.
   */
  readonly requireSubject?: (request: FastifyRequest) => Promise<void>;
  /** Taken in however much there is to do: its caller tells what has happened, and may not tell again. */
  readonly alwaysAdmitted?: true;
}

export interface RouteInput<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly params: Static<P>;
  readonly query: Static<Q>;
  readonly body: Static<B>;
  readonly request: FastifyRequest;
}

type Caller = {
  public: null;
  partner: PartnerPrincipal;
  widget: WidgetPrincipal;
  session: SessionPrincipal;
  vendor: VendorPrincipal;
  operator: OperatorPrincipal;
  /** Whoever is signed in, of any desk. */
  console: ConsolePrincipal;
};
type CallerClass = keyof Caller;

/** For a write that is one statement: as a unit of work, but every statement runs at once and stands alone. */
export interface StatementRun {
  readonly ids: UnitDeps['ids'];
  readonly at: Date;
  query<P extends readonly unknown[], R>(declared: Statement<P, R>, params: P): Promise<R[]>;
}

/** What a handler gets to write with. */
interface WorkOf {
  /** A read, or a write that needs no idempotency: the handler opens what it needs itself. */
  none: undefined;
  /** One unit of work in the caller's own scope. Nothing may leave the process inside it; what must leave is an intent. */
  unit: UnitOfWork;
  /**
   * A write whose last statement alone decides and writes. Without an idempotency key it needs no transaction, which
   * saves opening and closing one; with a key the answer is stored in the same transaction as ever.
   */
  statement: StatementRun;
  /** The work leaves the process, so that no transaction can hold it. What it writes all the same, it says it has written. */
  outside: OutsideWork;
}
type TransactionMode = keyof WorkOf;

/** Everything but `none` is answered once for an idempotency key. */
export interface RouteDeclaration<
  A extends CallerClass,
  M extends TransactionMode,
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  D extends TSchema,
  Acquired,
> extends RouteSpec<P, Q, B, D> {
  readonly access: A;
  readonly transaction: M;
  /** What units are made of; a route without a transaction needs none. */
  readonly deps?: M extends 'none' ? never : UnitDeps;
  /**
   * What the write rests on outside the process: read first, while no transaction waits, and judged in the unit. It
   * refuses nothing, so that a repeated key still gets its answer.
   */
  readonly readFirst?: (input: RouteInput<P, Q, B>) => Promise<Acquired>;
  /** Takes what the unit needs, hands it over, and gives it back where nothing came of the work. */
  readonly acquire?: <T>(
    input: RouteInput<P, Q, B>,
    caller: Caller[A],
    work: (acquired: Acquired) => Promise<T>,
  ) => Promise<T>;
  readonly handle: (
    input: RouteInput<P, Q, B>,
    caller: Caller[A],
    work: WorkOf[M],
    acquired: Acquired,
  ) => Promise<Static<D>> | Static<D>;
  /**
   * The call moves money: above the configured amount another person has to make it too. Only for operators, and in one
   * transaction.
   */
  readonly secondApproval?: A extends 'operator'
    ? M extends 'unit'
      ? SecondApproval<RouteInput<P, Q, B>>
      : never
    : never;
  /** What others must notice at once is told to them once it is committed. */
  readonly afterCommit?: () => Promise<void>;
  /** A read that has a second form: the same as server-sent events, for a client that accepts them. */
  readonly stream?: M extends 'none' ? EventStream<P, Q, B, Caller[A]> : never;
}

interface EventStream<P extends TSchema, Q extends TSchema, B extends TSchema, C> {
  /** The shape of one message's `data`. */
  readonly message: TSchema;
  readonly open: (
    input: RouteInput<P, Q, B>,
    caller: C,
    reply: FastifyReply,
  ) => Promise<FastifyReply> | FastifyReply;
}

/** The one way to declare a route that answers the partner envelope; prepared bytes have `preparedRoute`. */
export function route<
  A extends CallerClass,
  M extends TransactionMode,
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  D extends TSchema,
  Acquired = undefined,
>(app: FastifyInstance, spec: RouteDeclaration<A, M, P, Q, B, D, Acquired>): void {
  const { access, transaction } = spec;
  // What leaves the process, and a stream that stays open, does not keep the partner's other requests waiting.
  const isOwnWork = transaction !== 'outside' && spec.stream === undefined;
  const takesTurn = (access === 'partner' || access === 'session') && isOwnWork;
  // biome-ignore lint/suspicious/noExplicitAny: the runners below serve every combination; `handle` was checked above.
  const declared = spec as RouteDeclaration<any, any, P, Q, B, D, any>;
  const run = transaction === 'none' ? readRunner(declared) : writeRunner(app, declared);
  add(app, transaction === 'none' ? declared : withWriteErrors(declared), run, { isOwnWork, takesTurn });
}

type Run = (request: FastifyRequest, reply: FastifyReply) => unknown;
// biome-ignore lint/suspicious/noExplicitAny: see `route`.
type AnyDeclaration = RouteDeclaration<any, any, any, any, any, any, any>;

function readRunner({ handle, stream }: AnyDeclaration): Run {
  const read: Run = (request) => succeed(handle(inputOf(request), request.principal, undefined, undefined));
  if (stream === undefined) return read;
  return (request, reply) =>
    wantsStream(request) ? stream.open(inputOf(request), request.principal, reply) : read(request, reply);
}

function writeRunner(app: FastifyInstance, spec: AnyDeclaration): Run {
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
    const response = await acquire(input, request.principal, (acquired) =>
      perform(
        { deps, scope: scopeOf(request.principal), identity, sealer: app.responseSealer, reply },
        (work) => handle(input, request.principal, work, acquired),
      ),
    );
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
// biome-ignore lint/suspicious/noExplicitAny: see `route`.
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

function withWriteErrors(spec: AnyDeclaration): AnyDeclaration {
  const approval = spec.secondApproval === undefined ? [] : APPROVAL_ERRORS;
  return { ...spec, errors: [...(spec.errors ?? []), ...approval, ...IDEMPOTENCY_ERRORS] };
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

/** All customers at a partner’s widget wait in one line, so that they keep nobody else waiting. */
function turnOf(principal: Principal | null): string {
  return principal?.kind === 'session' ? `widget:${principal.partnerId}` : (principal?.bucket ?? '');
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

interface Burden {
  /** Of this process and its database, and so counted where there is too much of it. */
  readonly isOwnWork: boolean;
  readonly takesTurn: boolean;
}

function add(app: FastifyInstance, spec: AnyDeclaration, handler: Run, burden: Burden): void {
  const access: Access = spec.access;
  const codes = [
    ...EVERY_ROUTE,
    ...(spec.method === 'GET' ? [] : WITH_BODY),
    ...(access === 'public' ? [] : (['UNAUTHORIZED'] as const)),
    ...(spec.errors ?? []),
  ];
  const spanName = `${String(spec.method)} ${spec.url}`;
  const traced = (request: FastifyRequest, reply: FastifyReply) =>
    withSpan(spanName, {}, () => handler(request, reply));
  const counted: Run = burden.isOwnWork
    ? (request, reply) => app.admission.count(turnOf(request.principal), () => traced(request, reply))
    : traced;
  app.route({
    method: spec.method,
    url: spec.url,
    config: {
      access,
      errors: codes,
      ...(spec.documented === undefined ? {} : { documented: spec.documented }),
    },
    schema: {
      operationId: spec.operationId,
      ...(spec.hidden === undefined ? {} : { hide: true }),
      tags: [spec.tag],
      summary: spec.summary,
      ...(spec.description === undefined ? {} : { description: spec.description }),
      security: access === 'public' ? [] : [{ [`${access}Key`]: [] }],
      ...(spec.params === undefined ? {} : { params: spec.params }),
      ...(spec.query === undefined ? {} : { querystring: spec.query }),
      ...(spec.body === undefined ? {} : { body: spec.body }),
      response: { 200: responseOf(spec) },
    },
    ...(spec.requireSubject === undefined ? {} : { errorHandler: subjectFirst(spec.requireSubject) }),
    ...(spec.alwaysAdmitted === undefined ? { preParsing: admissionHook(app, spec) } : {}),
    handler: burden.takesTurn
      ? (request, reply) =>
          app.turns.take(
            turnOf(request.principal),
            () => counted(request, reply),
            (full) => announceLimit(reply, full),
          )
      : counted,
  });
}

/** After the key, so that it is known whose request it is, and before the body is read. */
function admissionHook(app: FastifyInstance, { method, url }: AnyDeclaration): preParsingHookHandler {
  const noteAnswer = app.measuredRoute(String(method), url);
  return (request, reply, payload, done) => {
    if (app.admission.admits(turnOf(request.principal))) done(null, payload);
    else refuseOverload(request, reply, noteAnswer);
  };
}

function responseOf({ data, stream }: AnyDeclaration): object {
  const envelope = successResponseOf(data);
  if (stream === undefined) return envelope;
  return {
    description: 'A page of events, or the stream of them',
    content: {
      'application/json': { schema: envelope },
      'text/event-stream': { schema: stream.message },
    },
  };
}

/**
 * Looks only where a request is refused for its form, so that one that fits costs nothing more. A body that cannot be read
 * is refused before the path is looked at: an id that is none names nothing, and is not asked about.
 */
function subjectFirst(requireSubject: (request: FastifyRequest) => Promise<void>) {
  return async (error: Error, request: FastifyRequest): Promise<never> => {
    const isAsked = request.principal !== null && isUnfit(error);
    if (isAsked && request.validateInput(request.params, 'params')) await requireSubject(request);
    throw error;
  };
}
