import { type Static, Type } from 'typebox';
import { DELIVERY_STATUSES } from '../machines/index.ts';
import { literals, Timestamp, TimestampInput, Uuid } from './common.ts';
import { EventId, PARTNER_EVENT_TYPES } from './events.ts';

/** Where a partner's events go, what became of them, and the stream to catch up from. */

export const WebhookHealthSchema = Type.Object(
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
);

export const WebhookSchema = Type.Object({
  url: Type.Union([Type.String(), Type.Null()]),
  enabled: Type.Boolean(),
  health: WebhookHealthSchema,
  previous_secret_valid_until: Type.Union([Timestamp, Type.Null()]),
});

export const DeliveryAttemptSchema = Type.Object({
  at: Timestamp,
  http_status: Type.Union([Type.Integer(), Type.Null()]),
  duration_ms: Type.Integer(),
  error: Type.Union([Type.String(), Type.Null()], {
    description:
      'not_acknowledged, timeout, connection_failed, answer_incomplete, address_not_allowed or url_not_allowed',
  }),
  response: Type.Union([Type.String(), Type.Null()], {
    description: 'The first 256 characters of the answer',
  }),
});

export const DeliverySchema = Type.Object({
  id: Uuid,
  endpoint_id: Type.Unsafe<string>({
    ...Uuid,
    description: 'The webhook endpoint it goes to, as /partner/webhook-endpoints lists it',
  }),
  event_id: EventId,
  event_type: literals(PARTNER_EVENT_TYPES),
  subject_id: Type.Union([Uuid, Type.Null()], {
    description: 'The order, customer or settlement it is about',
  }),
  status: literals(DELIVERY_STATUSES),
  attempts: Type.Array(DeliveryAttemptSchema),
  next_attempt_at: Type.Union([Timestamp, Type.Null()]),
  replay_of: Type.Union([Uuid, Type.Null()]),
  body: Type.String({
    contentMediaType: 'application/json',
    description: 'The text that is signed and sent, byte for byte; the same in every attempt',
  }),
  created_at: Timestamp,
});
export type DeliveryView = Static<typeof DeliverySchema>;

export const DeliveryListQuery = Type.Object({
  event_type: Type.Optional(
    Type.Unsafe<(typeof PARTNER_EVENT_TYPES)[number]>({
      ...literals(PARTNER_EVENT_TYPES),
      examples: ['order.status.changed'],
    }),
  ),
  event_id: Type.Optional(EventId),
  order_id: Type.Optional(Uuid),
  status: Type.Optional(
    Type.Unsafe<(typeof DELIVERY_STATUSES)[number]>({ ...literals(DELIVERY_STATUSES), examples: ['failed'] }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, examples: [20] })),
  cursor: Type.Optional(Uuid),
});

const EXAMPLE_EVENT = {
  event_id: 'evt_0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10',
  event_type: 'order.status.changed',
  created_at: '2026-11-15T10:00:00.000Z',
  data: {
    order_id: '0199aa9f-1111-7c41-9d0e-6b1f5a3c2d10',
    status: 'completed',
    user_id: '0199aa9f-2222-7c41-9d0e-6b1f5a3c2d10',
    crypto_amount: '100.000000',
    crypto_currency: 'USDC',
    partner_fee: '1',
    partner_fee_pct: 1,
    fiat_amount: '92.40',
    fiat_currency: 'EUR',
    provider: 'p2p',
    payment_details_id: '42',
  },
};

export const DeliveryListSchema = Type.Object(
  {
    deliveries: Type.Array(DeliverySchema),
    pagination: Type.Object({ limit: Type.Integer(), next_cursor: Type.Union([Uuid, Type.Null()]) }),
  },
  {
    examples: [
      {
        deliveries: [
          {
            id: '0199aa9f-3333-7c41-9d0e-6b1f5a3c2d10',
            endpoint_id: '0199aa9f-4444-7c41-9d0e-6b1f5a3c2d10',
            event_id: 'evt_0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10',
            event_type: 'order.status.changed',
            subject_id: '0199aa9f-1111-7c41-9d0e-6b1f5a3c2d10',
            status: 'pending',
            attempts: [
              {
                at: '2026-11-15T10:00:00.120Z',
                http_status: 503,
                duration_ms: 41,
                error: 'not_acknowledged',
                response: 'upstream is restarting',
              },
            ],
            next_attempt_at: '2026-11-15T10:01:00.530Z',
            replay_of: null,
            body: JSON.stringify(EXAMPLE_EVENT),
            created_at: '2026-11-15T10:00:00.000Z',
          },
        ],
        pagination: { limit: 20, next_cursor: null },
      },
    ],
  },
);

export const EventListQuery = Type.Object({
  after: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,18}$', description: 'The cursor of the last event you have' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});

export const EventListSchema = Type.Object(
  {
    events: Type.Array(
      Type.Object({
        cursor: Type.String({ description: 'Give it as `after` to go on behind this event' }),
        event_id: EventId,
        event_type: Type.String({
          description: `One of ${PARTNER_EVENT_TYPES.join(', ')}; more may be added`,
        }),
        created_at: Timestamp,
        data: Type.Record(Type.String(), Type.Unknown(), {
          description: 'As in the webhook of the same event_type',
        }),
      }),
    ),
    next_cursor: Type.String({ description: 'The last event’s cursor, or yours where there is none' }),
    has_more: Type.Boolean(),
  },
  { examples: [{ events: [{ cursor: '7', ...EXAMPLE_EVENT }], next_cursor: '7', has_more: false }] },
);

/** One message of the stream; server-sent events name the parts, so the schema describes them by name. */
export const EventMessageSchema = Type.Object(
  {
    id: Type.String({ description: 'The event’s cursor; a client sends it back as Last-Event-ID' }),
    event: Type.String({ description: 'The event_type' }),
    data: Type.String({
      contentMediaType: 'application/json',
      description: 'The event on one line, byte for byte the body that the webhook carries',
    }),
    retry: Type.Optional(
      Type.Integer({ description: 'In the first message: milliseconds to wait before reconnecting' }),
    ),
  },
  {
    description:
      'A sequence of messages as lines `id`, `event` and `data`, each ended by an empty line. Lines that begin with a colon keep the connection alive. The first message has an `id` and no `data`: the cursor the stream begins at.',
    examples: [{ id: '7', event: EXAMPLE_EVENT.event_type, data: JSON.stringify(EXAMPLE_EVENT) }],
  },
);

export const WebhookInput = Type.Object({ url: Type.String({ minLength: 1, maxLength: 2048 }) });

export const WebhookTargetSchema = Type.Object({ url: Type.String(), enabled: Type.Boolean() });

export const WebhookTestSchema = Type.Object({ delivered: Type.Boolean(), http_status: Type.Integer() });

export const WebhookSecretSchema = Type.Object({
  secret: Type.String(),
  previous_secret_valid_until: Timestamp,
});

export const ReplayInput = Type.Object({ since: TimestampInput('Inclusive') });

export const ReplaySchema = Type.Object({
  replayed: Type.Integer({ examples: [12] }),
  has_more: Type.Boolean(),
});
