import { readFileSync } from 'node:fs';
import {
  type ErrorCode,
  NAMED_ENUMS,
  PARTNER_EVENT_TYPES,
  PARTNER_EVENTS,
  type PartnerEventType,
  pascalCase,
  REQUEST_EXAMPLES,
  withoutNull,
} from '@causeway/protocol';
import type { FastifySchema, RouteOptions } from 'fastify';
import type { TSchema } from 'typebox';
import { type Components, createComponents, type Schema } from './components.ts';
import { type Parameter, parameterOf, parametersOf, shareParameters } from './parameters.ts';
import { createRefusals, HEADERS, type Refusals } from './refusals.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a route says of itself for the reference. */
export interface DescribedSchema extends FastifySchema {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

export interface RouteDescription {
  readonly method: string;
  readonly url: string;
  readonly schema: DescribedSchema;
  readonly errors: readonly ErrorCode[];
  /** What the handler reads from the request by itself. */
  readonly documented: { readonly body?: TSchema; readonly headers?: TSchema };
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly [field: string]: unknown;
}

export interface ApiDescription {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: Readonly<Record<string, Json>>;
}

/** A route that has an operationId; one that has none, or is the HEAD of another, is never described. */
export function describedRoute({ method, url, schema, config }: RouteOptions): RouteDescription | undefined {
  const described = schema as Partial<DescribedSchema> | undefined;
  if (described?.operationId === undefined || method === 'HEAD') return undefined;
  return {
    method: String(method).toLowerCase(),
    url,
    schema: described as DescribedSchema,
    errors: config?.errors ?? [],
    documented: config?.documented ?? {},
  };
}

/** Answers and events of a real run (`npm run docs:answers`), by operationId. */
const ANSWERS = new URL('generated/answers.json', import.meta.url);

/** What the routes say, as OpenAPI: every shape, parameter and refusal that has a name stands in it once. */
export function describeApi(routes: readonly RouteDescription[]): ApiDescription {
  const components = createComponents();
  const refusals = createRefusals(components);
  const answers = JSON.parse(readFileSync(ANSWERS, 'utf8')) as Readonly<Record<string, unknown>>;
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const path = route.url.replaceAll(/:([a-z_]+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [route.method]: operationOf(route, components, refusals, answers[route.schema.operationId]),
    };
  }
  const webhooks = Object.fromEntries(
    PARTNER_EVENT_TYPES.map((type) => [
      type,
      { post: webhookOf(type, components, answers[`webhook.${type}`]) },
    ]),
  );
  const errorCodes = NAMED_ENUMS.find(({ name }) => name === 'ErrorCode');
  if (errorCodes) components.refer({ type: 'string', enum: Object.keys(errorCodes.meanings) });
  components.refer({ type: 'string', enum: [...PARTNER_EVENT_TYPES] });
  const parameters = shareParameters([
    ...Object.values(paths).flatMap((path) => Object.values(path)),
    ...Object.values(webhooks).map(({ post }) => post),
  ]);
  return {
    paths,
    webhooks,
    components: {
      schemas: components.schemas,
      responses: { ...refusals.responses, NotModified: NOT_MODIFIED },
      parameters,
      headers: HEADERS,
    },
  };
}

const NOT_MODIFIED = { description: 'Not modified: If-None-Match names the current ETag' };

function operationOf(
  { schema, errors, documented }: RouteDescription,
  components: Components,
  refusals: Refusals,
  answer: unknown,
): Operation {
  const { operationId, tags, summary, description, security } = schema;
  const parameters = [
    ...parametersOf('path', schema.params as Schema | undefined, components),
    ...parametersOf('query', schema.querystring as Schema | undefined, components),
    ...parametersOf('header', documented.headers as Schema | undefined, components),
    ...(errors.includes('IDEMPOTENCY_KEY_REUSED') ? [IDEMPOTENCY_KEY] : []),
  ];
  const body = (schema.body ?? documented.body) as TSchema | undefined;
  return {
    operationId,
    tags,
    summary,
    ...(description !== undefined && { description }),
    security: security.flatMap(withBearer),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: requestBodyOf(operationId, body, components) }),
    responses: { ...responsesOf(operationId, schema, components, answer), ...refusals.of(errors) },
  };
}

/** The same key in either header. */
function withBearer(scheme: Readonly<Record<string, readonly string[]>>): Json[] {
  const inEither = Object.keys(scheme).map((name) => name.replace(/Key$/, 'Bearer'));
  return [scheme, Object.fromEntries(inEither.map((name) => [name, []]))];
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Repeats of a request with the same key answer what the first one answered; kept for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255 } as Schema,
  example: 'order-2026-11-15-0042',
};

function requestBodyOf(operationId: string, body: TSchema, components: Components): Json {
  const given = withoutNull(body);
  const example = REQUEST_EXAMPLES[operationId];
  const schema = components.refer(given as Schema);
  return {
    // A body that may be null may be left out.
    required: given === body,
    content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
  };
}

function responsesOf(
  operationId: string,
  schema: DescribedSchema,
  components: Components,
  answer: unknown,
): Readonly<Record<string, Json>> {
  const declared = Object.entries((schema.response ?? {}) as Readonly<Record<string, Schema>>);
  return Object.fromEntries(
    declared.map(([status, response]) => {
      if (response.type === 'null') return [status, { $ref: '#/components/responses/NotModified' }];
      const media =
        'content' in response ? (response.content as Record<string, { schema: Schema }>) : undefined;
      const content = media ?? { 'application/json': { schema: response } };
      const described = Object.entries(content).map(([type, { schema: shape }]) => {
        const example = status === '200' && type !== 'text/event-stream' ? answer : undefined;
        const referred = envelopeOf(operationId, shape, components);
        return [type, { schema: referred, ...(example !== undefined && { example }) }];
      });
      return [
        status,
        {
          description: response.description ?? 'Success',
          content: Object.fromEntries(described),
        },
      ];
    }),
  );
}

/** The envelope has a name after what is in it; answers with the same data share it. */
function envelopeOf(operationId: string, schema: Schema, components: Components): Schema {
  const data = schema.properties?.data;
  if (schema.properties?.success?.const !== true || data === undefined) return components.refer(schema);
  const name = /^#\/components\/schemas\/(.+)$/.exec(components.refer(data).$ref ?? '')?.[1];
  const { description: _success, ...envelope } = schema;
  return components.add(`${name ?? pascalCase(operationId)}Response`, envelope);
}

function webhookOf(eventType: PartnerEventType, components: Components, event: unknown): Operation {
  const { when, data } = PARTNER_EVENTS[eventType];
  const schema = components.add(`${pascalCase(eventType)}Event`, {
    type: 'object',
    required: ['event_id', 'event_type', 'created_at', 'data'],
    properties: {
      event_id: { type: 'string', pattern: '^evt_[0-9a-f-]{36}$' } as Schema,
      event_type: { type: 'string', const: eventType },
      created_at: { type: 'string', format: 'date-time' } as Schema,
      data: data as Schema,
    },
  });
  return {
    operationId: `webhook.${eventType}`,
    tags: ['Webhooks'],
    summary: when,
    parameters: SIGNATURE_HEADERS.map(([name, required, description]) =>
      parameterOf('header', name, { type: 'string', description }, required, components),
    ),
    requestBody: {
      required: true,
      content: { 'application/json': { schema, ...(event !== undefined && { example: event }) } },
    },
    responses: { '2XX': { description: 'Acknowledged; anything else is retried' } },
    security: [],
  };
}

const SIGNATURE_HEADERS = [
  [
    'X-Service-Signature',
    true,
    '`sha256=` and the hex HMAC-SHA256 of `<timestamp>.<raw body>`, keyed with your webhook secret',
  ],
  ['X-Service-Signature-Previous', false, 'The same with the previous secret, for 24 hours after a rotation'],
  ['X-Service-Api-Version', false, 'The version of the endpoint; not sent to the default one'],
  ['X-Service-Timestamp', true, 'Unix seconds'],
] as const;
