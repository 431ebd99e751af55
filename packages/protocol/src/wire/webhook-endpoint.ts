import { type Static, Type } from 'typebox';
import { literals, Nullable, Timestamp, Uuid } from './common.ts';
import { PARTNER_EVENT_TYPES } from './events.ts';
import { DeliveryAttemptSchema, DeliverySchema, WebhookSchema } from './webhook.ts';

/** Further webhook endpoints of a partner, beside the default one of `/partner/webhooks`. */

/** Shapes of events, oldest first. An endpoint keeps the one it was created with; the default endpoint has the first. */
export const WEBHOOK_API_VERSIONS = ['2026-11-01'] as const;
export type WebhookApiVersion = (typeof WEBHOOK_API_VERSIONS)[number];
export const FIRST_WEBHOOK_API_VERSION: WebhookApiVersion = WEBHOOK_API_VERSIONS[0];
export const LATEST_WEBHOOK_API_VERSION = WEBHOOK_API_VERSIONS.at(-1) as WebhookApiVersion;

export const MAX_WEBHOOK_ENDPOINTS = 16;
export const ALL_EVENTS = '*';

/** A test event goes to the endpoint it was asked for, whatever its filter. */
const FILTERABLE_EVENTS = PARTNER_EVENT_TYPES.filter((type) => type !== 'webhook.test');

const EventFilter = Type.Array(literals([ALL_EVENTS, ...FILTERABLE_EVENTS]), {
  minItems: 1,
  maxItems: 64,
  uniqueItems: true,
  description: 'Types of events that are sent here; `["*"]` for all, those of later releases included',
  examples: [['order.status.changed', 'order.refund.required']],
});

const EndpointUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'HTTPS, to a public address, on a port that the deployment allows',
  examples: ['https://hooks.example.com/orders'],
});

const ApiVersion = Type.Unsafe<WebhookApiVersion>({
  ...literals(WEBHOOK_API_VERSIONS),
  description: 'Shape of the events; stays as it was when the endpoint was created',
  examples: [LATEST_WEBHOOK_API_VERSION],
});

export const WebhookEndpointInput = Type.Object({
  url: EndpointUrl,
  events: Type.Optional(EventFilter),
  enabled: Type.Optional(Type.Boolean({ default: true, examples: [true] })),
  api_version: Type.Optional(ApiVersion),
});

export const WebhookEndpointChange = Type.Object(
  {
    url: Type.Optional(EndpointUrl),
    events: Type.Optional(EventFilter),
    enabled: Type.Optional(
      Type.Boolean({ description: 'false cancels what is still waiting', examples: [true] }),
    ),
  },
  { minProperties: 1, examples: [{ events: ['*'], enabled: true }] },
);

export const WebhookEndpointSchema = Type.Object({
  id: Uuid,
  url: Type.String({ examples: ['https://hooks.example.com/orders'] }),
  events: Type.Array(Type.String(), { examples: [['order.status.changed', 'order.refund.required']] }),
  enabled: Type.Boolean(),
  is_default: Type.Boolean({
    description: 'The endpoint of /partner/webhooks, where alone it is changed and removed',
  }),
  api_version: Type.String({
    description: 'Shape of the events, as it was when the endpoint was created',
    examples: [LATEST_WEBHOOK_API_VERSION],
  }),
  health: WebhookSchema.properties.health,
  previous_secret_valid_until: Nullable(Timestamp),
  created_at: Type.Union([Timestamp, Type.Null()], { description: 'null for the default endpoint' }),
});
export type WebhookEndpointView = Static<typeof WebhookEndpointSchema>;

export const WebhookEndpointCreatedSchema = Type.Object({
  ...WebhookEndpointSchema.properties,
  secret: Type.String({
    description: 'Signs what is sent here; shown this once',
    examples: ['whsec_4fJk2mP9xQ7vR1tY8wZ3bN6cD5gH0sLa'],
  }),
});

export const WebhookEndpointListSchema = Type.Object({
  endpoints: Type.Array(WebhookEndpointSchema, {
    description: 'The default endpoint first, once it has an address, then the oldest',
  }),
});

/** `null` where nothing was sent or answered, and for attempts that were made before these were kept. */
const AttemptDetailSchema = Type.Object({
  ...DeliveryAttemptSchema.properties,
  request: Nullable(
    Type.Object({
      method: Type.Literal('POST'),
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String(), {
        description: 'As they were sent, the signature included',
      }),
    }),
  ),
  response_headers: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
    description:
      'The first 20 headers of the answer, each cut after 256 characters; without cookies, the date and those of the connection',
  }),
  response_body: Type.Union([Type.String(), Type.Null()], {
    description: 'The first 4096 bytes of the answer; what is not text is shown as a dot',
  }),
  response_truncated: Type.Boolean({ description: 'Whether the answer was longer' }),
});
export type AttemptDetailView = Static<typeof AttemptDetailSchema>;

export const DeliveryDetailSchema = Type.Object({
  ...DeliverySchema.properties,
  api_version: WebhookEndpointSchema.properties.api_version,
  attempts: Type.Array(AttemptDetailSchema),
});
export type DeliveryDetailView = Static<typeof DeliveryDetailSchema>;
