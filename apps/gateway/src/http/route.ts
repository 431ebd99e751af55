import { CausewayError, type ErrorCode } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { partnerScope } from '../db/database.ts';
import type { Statement } from '../db/statement.ts';
import { type UnitOfWork, type UnitTools, unitOfWork } from '../engine/unit-of-work.ts';
import { withSpan } from '../lib/tracing.ts';
import type { Access } from './access.ts';
import { invalidRequest } from './errors.ts';
import {
  type AnswerSealer,
  claimIdempotencyKey,
  fingerprintOf,
  keepAnswer,
  type RequestIdentity,
} from './idempotency.ts';
import type { OperatorPrincipal, PartnerPrincipal, VendorPrincipal } from './principals.ts';

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
  add(app, spec, 'public', async (request) => success(await handle(inputOf(request))));
}

export function partnerRoute<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [partner: PartnerPrincipal]>,
): void {
  add(app, spec, 'partner', async (request) => success(await handle(inputOf(request), partnerOf(request))));
}

export function vendorRoute<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [vendor: VendorPrincipal]>,
): void {
  add(app, spec, 'vendor', async (request) =>
    success(await handle(inputOf(request), request.principal as VendorPrincipal)),
  );
}

export function operatorRoute<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  spec: RouteSpec<P, Q, B, D>,
  handle: Handler<P, Q, B, D, [operator: OperatorPrincipal]>,
): void {
  add(app, spec, 'operator', async (request) =>
    success(await handle(inputOf(request), request.principal as OperatorPrincipal)),
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
  const documented = { ...spec, errors: [...(spec.errors ?? []), ...IDEMPOTENCY_ERRORS] };
  add(app, documented, 'partner', async (request, reply) => {
    const partner = partnerOf(request);
    const scope = partnerScope(partner.partnerId);
    const identity = identityOf(request, partner);
    if (identity === null) {
      return unitOfWork(tools, scope, async (unit) => success(await handle(inputOf(request), partner, unit)));
    }
    const answer = await unitOfWork(tools, scope, (unit) =>
      answerOnce(unit, identity, app.answerSealer, reply, () => handle(inputOf(request), partner, unit)),
    );
    return sendAnswer(reply, answer);
  });
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
  const documented = { ...spec, errors: [...(spec.errors ?? []), ...IDEMPOTENCY_ERRORS] };
  add(app, documented, 'partner', async (request, reply) => {
    const partner = partnerOf(request);
    const scope = partnerScope(partner.partnerId);
    const identity = identityOf(request, partner);
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

const IDEMPOTENCY_ERRORS: readonly ErrorCode[] = ['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_IN_PROGRESS'];

function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer.replayed) reply.header('idempotency-replayed', 'true');
  return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body);
}

const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

function identityOf(request: FastifyRequest, partner: PartnerPrincipal): RequestIdentity | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key.length < 1 || key.length > IDEMPOTENCY_KEY_MAX_LENGTH) {
    throw invalidRequest('Idempotency-Key', `must have 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters`);
  }
  return {
    partnerId: partner.partnerId,
    idempotencyKey: key,
    fingerprint: fingerprintOf(request.method, request.url, request.body),
  };
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly replayed: boolean;
}

async function answerOnce(
  unit: UnitOfWork,
  identity: RequestIdentity,
  sealer: AnswerSealer | null,
  reply: FastifyReply,
  work: () => Promise<unknown> | unknown,
): Promise<Answer> {
  const stored = await claimIdempotencyKey(unit, identity, sealer);
  if (stored !== null) return { ...stored, replayed: true };
  let answer: { status: number; body: string };
  try {
    answer = { status: 200, body: String(reply.serialize(success(await work()))) };
  } catch (error) {
    // A refusal is an answer too and is kept; a failure is not, so that a retry may succeed.
    if (!(error instanceof CausewayError) || error.status >= 500) throw error;
    await unit.tx.undo();
    answer = { status: error.status, body: JSON.stringify(error) };
  }
  keepAnswer(unit, identity, answer, sealer);
  return { ...answer, replayed: false };
}

function success<T>(data: T): { success: true; data: T } {
  return { success: true, data };
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

const EVERY_ROUTE: readonly ErrorCode[] = ['VALIDATION_ERROR', 'RATE_LIMITED', 'INTERNAL_ERROR'];

function add<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema>(
  app: FastifyInstance,
  spec: RouteSpec<P, Q, B, D>,
  access: Access,
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  const codes = [
    ...EVERY_ROUTE,
    ...(access === 'public' ? [] : (['UNAUTHORIZED'] as const)),
    ...(spec.errors ?? []),
  ];
  const spanName = `${String(spec.method)} ${spec.url}`;
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
    handler: (request, reply) => withSpan(spanName, {}, () => handler(request, reply)),
  });
}
