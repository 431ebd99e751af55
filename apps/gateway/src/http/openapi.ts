import type { FastifyInstance } from 'fastify';
import {
  type ApiDescription,
  describeApi,
  describedRoute,
  type RouteDescription,
} from './openapi/document.ts';
import { INTERFACE_VERSION, VERSION } from './version.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the reference shows of a request beyond what the route's schema checks. */
    documented?: RouteDescription['documented'];
  }
  interface FastifySchema {
    /** Not part of the API. */
    hide?: boolean;
  }
  interface FastifyInstance {
    /** What this server offers, as OpenAPI; once it is ready. `every` has the console's own routes too. */
    apiDescription(which?: 'published' | 'every'): ApiDescription;
  }
}

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
  {
    name: 'Widget',
    description:
      'Sessions of customers at the embedded widget; but for making one, called by the widget itself',
  },
  { name: 'Webhooks', description: 'Where your events go' },
  { name: 'Request log', description: 'What you have asked the API and what it answered' },
  { name: 'Fiat accounts', description: 'Accounts issued to your customers' },
  { name: 'Exports', description: 'Orders, fees, books and statements as CSV files' },
  { name: 'KYC provider', description: 'Results of identity checks' },
  { name: 'Vendor', description: 'Liquidity providers: offers and incoming orders' },
  { name: 'Operator', description: 'Running the deployment' },
  { name: 'Sandbox', description: 'Simulated events; sandbox deployments only' },
];

/** Answers how to get the description's text, which is made when it is first asked for. */
export async function registerOpenApi(app: FastifyInstance, options: OpenApiOptions): Promise<() => string> {
  const routes: RouteDescription[] = [];
  app.addHook('onRoute', (options) => {
    const described = describedRoute(options);
    if (described !== undefined) routes.push(described);
  });
  const published = () => routes.filter(({ schema }) => schema.hide !== true);

  // Routes do not change while the process runs.
  let description: ApiDescription | undefined;
  let text: string | undefined;
  app.decorate('apiDescription', (which = 'published') => {
    if (which === 'every') return documentOf(describeApi(routes), options);
    description ??= documentOf(describeApi(published()), options);
    return description;
  });
  const describe = () => {
    text ??= JSON.stringify(app.apiDescription());
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

function documentOf(api: ApiDescription, { baseUrl, sandbox }: OpenApiOptions): ApiDescription {
  const operations = Object.values(api.paths).flatMap((path) => Object.values(path));
  const used = new Set(operations.flatMap(({ tags }) => tags));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway',
      version: INTERFACE_VERSION,
      'x-release': VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl, description: sandbox ? 'Sandbox' : 'Production' }],
    // Chapters without a route, such as the sandbox's in production, are left out.
    tags: TAGS.filter(({ name }) => used.has(name)),
    ...api,
    components: { ...api.components, securitySchemes: SECURITY_SCHEMES },
  } as ApiDescription;
}

/** A key of each class, in either header. */
const SECURITY_SCHEMES = Object.fromEntries(
  Object.entries({
    partner: 'A partner’s secret key (cw_test_… or cw_live_…)',
    widget: 'A partner’s publishable widget key (cw_widget_…)',
    session: 'The token of a widget session (cw_session_…)',
    vendor: 'A vendor’s key (cw_vendor_…)',
    operator: 'An operator’s key (cw_operator_…)',
  }).flatMap(([kind, description]) => [
    [`${kind}Key`, { type: 'apiKey', in: 'header', name: 'X-API-Key', description }],
    [`${kind}Bearer`, { type: 'http', scheme: 'bearer', description: `${description}, as a bearer token` }],
  ]),
);
