import { setTimeout as pause } from 'node:timers/promises';
import {
  CausewayError,
  type ErrorKey,
  errorStatus,
  FORMAT_WORDS,
  PATTERN_WORDS,
  SupportedResourceError,
  supportedErrorStatus,
  toPartnerErrorBody,
  toSupportedErrorBody,
} from '@causeway/protocol';
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchemaValidationError,
} from 'fastify';
import { isOutage } from '../db/outage.ts';
import type { Logger } from '../lib/logger.ts';
import { setCommonHeaders } from './transport.ts';
import { meantProblems } from './validation-problems.ts';

/**
 * The one place where a thrown thing becomes an answer. Whatever it is, the partner gets an envelope with a
 * code of the catalogue; stacks, SQL and upstream texts go to the log and nowhere else.
 */
export interface ErrorAnswers {
  /** `noteUnmatched` is told the status of every answer to a request that found no route. */
  register(app: FastifyInstance, noteUnmatched: NoteUnmatched): void;
  /** For what fails before a route is found, such as a path with broken percent-encoding. */
  answerFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void;
}

type NoteUnmatched = (request: FastifyRequest, status: number) => void;
const UNAUTHORIZED = 401;
const SERVICE_UNAVAILABLE = 503;
/** A database that restarts is back within a second; what takes longer is asked again as often. */
export const RETRY_AFTER_SECONDS = 1;

/**
 * How long a limit's refusal takes. A client that repeats whatever is refused costs as much as its answers are fast; one
 * that waits, as it was told to, does not notice.
 */
const REFUSAL_PAUSE_MS = 200;
/** Beyond that many at once, holding on to them would cost more than answering. */
const PAUSED_REFUSALS = 1_000;

export function errorAnswers(logger: Logger): ErrorAnswers {
  let onUnmatched: NoteUnmatched = () => {};
  let paused = 0;

  function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const supported =
      request.routeOptions?.config?.envelope === 'supported' &&
      !isRouteNotFound(error) &&
      !isRateLimit(error);
    const known = supported ? asSupportedError(error) : asCausewayError(error);
    const status = supported ? supportedErrorStatus(known) : errorStatus(known);
    if (status >= 500) {
      logger.error(
        { err: error, request_id: request.id, method: request.method, route: request.routeOptions?.url },
        'request failed',
      );
    } else {
      logger.debug({ err: error, request_id: request.id, status }, 'request refused');
    }
    // Whatever went wrong with it: no hook of a route tells of a request that has none.
    if (request.is404) onUnmatched(request, status);
    if (status === UNAUTHORIZED) reply.header('www-authenticate', 'Bearer');
    if (status === SERVICE_UNAVAILABLE) reply.header('retry-after', RETRY_AFTER_SECONDS);
    const wait = waitOf(known);
    if (wait !== undefined) reply.header('retry-after', wait);
    return reply
      .code(status)
      .header('content-type', 'application/json; charset=utf-8')
      .serializer(JSON.stringify)
      .send(supported ? toSupportedErrorBody(known) : toPartnerErrorBody(known));
  }

  async function answerLimit(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    paused++;
    await pause(REFUSAL_PAUSE_MS);
    paused--;
    return answerError(error, request, reply);
  }

  return {
    register(app, noteUnmatched) {
      onUnmatched = noteUnmatched;
      app.setErrorHandler((error: FastifyError, request, reply) => {
        // Its answer has begun and been counted; there is no one left for another.
        if (isLeftByClient(error, reply)) return undefined;
        return isRateLimit(error) && paused < PAUSED_REFUSALS
          ? answerLimit(error, request, reply)
          : answerError(error, request, reply);
      });
      app.setNotFoundHandler((request, reply) =>
        answerError(new CausewayError('ROUTE_NOT_FOUND'), request, reply),
      );
    },
    answerFrameworkError(error, request, reply) {
      // No hook has run for this request.
      setCommonHeaders(request, reply);
      answerError(error, request, reply);
    },
  };
}

/** A stream that ends early because its connection did; where the connection still stands, the stream itself has failed. */
function isLeftByClient(error: unknown, reply: FastifyReply): boolean {
  return reply.raw.destroyed && (error as FastifyError | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE';
}

function isRouteNotFound(error: unknown): boolean {
  return error instanceof CausewayError && error.code === 'ROUTE_NOT_FOUND';
}

/** A limit is answered alike everywhere: its code tells a client to wait, which no error_key does. */
function isRateLimit(error: unknown): boolean {
  return error instanceof CausewayError && error.code === 'RATE_LIMITED';
}

/** Where a limit says itself how long it lasts. */
function waitOf(error: Error): number | undefined {
  if (!(error instanceof CausewayError)) return undefined;
  const { code, details } = error;
  const wait =
    code === 'SIGN_IN_LOCKED' ? details.retry_after_seconds : isRateLimit(error) && details.retry_after;
  return typeof wait === 'number' ? wait : undefined;
}

function asSupportedError(error: unknown): Error {
  if (error instanceof SupportedResourceError) return error;
  const known = asCausewayError(error);
  return new SupportedResourceError(keyOfStatus(known.status), { cause: error });
}

function keyOfStatus(status: number): ErrorKey {
  if (status === SERVICE_UNAVAILABLE) return 'service_unavailable';
  return status < 500 ? 'validation_error' : 'internal_error';
}

function asCausewayError(error: unknown): CausewayError {
  if (error instanceof CausewayError) return error;
  if (!(error instanceof Error)) return new CausewayError('INTERNAL_ERROR', { cause: error });
  const { validation, validationContext, code, statusCode } = error as Partial<FastifyError>;
  if (validation) return validationError(validation, validationContext ?? 'body');
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new CausewayError('PAYLOAD_TOO_LARGE');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new CausewayError('UNSUPPORTED_MEDIA_TYPE');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return invalidRequest('body', 'must not be empty when the content type is JSON');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalidRequest('body', 'does not have the announced length');
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return invalidRequest('body', 'must be valid JSON');
    case 'ECONNRESET':
      // While its body was read, which alone gives it a status; a connection of our own that breaks is our failure.
      if (statusCode === 400) return invalidRequest('body', 'ended before its announced length');
      break;
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return invalidRequest('path', 'has a part that is too long');
    case 'FST_ERR_BAD_URL':
      return invalidRequest('path', 'has invalid percent-encoding');
    default:
  }
  if (UNSTORABLE_TEXT_CODES.has(String(code))) {
    return invalidRequest('request', 'contains a character that no text can hold (U+0000)');
  }
  if (error instanceof SyntaxError && 'statusCode' in error && error.statusCode === 400) {
    return invalidRequest('body', 'must be valid JSON');
  }
  return new CausewayError(isOutage(error) ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR', { cause: error });
}

const UNFIT = new Set<string>(['VALIDATION_ERROR', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']);

/** The request itself is at fault, whatever it is about. */
export function isUnfit(error: unknown): boolean {
  return UNFIT.has(asCausewayError(error).code);
}

// What PostgreSQL says of U+0000, in a text and in a JSON document: the request's fault, wherever it was put.
const UNSTORABLE_TEXT_CODES = new Set(['22021', '22P05']);

export function invalidRequest(path: string, message: string): CausewayError {
  return invalidFields([{ path, message }]);
}

/** Names the fields in the message too, for people who read logs and not details. */
export function invalidFields(fields: { path: string; message: string }[]): CausewayError {
  return new CausewayError('VALIDATION_ERROR', {
    message: `The request is not valid: ${fields.map((field) => `${field.path} ${field.message}`).join('; ')}.`,
    details: { fields },
  });
}

const MAX_REPORTED_FIELDS = 20;

function validationError(problems: readonly FastifySchemaValidationError[], context: string): CausewayError {
  const orderId = problems.find((problem) => context === 'params' && problem.instancePath === '/order_id');
  if (orderId) return new CausewayError('INVALID_ORDER_ID');
  const seen = new Set<string>();
  const fields: { path: string; message: string }[] = [];
  for (const problem of meantProblems(problems)) {
    const path = pathOf(problem, context);
    // One cause often fails several alternatives of a union; the first report of a place says enough.
    if (seen.has(path)) continue;
    seen.add(path);
    fields.push({ path, message: messageOf(problem) });
  }
  return invalidFields(fields.slice(0, MAX_REPORTED_FIELDS));
}

function pathOf(problem: FastifySchemaValidationError, context: string): string {
  const parts = problem.instancePath.split('/').slice(1);
  if (problem.keyword === 'required' && typeof problem.params.missingProperty === 'string') {
    parts.push(problem.params.missingProperty);
  }
  return parts.length === 0 ? context : parts.join('.');
}

const UNFIT_FORM = 'does not have the form that is described';

function messageOf(problem: FastifySchemaValidationError): string {
  if (problem.keyword === 'required') return 'is required';
  if (problem.keyword === 'enum' && Array.isArray(problem.params.allowedValues)) {
    return `must be one of ${problem.params.allowedValues.join(', ')}`;
  }
  if (problem.keyword === 'const') return `must be ${JSON.stringify(problem.params.allowedValue)}`;
  if (problem.keyword === 'pattern') return PATTERN_WORDS[String(problem.params.pattern)] ?? UNFIT_FORM;
  if (problem.keyword === 'format') return FORMAT_WORDS[String(problem.params.format)] ?? UNFIT_FORM;
  return problem.message ?? 'is not valid';
}
