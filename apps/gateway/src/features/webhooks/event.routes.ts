import { EventListQuery, EventListSchema, EventMessageSchema, successResponseOf } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Database } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import type { PartnerPrincipal, Principals } from '../../http/principals.ts';
import { EVERY_ROUTE } from '../../http/route.ts';
import { sendStream, streamCursor, wantsStream } from '../../http/send-stream.ts';
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
  app.route({
    method: 'GET',
    url: '/api/v1/partner/events',
    config: {
      access: 'partner',
      errors: [...EVERY_ROUTE, 'UNAUTHORIZED', 'CURSOR_EXPIRED'],
    },
    schema: {
      operationId: 'listEvents',
      tags: ['Webhooks'],
      summary: 'List or stream events',
      description:
        'A page of events after a cursor, oldest first. With `Accept: text/event-stream` the same as server-sent events: each carries its cursor as `id`, and a client that reconnects with `Last-Event-ID` misses nothing. A stream without a cursor starts now; `after=0` starts with the oldest event that is kept. A cursor older than the events that are kept answers CURSOR_EXPIRED, in both forms.',
      security: [{ partnerKey: [] }],
      querystring: EventListQuery,
      response: {
        200: {
          description: 'A page of events, or the stream of them',
          content: {
            'application/json': {
              schema: successResponseOf(EventListSchema),
            },
            'text/event-stream': { schema: EventMessageSchema },
          },
        },
      },
    },
    handler: (request, reply) =>
      wantsStream(request) ? openStream(hub, deps.db, request, reply) : listEvents(deps.db, request),
  });
}

async function listEvents(db: Database, request: FastifyRequest): Promise<object> {
  const { partnerId } = request.principal as PartnerPrincipal;
  const { after = '0', limit = DEFAULT_LIMIT } = request.query as Static<typeof EventListQuery>;
  const rows = await readEvents(db, partnerId, after, limit);
  return {
    success: true,
    data: {
      events: rows.map(({ cursor, body }) => ({ cursor, ...JSON.parse(body) })),
      next_cursor: rows.at(-1)?.cursor ?? after,
      has_more: rows.length === limit,
    },
  };
}

async function openStream(
  hub: StreamHub,
  db: Database,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { partnerId } = request.principal as PartnerPrincipal;
  const { after } = request.query as Static<typeof EventListQuery>;
  const cursor = streamCursor(request, after);
  // Before the stream begins: afterwards a refusal could only be a broken connection.
  if (cursor !== undefined) await requireKept(db, partnerId, cursor);
  return sendStream(hub, partnerId, cursor, request, reply);
}
