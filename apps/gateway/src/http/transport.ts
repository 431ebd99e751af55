import type { Socket } from 'node:net';
import { CausewayError, toPartnerErrorBody } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { IdGenerator } from '../lib/ids.ts';
import type { AccessLog } from './access-log.ts';

const STRICT = 'max-age=31536000; includeSubDomains';
const COMMON = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

interface Transport {
  readonly production: boolean;
}

/** Of every answer, beside the id of its request. */
export function commonHeaders({ production }: Transport): Readonly<Record<string, string>> {
  return production ? { ...COMMON, 'strict-transport-security': STRICT } : COMMON;
}

/** Headers of every answer, and answers to what is not even HTTP. */
export function registerHeaders(app: FastifyInstance, options: Transport): void {
  app.addHook('onRoute', (route) => {
    // Framing and referrers concern pages, not JSON.
    const declared = [route.onRequest ?? []].flat();
    if (route.config?.access === undefined && !declared.includes(setPageHeaders)) {
      route.onRequest = [...declared, setPageHeaders];
    }
  });
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply);
    if (options.production) reply.header('strict-transport-security', STRICT);
    done();
  });
}

const setPageHeaders: onRequestHookHandler = (_request, reply, done) => {
  reply.header('x-frame-options', 'DENY');
  reply.header('referrer-policy', 'no-referrer');
  done();
};

export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', COMMON['x-content-type-options']);
  reply.header('cache-control', COMMON['cache-control']);
}

const STATUS_LINES: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

export function clientErrorAnswerer(
  ids: IdGenerator,
  accessLog: AccessLog | undefined,
): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    const statusLine = STATUS_LINES[error.code ?? ''] ?? '400 Bad Request';
    const requestId = ids.uuid();
    accessLog?.logUnreadable(requestId, Number.parseInt(statusLine, 10));
    socket.end(
      [
        `HTTP/1.1 ${statusLine}`,
        `x-request-id: ${requestId}`,
        'content-type: application/json; charset=utf-8',
        `content-length: ${Buffer.byteLength(NOT_HTTP)}`,
        'connection: close',
        '',
        NOT_HTTP,
      ].join('\r\n'),
    );
  };
}

const NOT_HTTP = JSON.stringify(
  toPartnerErrorBody(
    new CausewayError('VALIDATION_ERROR', {
      message: 'The request is not valid HTTP.',
      details: { fields: [{ path: 'request', message: 'is not valid HTTP' }] },
    }),
  ),
);
