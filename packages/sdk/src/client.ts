import type { CausewayEvent } from './events.ts';
import {
  type EventsResource,
  type OrdersResource,
  RESOURCES,
  type Resources,
  type VendorEventsResource,
  type VendorResource,
} from './generated/resources.ts';
import type { EventList, ListEventsQuery, Order, OrderStatus, VendorEventList } from './generated/types.ts';
import { type List, listOf } from './pagination.ts';
import { type Streamed, type StreamOptions, streamEvents } from './stream.ts';
import {
  type ClientOptions,
  createTransport,
  type Operation,
  type RequestOptions,
  readOperation,
  type Transport,
} from './transport.ts';
import { type WaitOptions, waitForOrder } from './wait-for.ts';

export interface Orders extends OrdersResource {
  /**
   * The order as soon as it is, or has been, in a status. Follows the event stream, and reads at intervals where that cannot
   * be had. Throws `ORDER_ENDED` where the order can no longer get there; for a function not while a stopped order may still
   * change, as by a late deposit or a refund.
   *
   * @example const order = await causeway.orders.waitFor(orderId, 'completed', { timeout: 15 * 60_000 });
   */
  waitFor(
    orderId: string,
    status: OrderStatus | readonly OrderStatus[] | ((order: Order) => boolean),
    options?: WaitOptions,
  ): Promise<Order>;
}

/** An event of a list, and its place in the stream: give it as `after` to go on behind it. */
export type ListedEvent = CausewayEvent & { readonly cursor: string };

/** A page of events. */
export interface EventPage extends Omit<EventList, 'events'> {
  events: ListedEvent[];
}

export interface Events extends Omit<EventsResource, 'list'> {
  /**
   * Events in their order, page by page; `switch (event.event_type)` narrows `data`. `GET /api/v1/partner/events`
   *
   * @example for await (const event of causeway.events.list({ after: '0' })) console.log(event.event_type);
   */
  list(query?: ListEventsQuery, options?: RequestOptions): List<EventPage, ListedEvent>;
  /**
   * Events as they happen, and after a break from where it stopped.
   *
   * @example
   * for await (const { cursor, event } of causeway.events.stream({ after: await load() })) {
   *   await handle(event);
   *   await save(cursor);
   * }
   */
  stream(options?: StreamOptions): AsyncGenerator<Streamed<CausewayEvent>, void, void>;
}

/** One event of a vendor's stream. */
export type VendorEvent = VendorEventList['events'][number];

export interface VendorEvents extends VendorEventsResource {
  /** As `events.stream`, of the vendor's orders. */
  stream(options?: StreamOptions): AsyncGenerator<Streamed<VendorEvent>, void, void>;
}

export interface Vendor extends Omit<VendorResource, 'events'> {
  readonly events: VendorEvents;
}

/** The API: one property a resource, one method an operation. */
export interface Causeway extends Omit<Resources, 'orders' | 'events' | 'vendor'> {
  readonly orders: Orders;
  readonly events: Events;
  readonly vendor: Vendor;
}

interface Table {
  readonly [name: string]: string | Table;
}
type Built = Record<string, unknown>;

function build(transport: Transport, table: Table): Built {
  return Object.fromEntries(
    Object.entries(table).map(([name, entry]) => [
      name,
      typeof entry === 'string' ? methodOf(transport, readOperation(entry)) : build(transport, entry),
    ]),
  );
}

/** Values of the path first, then what is sent or asked for, then options. */
function methodOf(transport: Transport, operation: Operation): (...args: readonly unknown[]) => unknown {
  const inPath = operation.path.split('{').length - 1;
  const hasInput = operation.hasBody || operation.hasQuery;
  return (...args) => {
    const call = {
      operation,
      pathValues: args.slice(0, inPath),
      input: hasInput ? args[inPath] : undefined,
      options: (args[inPath + (hasInput ? 1 : 0)] ?? {}) as RequestOptions,
    };
    return operation.paging === undefined ? transport.send(call) : listOf(transport, call);
  };
}

function createCauseway(options: ClientOptions): Causeway {
  const transport = createTransport(options);
  const built = build(transport, RESOURCES) as unknown as Causeway;
  const eventsPath = readOperation(RESOURCES.events.list).path;
  const vendorEventsPath = readOperation(RESOURCES.vendor.events.list).path;
  const stream: Events['stream'] = (given = {}) => streamEvents(transport, eventsPath, given);
  const read = (orderId: string, signal: AbortSignal) => built.orders.get(orderId, { signal });
  Object.assign(built.events, { stream });
  Object.assign(built.vendor.events, {
    stream: (given: StreamOptions = {}) => streamEvents(transport, vendorEventsPath, given),
  });
  Object.assign(built.orders, {
    waitFor: (
      orderId: string,
      wanted: OrderStatus | readonly OrderStatus[] | ((order: Order) => boolean),
      given?: WaitOptions,
    ) => waitForOrder({ read, stream }, orderId, wanted, given),
  });
  return built;
}

/**
 * A client of one deployment with one key.
 *
 * @example const causeway = new Causeway({ baseUrl: 'https://api.example.com', apiKey: 'cw_live_…' });
 */
export const Causeway: new (options: ClientOptions) => Causeway = class {
  constructor(options: ClientOptions) {
    // biome-ignore lint/correctness/noConstructorReturn: the methods come from a table, not from a class.
    return createCauseway(options);
  }
} as never;
