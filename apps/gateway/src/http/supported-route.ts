import { type ErrorCode, SupportedErrorResponse } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { NoteAnswer } from './measurement.ts';
import { openToAnyOrigin, type PreparedReading, sendPrepared } from './prepared-answer.ts';
import { EVERY_ROUTE } from './route.ts';

/**
 * Public reads that are answered from memory: prepared bytes with an ETag, open to pages of any origin.
 * `supportedRoute` answers errors with an error_key, `preparedRoute` with the partner envelope.
 */
export interface PreparedRouteSpec {
  readonly url: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: TSchema;
  readonly query?: TSchema;
  /** The shape of `data`. */
  readonly data: TSchema;
  /** Codes beyond those every route of its kind can answer. */
  readonly errors?: readonly ErrorCode[];
}

type Answer = (request: FastifyRequest) => PreparedReading | Promise<PreparedReading>;

const UNCHANGED = Type.Null({ description: 'The client has it already: If-None-Match names its ETag' });
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/**
 * A supported-resources endpoint. Its query schema documents and does not validate: each problem has an error_key
 * of its own, so the handler reads the query by hand.
 */
export function supportedRoute(app: FastifyInstance, spec: PreparedRouteSpec, answer: Answer): void {
  app.route({
    method: 'GET',
    url: spec.url,
    config: { access: 'public', envelope: 'supported', errors: ['RATE_LIMITED'] },
    schema: {
      ...documentation(spec),
      response: {
        200: successOf(spec.data),
        304: UNCHANGED,
        400: { ...SupportedErrorResponse, description: 'A query parameter is missing or not valid' },
        500: { ...SupportedErrorResponse, description: 'An unexpected failure' },
        503: { ...SupportedErrorResponse, description: 'Away for a moment; see Retry-After' },
      },
    },
    validatorCompiler: () => () => true,
    serializerCompiler: alreadySerialised,
    handler: handlerOf(answer, app.measuredRoute('GET', spec.url)),
  });
  answerPreflight(app, spec.url);
}

/** A pass-through endpoint: validated by its schema, errors in the partner envelope. */
export function preparedRoute(app: FastifyInstance, spec: PreparedRouteSpec, answer: Answer): void {
  app.route({
    method: 'GET',
    url: spec.url,
    config: { access: 'public', errors: [...EVERY_ROUTE, ...(spec.errors ?? [])] },
    schema: { ...documentation(spec), response: { 200: successOf(spec.data), 304: UNCHANGED } },
    serializerCompiler: alreadySerialised,
    handler: handlerOf(answer, app.measuredRoute('GET', spec.url)),
  });
  answerPreflight(app, spec.url);
}

/** Bytes are sent as they are, so compiling a serialiser from the schema would only cost start-up time. */
const alreadySerialised = () => JSON.stringify;

function handlerOf(answer: Answer, noteAnswer: NoteAnswer) {
  return (request: FastifyRequest, reply: FastifyReply): undefined | Promise<FastifyReply> => {
    openToAnyOrigin(request, reply);
    const reading = answer(request);
    if (reading instanceof Promise) {
      return reading.then((ready) => {
        sendPrepared(request, reply, ready, noteAnswer);
        return reply;
      });
    }
    sendPrepared(request, reply, reading, noteAnswer);
    return undefined;
  };
}

function documentation(spec: PreparedRouteSpec): object {
  return {
    operationId: spec.operationId,
    tags: [spec.tag],
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    security: [],
    ...(spec.params === undefined ? {} : { params: spec.params }),
    ...(spec.query === undefined ? {} : { querystring: spec.query }),
  };
}

function successOf(data: TSchema): TSchema {
  return Type.Object({ success: Type.Literal(true), data }, { description: 'Success' });
}

/** A page that sends its key along asks first whether it may. */
function answerPreflight(app: FastifyInstance, url: string): void {
  app.route({
    method: 'OPTIONS',
    url,
    config: { access: 'open' },
    schema: { hide: true } as object,
    handler: (_request, reply) => {
      reply.header('access-control-allow-origin', '*');
      reply.header('access-control-allow-methods', 'GET, HEAD, OPTIONS');
      reply.header('access-control-allow-headers', 'x-api-key, x-request-id, if-none-match, content-type');
      reply.header('access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS);
      return reply.code(204).send();
    },
  });
}
