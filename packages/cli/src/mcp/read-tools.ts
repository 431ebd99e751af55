import type { ListOrdersQuery, ListWebhookDeliveriesQuery, PricingRequest } from '@causeway/sdk';
import { CODES, ORDER_STATUSES } from '../generated/codes.ts';
import type { ObjectSchema, Schema } from './schema.ts';
import { listSupported, SUPPORTED } from './supported.ts';
import { readTool, type Tool, ToolError } from './tool.ts';
import { deliveryView, estimateView, eventView, fundsView, orderLine, orderView } from './views.ts';

export const UUID: Schema = {
  type: 'string',
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
};
export const AMOUNT: Schema = {
  type: 'string',
  pattern: '^[0-9]{1,18}([.][0-9]{1,18})?$',
  description: 'Decimal as text, such as "100.00".',
};
export const CURRENCY: Schema = { type: 'string', pattern: '^[A-Za-z0-9]{3,10}$' };
const COUNTRY: Schema = { type: 'string', pattern: '^[A-Za-z]{2}$', description: 'ISO 3166-1 alpha-2.' };
export const SLUG: Schema = { type: 'string', pattern: '^[a-z0-9-]{1,80}$' };
const MOST_EVENTS_READ = 2_000;

/** What prices a conversion; the same for an estimate and for an order. */
export const PRICING = {
  direction: { type: 'string', enum: ['onramp', 'offramp'], description: 'onramp: fiat to crypto.' },
  crypto_currency: { ...CURRENCY, description: 'USDC unless given.' },
  fiat_currency: { ...CURRENCY, description: 'EUR unless given.' },
  fiat_amount: AMOUNT,
  crypto_amount: AMOUNT,
  payment_method_slug: SLUG,
  payment_network_slug: SLUG,
  country_code: COUNTRY,
  partner_fee_pct: { ...AMOUNT, description: 'Percent as text.' },
} as const satisfies ObjectSchema['properties'];

export interface Pricing extends Partial<PricingRequest> {
  readonly direction: 'onramp' | 'offramp';
}

/** The request of a price: one of the two amounts, and currencies where none are named. */
export function pricingOf({ direction: _, ...asked }: Pricing): PricingRequest {
  if ((asked.fiat_amount === undefined) === (asked.crypto_amount === undefined)) {
    throw new ToolError('INVALID_ARGUMENTS', 'Give fiat_amount or crypto_amount, one of them.');
  }
  return { crypto_currency: 'USDC', fiat_currency: 'EUR', ...asked };
}

const ordersAndFunds: readonly Tool[] = [
  readTool<ListOrdersQuery>({
    name: 'list_orders',
    title: 'List orders',
    description: 'Orders of the partner, newest first, with why they failed or are held.',
    input: {
      type: 'object',
      properties: {
        status: { type: 'array', items: { type: 'string', enum: ORDER_STATUSES }, maxItems: 20 },
        order_type: { type: 'string', enum: ['onramp', 'offramp', 'payment_request'] },
        user_uuid: UUID,
        reference_id: { type: 'string', maxLength: 255 },
        created_from: { type: 'string', maxLength: 40, description: 'ISO 8601, inclusive.' },
        created_to: { type: 'string', maxLength: 40, description: 'ISO 8601, exclusive.' },
        page: { type: 'integer', minimum: 1, maximum: 100_000 },
        limit: { type: 'integer', minimum: 1, maximum: 25, default: 10 },
      },
      additionalProperties: false,
    },
    output: { orders: 'array', total: 'integer', truncated: 'boolean' },
    list: 'orders',
    async run({ limit = 10, ...query }, { causeway, options }) {
      const { orders, pagination } = await causeway.orders.list({ ...query, limit }, options);
      return {
        orders: orders.map(orderLine),
        total: pagination.total,
        page: pagination.page,
        truncated: pagination.page * pagination.limit < pagination.total,
      };
    },
  }),
  readTool<{ readonly order_id: string }>({
    name: 'get_order',
    title: 'Show an order',
    description:
      'One order: status, amounts, timeline, what may be done next, and why it failed or is held, each with what to do about it. Names and account numbers are left out.',
    input: {
      type: 'object',
      properties: { order_id: UUID },
      required: ['order_id'],
      additionalProperties: false,
    },
    output: { order: 'object' },
    run: async ({ order_id }, { causeway, options }) => ({
      order: orderView(await causeway.orders.get(order_id, options)),
    }),
  }),
  readTool<{ readonly order_id: string }>({
    name: 'get_order_funds',
    title: 'Where the money of an order is',
    description:
      'Escrow with its balance on chain, deposits, bookings, who can move the money and until when. For questions such as “where is the refund?”.',
    input: {
      type: 'object',
      properties: { order_id: UUID },
      required: ['order_id'],
      additionalProperties: false,
    },
    output: { funds: 'object' },
    run: async ({ order_id }, { causeway, options }) => ({
      funds: fundsView(await causeway.orders.funds(order_id, options)),
    }),
  }),
];

const market: readonly Tool[] = [
  readTool<Pricing>({
    name: 'estimate_price',
    title: 'Estimate a conversion',
    description:
      'What a conversion would cost now, fees included. Indicative: reserves nothing, creates nothing.',
    input: { type: 'object', properties: PRICING, required: ['direction'], additionalProperties: false },
    output: { estimate: 'object' },
    run: async (args, { causeway, options }) => ({
      estimate: estimateView(await causeway[args.direction].estimate(pricingOf(args), options)),
    }),
  }),
  readTool({
    name: 'list_supported',
    title: 'List what is supported',
    description:
      'Corridors with rates, payment rails with the fields they need (give direction, and country or currency), institutions of a rail (give rail), crypto currencies, fiat currencies, or blockchains.',
    input: {
      type: 'object',
      properties: {
        what: { type: 'string', enum: SUPPORTED },
        direction: { type: 'string', enum: ['onramp', 'offramp'] },
        country: COUNTRY,
        currency: { ...CURRENCY, description: 'Fiat, ISO 4217.' },
        crypto_currency: CURRENCY,
        rail: SLUG,
        search: { type: 'string', maxLength: 80, description: 'Part of the name of an institution.' },
        limit: { type: 'integer', minimum: 1, maximum: 50, default: 20 },
      },
      required: ['what'],
      additionalProperties: false,
    },
    output: { items: 'array', total: 'integer', truncated: 'boolean' },
    list: 'items',
    run: listSupported,
  }),
];

const events: readonly Tool[] = [
  readTool<ListWebhookDeliveriesQuery>({
    name: 'list_webhook_deliveries',
    title: 'List webhook deliveries',
    description:
      'Deliveries of webhooks, newest first, with the last attempts: HTTP status, time taken, error, and the beginning of what the receiver answered.',
    input: {
      type: 'object',
      properties: {
        order_id: UUID,
        event_id: { type: 'string', maxLength: 80 },
        event_type: { type: 'string', pattern: '^[a-z_.-]{1,80}$' },
        status: { type: 'string', enum: ['pending', 'delivered', 'failed', 'cancelled'] },
        cursor: UUID,
        limit: { type: 'integer', minimum: 1, maximum: 25, default: 10 },
      },
      additionalProperties: false,
    },
    output: { deliveries: 'array', truncated: 'boolean' },
    list: 'deliveries',
    async run({ limit = 10, ...query }, { causeway, options }) {
      const { deliveries, pagination } = await causeway.webhooks.listDeliveries({ ...query, limit }, options);
      const next = pagination.next_cursor;
      return { deliveries: deliveries.map(deliveryView), next_cursor: next, truncated: next !== null };
    },
  }),
  readTool<{ readonly after?: string; readonly order_id?: string; readonly limit?: number }>({
    name: 'list_events',
    title: 'List events',
    description: `Events after a cursor, oldest first; go on with next_cursor. With order_id those of one order, among at most ${MOST_EVENTS_READ} events after the cursor.`,
    input: {
      type: 'object',
      properties: {
        after: { type: 'string', pattern: '^[0-9]{1,18}$', description: 'A cursor; 0 unless given.' },
        order_id: UUID,
        limit: { type: 'integer', minimum: 1, maximum: 50, default: 20 },
      },
      additionalProperties: false,
    },
    output: { events: 'array', next_cursor: 'string', truncated: 'boolean' },
    list: 'events',
    async run({ after = '0', order_id, limit = 20 }, { causeway, options }) {
      const found = [];
      let cursor = after;
      let more = true;
      for (let read = 0; more && found.length < limit && read < MOST_EVENTS_READ; ) {
        const asked = order_id === undefined ? limit : 500;
        const page = await causeway.events.list({ after: cursor, limit: asked }, options);
        const isOf = (data: object) => 'order_id' in data && data.order_id === order_id;
        const own = page.events.filter(({ data }) => order_id === undefined || isOf(data));
        const taken = own.slice(0, limit - found.length);
        found.push(...taken);
        read += page.events.length;
        const isCut = taken.length < own.length;
        cursor = (isCut ? taken.at(-1)?.cursor : undefined) ?? page.next_cursor;
        more = isCut || page.has_more;
      }
      return { events: found.map(eventView), next_cursor: cursor, truncated: more };
    },
  }),
];

const knowledge: readonly Tool[] = [
  readTool<{ readonly code: string }>({
    name: 'explain_code',
    title: 'Explain a code',
    description:
      'What an error code, a failure code of an order or a hold reason means, whether repeating helps, and what to do. From the catalogue of this program.',
    input: {
      type: 'object',
      properties: { code: { type: 'string', pattern: '^[A-Za-z_]{2,60}$' } },
      required: ['code'],
      additionalProperties: false,
    },
    output: { code: 'string', kind: 'string', doc: 'string' },
    async run({ code }) {
      const name = [code, code.toUpperCase(), code.toLowerCase()].find((one) => Object.hasOwn(CODES, one));
      if (name !== undefined) return { code: name, ...CODES[name] } as Record<string, unknown>;
      const parts = code.toUpperCase().split('_');
      const alike = (one: string) =>
        parts.filter((part) => one.toUpperCase().split('_').includes(part)).length;
      const near = Object.keys(CODES)
        .filter((one) => alike(one) > 0)
        .toSorted((left, right) => alike(right) - alike(left));
      throw new ToolError(
        'UNKNOWN_CODE',
        `There is no code ${code}.${near.length > 0 ? ` Near: ${near.slice(0, 8).join(', ')}.` : ''}`,
      );
    },
  }),
  readTool<{ readonly query: string; readonly limit?: number }>({
    name: 'search_docs',
    title: 'Search the documentation',
    description:
      'Sections of the guides, of the reference and operations of the API that the deployment serves.',
    input: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          pattern: '[\\p{L}\\p{N}_]{2,}',
          maxLength: 200,
          description: 'A few words.',
        },
        limit: { type: 'integer', minimum: 1, maximum: 10, default: 5 },
      },
      required: ['query'],
      additionalProperties: false,
    },
    output: { sections: 'array' },
    list: 'sections',
    longestText: 1_300,
    run: async ({ query, limit = 5 }, { docs }) => ({ sections: await docs.search(query, limit) }),
  }),
];

/** Tools that change nothing: on every deployment. */
export const READ_TOOLS: readonly Tool[] = [...ordersAndFunds, ...market, ...events, ...knowledge];
