import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Database, SYSTEM } from '../db/database.ts';
import { machineNow } from '../lib/clock.ts';
import { STREAMS_AN_OWNER, type StreamHub } from '../lib/stream-hub.ts';
import { announceLimit, apiKeyOf } from './access.ts';
import { findLiveSession } from './console-session.store.ts';
import type { Principal, Principals } from './principals.ts';

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

/** A person at the console has no key: its session stands for one, and its tabs take no stream from its owner’s programs. */
const SESSION = 'console session ';

/** Whether the key or the session that opened a stream still would; a session that is over ends its streams. */
export async function isStreamStillAllowed(
  { db, principals }: { readonly db: Database; readonly principals: Principals },
  credential: string,
  isOwner: (principal: Principal) => boolean,
): Promise<boolean> {
  if (credential.startsWith(SESSION)) {
    const sessionId = credential.slice(SESSION.length);
    return (await db.query(SYSTEM, findLiveSession, [sessionId, new Date(machineNow())])).length > 0;
  }
  const principal = await principals.find(credential);
  return principal !== null && isOwner(principal);
}

export function sendStream(
  hub: StreamHub,
  ownerId: string,
  cursor: string | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const sessionId = request.principal?.user?.sessionId;
  const credential = sessionId === undefined ? apiKeyOf(request.headers) : SESSION + sessionId;
  const text = hub.open(ownerId, credential, cursor, sessionId === undefined ? ownerId : credential);
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
