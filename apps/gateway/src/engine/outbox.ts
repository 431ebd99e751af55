import { statement } from '../db/statement.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/**
 * Events are written in the transaction that makes them true and frozen as the text that will be signed.
 * A delivery is an intent of its own; a partner without a webhook keeps the event and gets no delivery.
 */
export interface EventDraft {
  readonly eventType: string;
  readonly partnerId: string;
  /** What the event is about; first deliveries about one subject are made in order. */
  readonly subjectId: string;
  readonly data: object;
}

export const WEBHOOK_DELIVERY = 'webhook.deliver';

const insertEvent = statement<
  [eventId: string, partnerId: string, eventType: string, subjectId: string, body: string, at: Date]
>(
  'outbox.insert_event',
  `INSERT INTO events (event_id, partner_id, event_type, subject_id, body, created_at)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);

const insertDelivery = statement<
  [intentId: string, partnerId: string, eventId: string, lane: string, at: Date]
>(
  'outbox.insert_delivery',
  `INSERT INTO intents (intent_id, partner_id, kind, dedupe_key, lane, payload, run_at, created_at)
   SELECT $1, $2, '${WEBHOOK_DELIVERY}', $3, $4, jsonb_build_object('event_id', $3::text), $5, $5
     FROM partners WHERE partner_id = $2 AND webhook_enabled`,
);

export function emitEvent(unit: UnitOfWork, draft: EventDraft): void {
  const eventId = unit.ids.eventId();
  const body = JSON.stringify({
    event_id: eventId,
    event_type: draft.eventType,
    created_at: unit.at.toISOString(),
    data: draft.data,
  });
  unit.tx.defer(insertEvent, [eventId, draft.partnerId, draft.eventType, draft.subjectId, body, unit.at]);
  unit.tx.defer(insertDelivery, [
    unit.ids.uuid(),
    draft.partnerId,
    eventId,
    `${draft.partnerId}:${draft.subjectId}`,
    unit.at,
  ]);
}
