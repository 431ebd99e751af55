import type { Call, Transport } from './transport.ts';

/**
 * A list as a call answers it. Awaited it is the page that was asked for; iterated it is every item from there on, page
 * after page, each asked for when it is needed.
 *
 * @example const { orders, pagination } = await causeway.orders.list({ limit: 50 });
 * @example for await (const order of causeway.orders.list({ status: ['completed'] })) book(order);
 */
export interface List<Page, Item> extends Promise<Page>, AsyncIterable<Item> {
  /** Page after page. */
  pages(): AsyncGenerator<Page, void, void>;
}

type Query = Record<string, unknown>;
type AnyPage = Record<string, unknown> & {
  readonly pagination?: Readonly<Record<string, unknown>>;
  readonly has_more?: boolean;
  readonly next_cursor?: unknown;
};

export function listOf(transport: Transport, call: Call): List<unknown, unknown> {
  const { kind = '', items = '' } = call.operation.paging ?? {};
  const read = (query: Query) => transport.send({ ...call, input: query }) as Promise<AnyPage>;

  async function* pages(): AsyncGenerator<AnyPage, void, void> {
    let query: Query | undefined = { ...(call.input as Query | undefined) };
    while (query !== undefined) {
      const page: AnyPage = await read(query);
      yield page;
      const count = (page[items] as readonly unknown[]).length;
      query = count === 0 ? undefined : nextQuery(kind, query, page, count);
    }
  }

  async function* each(): AsyncGenerator<unknown, void, void> {
    for await (const page of pages()) yield* page[items] as readonly unknown[];
  }

  // Sent once, and only if somebody waits for it: iterating asks for its own pages.
  let first: Promise<unknown> | undefined;
  const once = () => {
    first ??= read({ ...(call.input as Query | undefined) });
    return first;
  };
  return {
    // biome-ignore lint/suspicious/noThenProperty: it is to be awaited.
    then: (fulfilled, rejected) => once().then(fulfilled, rejected),
    catch: (rejected) => once().catch(rejected),
    finally: (settled) => once().finally(settled),
    [Symbol.toStringTag]: 'List',
    [Symbol.asyncIterator]: each,
    pages,
  };
}

/** What to ask for after a page; undefined behind the last. */
function nextQuery(kind: string, query: Query, page: AnyPage, count: number): Query | undefined {
  const { pagination = {} } = page;
  const [limit, total] = [Number(pagination.limit), Number(pagination.total)];
  switch (kind) {
    case 'page': {
      const number = Number(pagination.page);
      return number * limit < total ? { ...query, page: number + 1 } : undefined;
    }
    case 'offset': {
      const offset = Number(pagination.offset) + count;
      return offset < total ? { ...query, offset } : undefined;
    }
    case 'cursor':
      return pagination.next_cursor ? { ...query, cursor: pagination.next_cursor } : undefined;
    default:
      return page.has_more === true ? { ...query, after: page.next_cursor } : undefined;
  }
}
