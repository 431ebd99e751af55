import { type Static, Type } from 'typebox';
import { literals, Timestamp, Uuid } from './common.ts';
import { EventId, PARTNER_EVENT_TYPES } from './events.ts';

/** Where a partner's events go, what became of them, and the stream to catch up from. */

export const WebhookSchema = Type.Object({
  url: Type.Union([Type.String(), Type.Null()]),
  enabled: Type.Boolean(),
  health: Type.Object(
    {
      state: literals(['ok', 'failing', 'circuit_open']),
      consecutive_failures: Type.Integer(),
      failing_since: Type.Union([Timestamp, Type.Null()]),
      last_error: Type.Union([Type.String(), Type.Null()]),
      pending_deliveries: Type.Integer({ description: 'Counted up to 1000' }),
    },
    {
      description:
        'circuit_open: after 20 failures in a row one delivery a second is tried until one is accepted; nothing is lost meanwhile',
    },
  ),
  previous_secret_valid_until: Type.Union([Timestamp, Type.Null()]),
});

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;

export const DeliveryAttemptSchema = Type.Object({
  at: Timestamp,
  http_status: Type.Union([Type.Integer(), Type.Null()]),
  duration_ms: Type.Integer(),
  error: Type.Union([Type.String(), Type.Null()], {
    description:
      'not_acknowledged, timeout, connection_failed, answer_incomplete, address_not_allowed or url_not_allowed',
  }),
  response: Type.Union([Type.String(), Type.Null()], { description: 'The first bytes of the answer' }),
});

export const DeliverySchema = Type.Object({
  id: Uuid,
  event_id: EventId,
  event_type: literals(PARTNER_EVENT_TYPES),
  subject_id: Type.Union([Uuid, Type.Null()], {
    description: 'The order, customer or settlement it is about',
  }),
  status: literals(DELIVERY_STATUSES),
  attempts: Type.Array(DeliveryAttemptSchema),
  next_attempt_at: Type.Union([Timestamp, Type.Null()]),
  replay_of: Type.Union([Uuid, Type.Null()]),
  created_at: Timestamp,
});
export type DeliveryView = Static<typeof DeliverySchema>;

export const DeliveryListQuery = Type.Object({
  event_type: Type.Optional(literals(PARTNER_EVENT_TYPES)),
  event_id: Type.Optional(EventId),
  order_id: Type.Optional(Uuid),
  status: Type.Optional(literals(DELIVERY_STATUSES)),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  cursor: Type.Optional(Uuid),
});

export const DeliveryListSchema = Type.Object({
  deliveries: Type.Array(DeliverySchema),
  pagination: Type.Object({ limit: Type.Integer(), next_cursor: Type.Union([Uuid, Type.Null()]) }),
});

export const EventListQuery = Type.Object({
  after: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,18}$', description: 'The cursor of the last event you have' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});

export const EventListSchema = Type.Object({
  events: Type.Array(
    Type.Object({
      cursor: Type.String(),
      event_id: EventId,
      event_type: Type.String(),
      created_at: Timestamp,
      data: Type.Record(Type.String(), Type.Unknown()),
    }),
  ),
  next_cursor: Type.String(),
  has_more: Type.Boolean(),
});
