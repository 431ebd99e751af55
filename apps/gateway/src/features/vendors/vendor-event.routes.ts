import { VendorEventListSchema, VendorEventQuery, VendorEventSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { type Database, SYSTEM, vendorScope } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import type { Principals } from '../../http/principals.ts';
import { route } from '../../http/route.ts';
import { isStreamStillAllowed, sendStream, streamCursor } from '../../http/send-stream.ts';
import { createStreamHub, type StreamHub } from '../../lib/stream-hub.ts';
import { readOrdersOfVendor } from '../orders/lifecycle/list-orders.ts';
import {
  lockVendorEvents,
  numberVendorEvents,
  purgeVendorEvents,
  readNumberedEvents,
  type VendorEventRow,
  vendorEventState,
} from './vendor.store.ts';
import { vendorOrderView } from './vendor-order.view.ts';

export type VendorEvent = Static<typeof VendorEventSchema>;

const NUMBERED_AT_ONCE = 1_000;
/** A vendor that was away longer reads its orders instead: they say how things stand. */
const KEPT_DAYS = 30;
const PURGED_AT_ONCE = 5_000;

/** What happened to a vendor's orders after a cursor, oldest first, each with the order as it is now. */
export async function readVendorEvents(
  db: Database,
  vendorId: string,
  after: string,
  limit: number,
  responseSeconds: number | null,
): Promise<VendorEvent[]> {
  const rows = await numberedEvents(db, vendorId, after, limit);
  if (rows.length === 0) return [];
  const orders = await readOrdersOfVendor(db, vendorId, [...new Set(rows.map((row) => row.order_id))]);
  return rows.map((row) => {
    const order = orders.get(row.order_id);
    return {
      cursor: row.cursor,
      event_type: row.event_type,
      order_id: row.order_id,
      status: row.status,
      at: row.at.toISOString(),
      order: order === undefined ? null : vendorOrderView(order, responseSeconds),
    };
  });
}

async function numberedEvents(
  db: Database,
  vendorId: string,
  after: string,
  limit: number,
): Promise<VendorEventRow[]> {
  const scope = vendorScope(vendorId);
  const known = await db.query(scope, readNumberedEvents, [vendorId, after, limit]);
  if (known.length === limit) return known;
  const [state] = await db.query(scope, vendorEventState, [vendorId]);
  if (!state?.has_unnumbered) return known;
  await numberEvents(db, vendorId);
  return db.query(scope, readNumberedEvents, [vendorId, after, limit]);
}

/** The cursor behind everything that has happened so far. */
export async function latestVendorCursor(db: Database, vendorId: string): Promise<string> {
  for (;;) {
    const [state] = await db.query(vendorScope(vendorId), vendorEventState, [vendorId]);
    if (!state?.has_unnumbered) return state?.latest ?? '0';
    await numberEvents(db, vendorId);
  }
}

function numberEvents(db: Database, vendorId: string): Promise<void> {
  return db.transaction(vendorScope(vendorId), async (tx) => {
    tx.defer(lockVendorEvents, [vendorId]);
    tx.defer(numberVendorEvents, [vendorId, NUMBERED_AT_ONCE]);
  });
}

export async function purgeOldVendorEvents({ db, clock }: Pick<UnitDeps, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock.now() - KEPT_DAYS * 24 * 60 * 60 * 1_000);
  await db.query(SYSTEM, purgeVendorEvents, [before, PURGED_AT_ONCE]);
}

export interface VendorEventDeps {
  readonly db: Database;
  readonly listener: Listener;
  readonly principals: Principals;
  readonly vendorResponseSeconds: number | null;
}

const DEFAULT_LIMIT = 100;

/** One address, two forms: a page of events, or the stream for clients that accept text/event-stream. */
export function registerVendorEventRoutes(app: FastifyInstance, deps: VendorEventDeps): void {
  const hub = createVendorHub(deps);
  // A stream never ends by itself; a server that stops must not wait for it.
  app.addHook('preClose', async () => hub.close());
  route(app, {
    method: 'GET',
    url: '/api/v1/vendor/events',
    operationId: 'listVendorEvents',
    tag: 'Vendor',
    summary: 'List or stream events of this vendor’s orders',
    description:
      'A page of events after a cursor, oldest first. With `Accept: text/event-stream` the same as server-sent events: each carries its cursor as `id` and its type as `event`, and a client that reconnects with `Last-Event-ID` misses nothing. A stream without a cursor starts now; `after=0` starts with the oldest event that is kept (30 days). A comment every 10 seconds keeps the stream open; it ends when the key is revoked or the server stops.',
    access: 'vendor',
    transaction: 'none',
    query: VendorEventQuery,
    data: VendorEventListSchema,
    handle: ({ query }, { vendorId }) => listEvents(deps, vendorId, query),
    stream: {
      message: VendorEventSchema,
      open: ({ query, request }, { vendorId }, reply) =>
        sendStream(hub, vendorId, streamCursor(request, query.after), request, reply),
    },
  });
}

async function listEvents(
  { db, vendorResponseSeconds }: VendorEventDeps,
  vendorId: string,
  { after = '0', limit = DEFAULT_LIMIT }: Static<typeof VendorEventQuery>,
): Promise<Static<typeof VendorEventListSchema>> {
  const events = await readVendorEvents(db, vendorId, after, limit, vendorResponseSeconds);
  return { events, next_cursor: events.at(-1)?.cursor ?? after, has_more: events.length === limit };
}

function createVendorHub({ db, listener, principals, vendorResponseSeconds }: VendorEventDeps): StreamHub {
  const hub = createStreamHub({
    latest: (vendorId) => latestVendorCursor(db, vendorId),
    async read(vendorId, after, limit) {
      const events = await readVendorEvents(db, vendorId, after, limit, vendorResponseSeconds);
      return events.map((event) => ({
        cursor: event.cursor,
        event: event.event_type,
        data: JSON.stringify(event),
      }));
    },
    isStillValid: (vendorId, credential) =>
      isStreamStillAllowed(
        { db, principals },
        credential,
        (principal) => principal.kind === 'vendor' && principal.vendorId === vendorId,
      ),
  });
  listener.on('vendor_events_written', (vendorId) => hub.wake(vendorId));
  // A revoked key ends its streams now, not at the next heartbeat.
  listener.on('keys_changed', () => hub.wake());
  // Announcements during a lost connection were missed.
  listener.onConnected(() => hub.wake());
  return hub;
}
