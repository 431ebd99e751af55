import { EventListQuery, EventListSchema, EventMessageSchema } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Database } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import type { Principals } from '../../http/principals.ts';
import { route } from '../../http/route.ts';
import { sendStream, streamCursor } from '../../http/send-stream.ts';
import { createStreamHub, readEvents, requireKept, type StreamHub } from './event-stream.ts';

export interface EventRouteDeps {
  readonly db: Database;
  readonly listener: Listener;
  readonly principals: Principals;
}

const DEFAULT_LIMIT = 100;

/** One address, two forms: a page of events, or the stream for clients that accept text/event-stream. */
export function registerEventRoutes(app: FastifyInstance, deps: EventRouteDeps): void {
  const hub = createStreamHub(deps);
  // A stream never ends by itself; a server that stops must not wait for it.
  app.addHook('preClose', async () => hub.close());
  route(app, {
    method: 'GET',
    url: '/api/v1/partner/events',
    operationId: 'listEvents',
    tag: 'Webhooks',
    summary: 'List or stream events',
    description:
      'A page of events after a cursor, oldest first. With `Accept: text/event-stream` the same as server-sent events: each carries its cursor as `id`, and a client that reconnects with `Last-Event-ID` misses nothing. A stream without a cursor starts now; `after=0` starts with the oldest event that is kept. A cursor older than the events that are kept answers CURSOR_EXPIRED, in both forms.',
    access: 'partner',
    transaction: 'none',
    query: EventListQuery,
    data: EventListSchema,
    errors: ['CURSOR_EXPIRED'],
    handle: ({ query }, { partnerId }) => listEvents(deps.db, partnerId, query),
    stream: {
      message: EventMessageSchema,
      open: ({ query, request }, { partnerId }, reply) =>
        openStream(hub, deps.db, partnerId, streamCursor(request, query.after), request, reply),
    },
  });
}

async function listEvents(
  db: Database,
  partnerId: string,
  { after = '0', limit = DEFAULT_LIMIT }: Static<typeof EventListQuery>,
): Promise<Static<typeof EventListSchema>> {
  const rows = await readEvents(db, partnerId, after, limit);
  return {
    events: rows.map(({ cursor, body }) => ({ cursor, ...JSON.parse(body) })),
    next_cursor: rows.at(-1)?.cursor ?? after,
    has_more: rows.length === limit,
  };
}

async function openStream(
  hub: StreamHub,
  db: Database,
  partnerId: string,
  cursor: string | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  // Before the stream begins: afterwards a refusal could only be a broken connection.
  if (cursor !== undefined) await requireKept(db, partnerId, cursor);
  return sendStream(hub, partnerId, cursor, request, reply);
}
