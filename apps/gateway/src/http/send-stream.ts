import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { STREAMS_AN_OWNER, type StreamHub } from '../lib/stream-hub.ts';
import { announceLimit, apiKeyOf } from './access.ts';

const CURSOR = /^[0-9]{1,18}$/;

/** It is the streams that are used up, not the requests; one that its client left is noticed by the next heartbeat. */
const TOO_MANY_STREAMS = { allowed: false, limit: STREAMS_AN_OWNER, remaining: 0, resetSeconds: 10 } as const;

export function wantsStream(request: FastifyRequest): boolean {
  return request.headers.accept?.includes('text/event-stream') === true;
}

/** Where a stream goes on: where the client says that it stopped, else where the query says. */
export function streamCursor(request: FastifyRequest, after: string | undefined): string | undefined {
  const last = request.headers['last-event-id'];
  return typeof last === 'string' && CURSOR.test(last) ? last : after;
}

export function sendStream(
  hub: StreamHub,
  ownerId: string,
  cursor: string | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const text = hub.open(ownerId, apiKeyOf(request.headers), cursor);
  if (text === null) throw announceLimit(reply, TOO_MANY_STREAMS);
  return (
    reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('x-accel-buffering', 'no')
      // Kept alive after the stream, the connection would hold up a server that stops.
      .header('connection', 'close')
      .send(Readable.from(text, { objectMode: false, highWaterMark: 64 * 1024 }))
  );
}
