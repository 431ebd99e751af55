import { type ErrorCode, SupportedErrorResponse, successResponseOf } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { NoteAnswer } from './measurement.ts';
import { openToAnyOrigin, type PreparedReading, sendPrepared } from './prepared-answer.ts';
import { EVERY_ROUTE } from './route.ts';

/** Public reads that are answered from memory: prepared bytes with an ETag, open to pages of any origin. */
export interface PreparedRouteSpec {
  /**
   * How errors are answered. `partner`: with a code, and the schema validates. `supported`: with an error_key; each
   * problem of the query has a key of its own, so that the schema documents only and the handler reads the query.
   */
  readonly envelope: 'partner' | 'supported';
  readonly url: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: TSchema;
  readonly query?: TSchema;
  /** The shape of `data`. */
  readonly data: TSchema;
  /** Codes of the partner envelope beyond those every route can answer. */
  readonly errors?: readonly ErrorCode[];
}

type Answer = (request: FastifyRequest) => PreparedReading | Promise<PreparedReading>;

const UNCHANGED = Type.Null({ description: 'Not modified: If-None-Match names the current ETag' });
const SUPPORTED_ERRORS = {
  400: { ...SupportedErrorResponse, description: 'A query parameter is missing or not valid' },
  500: { ...SupportedErrorResponse, description: 'An unexpected failure' },
  503: { ...SupportedErrorResponse, description: 'Temporarily unavailable; see Retry-After' },
};
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

export function preparedRoute(app: FastifyInstance, spec: PreparedRouteSpec, answer: Answer): void {
  const isSupported = spec.envelope === 'supported';
  app.route({
    method: 'GET',
    url: spec.url,
    config: isSupported
      ? { access: 'public', envelope: 'supported', errors: ['RATE_LIMITED'] }
      : { access: 'public', errors: [...EVERY_ROUTE, ...(spec.errors ?? [])] },
    schema: {
      ...documentation(spec),
      response: {
        200: successResponseOf(spec.data),
        304: UNCHANGED,
        ...(isSupported ? SUPPORTED_ERRORS : {}),
      },
    },
    ...(isSupported ? { validatorCompiler: () => () => true } : {}),
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
      reply.header(
        'access-control-allow-headers',
        'x-api-key, authorization, x-request-id, if-none-match, content-type',
      );
      reply.header('access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS);
      return reply.code(204).send();
    },
  });
}
