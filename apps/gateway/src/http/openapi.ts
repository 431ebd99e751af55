import {
  type ErrorCode,
  errorEntry,
  PARTNER_EVENT_TYPES,
  PARTNER_EVENTS,
  type PartnerEventType,
  partnerErrorResponseOf,
} from '@causeway/protocol';
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { Type } from 'typebox';
import { VERSION } from './version.ts';

export interface OpenApiOptions {
  readonly baseUrl: string;
  readonly sandbox: boolean;
}

const DESCRIPTION = `Convert between fiat and USDC, USDT or USDT0 for your customers: quote, open an order, follow it by
signed webhooks. Amounts are decimal strings. Every answer carries \`X-Request-Id\`; every write takes an
optional \`Idempotency-Key\`.`;

const TAGS = [
  { name: 'Supported resources', description: 'What can be converted, where, over which rails' },
  { name: 'Gateway', description: 'Read-only reference data and service health' },
  { name: 'Liquidity and estimates', description: 'Public, indicative figures' },
  { name: 'Users and KYC', description: 'Your customers' },
  { name: 'Payment details', description: 'Where your customers are paid' },
  { name: 'On-ramp', description: 'Fiat to stablecoin' },
  { name: 'Off-ramp', description: 'Stablecoin to fiat' },
  { name: 'Orders', description: 'Reading and acting on orders' },
  { name: 'Recipients', description: 'Third parties your customers pay' },
  { name: 'Webhooks', description: 'Where your events go' },
  { name: 'Fiat accounts', description: 'Accounts issued to your customers' },
  { name: 'KYC provider', description: 'Results of identity checks' },
  { name: 'Vendor', description: 'Liquidity providers: offers and incoming orders' },
  { name: 'Operator', description: 'Running the deployment' },
  { name: 'Sandbox', description: 'Simulated events; sandbox deployments only' },
];

/** Answers the description's text, which is made when it is first asked for. */
export async function registerOpenApi(app: FastifyInstance, options: OpenApiOptions): Promise<() => string> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Causeway',
        version: VERSION,
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } as { name: string },
      },
      servers: [{ url: options.baseUrl, description: options.sandbox ? 'Sandbox' : 'Production' }],
      tags: TAGS,
      components: {
        securitySchemes: {
          partnerKey: keyScheme('A partner’s secret key (cw_test_… or cw_live_…)'),
          widgetKey: keyScheme('A partner’s publishable widget key (cw_widget_…)'),
          vendorKey: keyScheme('A vendor’s key (cw_vendor_…)'),
          operatorKey: keyScheme('An operator’s key (cw_operator_…)'),
        },
      },
      webhooks: Object.fromEntries(PARTNER_EVENT_TYPES.map((type) => [type, webhookItem(type)])),
    } as never,
    transform: ({ schema, url, route }) => ({
      schema: withIdempotencyKey(withErrors(schema, route.config?.errors ?? []), route.config?.errors ?? []),
      url,
    }),
    transformObject: (document) => markOptionalBodies(document as { openapiObject: Described }) as never,
  });

  // Routes do not change while the process runs.
  let text: string | undefined;
  const describe = () => {
    text ??= JSON.stringify(withUsedTags(app.swagger() as ApiDescription));
    return text;
  };
  app.get(
    '/api/v1/openapi.json',
    { config: { access: 'open' }, schema: { hide: true } },
    async (_request, reply) => {
      reply.header('access-control-allow-origin', '*').type('application/json; charset=utf-8');
      return describe();
    },
  );
  return describe;
}

interface ApiDescription {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly tags?: readonly string[] }>>>>;
}

/** Chapters without a route, such as the sandbox's in production, are left out. */
function withUsedTags(api: ApiDescription): ApiDescription {
  const used = new Set(
    Object.values(api.paths).flatMap((path) => Object.values(path).flatMap(({ tags }) => tags ?? [])),
  );
  return { ...api, tags: api.tags.filter(({ name }) => used.has(name)) };
}

function keyScheme(description: string): { type: 'apiKey'; in: 'header'; name: string; description: string } {
  return { type: 'apiKey', in: 'header', name: 'X-API-Key', description };
}

function webhookItem(eventType: PartnerEventType): object {
  const { when, data } = PARTNER_EVENTS[eventType];
  const envelope = Type.Object({
    event_id: Type.String({ pattern: '^evt_[0-9a-f-]{36}$' }),
    event_type: Type.Literal(eventType),
    created_at: Type.String({ format: 'date-time' }),
    data,
  });
  return {
    post: {
      operationId: `webhook.${eventType}`,
      tags: ['Webhooks'],
      summary: when,
      parameters: [
        {
          name: 'X-Service-Signature',
          in: 'header',
          required: true,
          schema: { type: 'string' },
          description:
            '`sha256=` and the hex HMAC-SHA256 of `<timestamp>.<raw body>`, keyed with your webhook secret',
        },
        {
          name: 'X-Service-Signature-Previous',
          in: 'header',
          required: false,
          schema: { type: 'string' },
          description: 'The same with the previous secret, for 24 hours after a rotation',
        },
        {
          name: 'X-Service-Timestamp',
          in: 'header',
          required: true,
          schema: { type: 'string' },
          description: 'Unix seconds',
        },
      ],
      requestBody: { required: true, content: { 'application/json': { schema: envelope } } },
      responses: { '2XX': { description: 'Acknowledged; anything else is retried' } },
      security: [],
    },
  };
}

const IdempotencyKeyHeader = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Repeats of a request with the same key answer what the first one answered; kept for 24 hours.',
    }),
  ),
});

/** Documented only: the header is read by the route itself, after access and before the work. */
function withIdempotencyKey(schema: FastifySchema, codes: readonly ErrorCode[]): FastifySchema {
  return codes.includes('IDEMPOTENCY_KEY_REUSED') ? { ...schema, headers: IdempotencyKeyHeader } : schema;
}

interface Described {
  readonly paths?: Record<string, Record<string, { requestBody?: DescribedBody }>>;
}
interface DescribedBody {
  required?: boolean;
  readonly content?: Record<string, { schema?: { anyOf?: readonly { type?: string }[] } }>;
}

/** A body that may be null may be left out; the generator calls every body required. */
function markOptionalBodies({ openapiObject }: { openapiObject: Described }): Described {
  for (const path of Object.values(openapiObject.paths ?? {})) {
    for (const { requestBody } of Object.values(path)) {
      const alternatives = requestBody?.content?.['application/json']?.schema?.anyOf ?? [];
      if (requestBody && alternatives.some(({ type }) => type === 'null')) requestBody.required = false;
    }
  }
  return openapiObject;
}

/** Several codes share a status: the reference shows them as alternatives. */
function withErrors(schema: FastifySchema, codes: readonly ErrorCode[]): FastifySchema {
  if (codes.length === 0) return schema;
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = errorEntry(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const responses = [...byStatus].map(([status, sharing]) => {
    const description = sharing.join(', ');
    const alternatives = sharing.map(partnerErrorResponseOf);
    const [only] = alternatives;
    return [
      status,
      alternatives.length === 1 ? { ...only, description } : Type.Union(alternatives, { description }),
    ];
  });
  return { ...schema, response: { ...(schema.response as object), ...Object.fromEntries(responses) } };
}
