import { type Announcement, statement } from '../db/statement.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/**
 * Events are written in the transaction that makes them true and frozen as the text that will be signed. Its
 * delivery is written with it; a partner without a webhook keeps the event and gets no delivery.
 */
export interface EventDraft {
  readonly eventType: string;
  readonly partnerId: string;
  /** What the event is about; first deliveries about one subject are made in order. */
  readonly subjectId: string;
  readonly data: object;
}

/** There is something to deliver to this partner, or to show on its stream. */
export function eventsWritten(partnerId: string): Announcement {
  return { channel: 'events_written', payload: partnerId };
}

const insertEvent = statement<
  [
    eventId: string,
    partnerId: string,
    eventType: string,
    subjectId: string,
    body: string,
    at: Date,
    deliveryId: string,
  ]
>(
  'outbox.insert_event',
  `WITH event AS (
     INSERT INTO events (event_id, partner_id, event_type, subject_id, body, created_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     RETURNING event_id, partner_id, subject_id, position, created_at),
   streamed AS (
     INSERT INTO event_stream (event_id, partner_id, position) SELECT event_id, partner_id, position FROM event)
   INSERT INTO webhook_deliveries
          (partner_id, delivery_id, event_id, subject_id, position, in_order, run_at, created_at)
   SELECT partner_id, $7, event_id, subject_id, position, true, event.created_at, event.created_at
     FROM event JOIN partners USING (partner_id) WHERE webhook_enabled`,
  ([, partnerId]) => [eventsWritten(partnerId)],
);

export function emitEvent(unit: UnitOfWork, draft: EventDraft): void {
  const eventId = unit.ids.eventId();
  const body = eventText({ eventId, eventType: draft.eventType, at: unit.at, data: draft.data });
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
export function eventText(event: {
  readonly eventId: string;
  readonly eventType: string;
  readonly at: Date;
  readonly data: object;
}): string {
  return JSON.stringify({
    event_id: event.eventId,
    event_type: event.eventType,
    created_at: event.at.toISOString(),
    data: event.data,
  });
}
