import { ALL_EVENTS, type PartnerEventData, type PartnerEventType } from '@causeway/protocol';
import { type Announcement, statement } from '../db/statement.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** An event of the registry (packages/protocol/src/wire/events.ts) with the data that its schema describes. */
type TypedEvent = {
  [T in PartnerEventType]: { readonly eventType: T; readonly data: PartnerEventData<T> };
}[PartnerEventType];

/**
 * Events are written in the transaction that makes them true and frozen as the text that will be signed. Its
 * deliveries are written with it, one an endpoint that wants it; a partner without a webhook keeps the event and gets none.
 */
export type EventDraft = TypedEvent & {
  readonly partnerId: string;
  /** What the event is about; first deliveries about one subject are made in order. */
  readonly subjectId: string;
};

/** There is something to show on this partner's stream. */
function eventsWritten(partnerId: string): Announcement {
  return { channel: 'events_written', payload: partnerId, canWait: true };
}

/** There is something to deliver to this endpoint; the default one has its partner's id. */
export function deliveriesWritten(endpointId: string): Announcement {
  return { channel: 'deliveries_written', payload: endpointId };
}

/** Answers the endpoints that get it, null for the default one: without any, no worker is woken. */
const insertEvent = statement<
  [
    eventId: string,
    partnerId: string,
    eventType: string,
    subjectId: string,
    body: string,
    at: Date,
    deliveryId: string,
  ],
  { endpoint_id: string | null }
>(
  'outbox.insert_event',
  `WITH further AS (
     SELECT endpoint_id FROM webhook_endpoints
      WHERE partner_id = $2 AND enabled AND (events = '{${ALL_EVENTS}}' OR $3 = ANY (events))),
   wanted AS (
     SELECT $7::uuid AS delivery_id, NULL::uuid AS endpoint_id FROM partners
      WHERE partner_id = $2 AND webhook_enabled
     UNION ALL
     SELECT uuidv7(), endpoint_id FROM further),
   event AS (
     INSERT INTO events (event_id, partner_id, event_type, subject_id, body, created_at, deliveries)
     VALUES ($1, $2, $3, $4, $5, $6, (SELECT count(*) FROM wanted))
     RETURNING event_id, partner_id, subject_id, position, created_at),
   streamed AS (
     INSERT INTO event_stream (event_id, partner_id, position) SELECT event_id, partner_id, position FROM event),
   delivered AS (
     INSERT INTO webhook_deliveries
            (partner_id, delivery_id, endpoint_id, event_id, subject_id, position, in_order, run_at, created_at)
     SELECT event.partner_id, wanted.delivery_id, wanted.endpoint_id, event_id, subject_id, position, true,
            event.created_at, event.created_at
       FROM event CROSS JOIN wanted)
   SELECT endpoint_id FROM wanted`,
  ([, partnerId], wanted) => [
    eventsWritten(partnerId),
    ...wanted.map(({ endpoint_id }) => deliveriesWritten(endpoint_id ?? partnerId)),
  ],
);

export function emitEvent(unit: UnitOfWork, draft: EventDraft): void {
  const eventId = unit.ids.eventId();
  const body = eventText({ ...draft, eventId, at: unit.at });
  unit.tx.defer(insertEvent, [
    eventId,
    draft.partnerId,
    draft.eventType,
    draft.subjectId,
    body,
    unit.at,
    unit.ids.uuid(),
  ]);
}

/** The envelope of every event, as the text that is stored, signed and sent. */
export function eventText(event: TypedEvent & { readonly eventId: string; readonly at: Date }): string {
  return JSON.stringify({
    event_id: event.eventId,
    event_type: event.eventType,
    created_at: event.at.toISOString(),
    data: event.data,
  });
}

/** A machine sends an event in some statuses only, and its data says which; any other here is a fault of ours. */
export function sentIn<S extends string>(statuses: readonly S[], status: string): S {
  const found = statuses.find((one) => one === status);
  if (found === undefined) throw new Error(`no event is sent in the status ${status}`);
  return found;
}
