import { type ErrorCode, successResponseOf } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import type { TSchema } from 'typebox';
import { withSpan } from '../lib/tracing.ts';
import { type Access, announceLimit } from './access.ts';
import { refuseOverload } from './admission.ts';
import { isUnfit } from './errors.ts';
import { IDEMPOTENCY_ERRORS } from './idempotency.ts';
import type { Principal } from './principals.ts';
import type { AnyDeclaration, CallerClass, RouteDeclaration, TransactionMode } from './route-declaration.ts';
import { type Run, readRunner, writeRunner } from './route-runs.ts';
import { APPROVAL_ERRORS } from './second-approval.ts';

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
  const declared = spec as AnyDeclaration;
  const run = transaction === 'none' ? readRunner(declared) : writeRunner(app, declared);
  add(app, transaction === 'none' ? declared : withWriteErrors(declared), run, { isOwnWork, takesTurn });
}

function withWriteErrors(spec: AnyDeclaration): AnyDeclaration {
  const approval = spec.secondApproval === undefined ? [] : APPROVAL_ERRORS;
  return { ...spec, errors: [...(spec.errors ?? []), ...approval, ...IDEMPOTENCY_ERRORS] };
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

/** All customers at a partner’s widget wait in one line, so that they keep nobody else waiting. */
function turnOf(principal: Principal | null): string {
  return principal?.kind === 'session' ? `widget:${principal.partnerId}` : (principal?.bucket ?? '');
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
