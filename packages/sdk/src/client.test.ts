import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { RESOURCES } from './generated/resources.ts';
import { Causeway, type CausewayError, type ClientOptions, isCausewayError } from './index.ts';

const ORDER_ID = '0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
type Answer = (request: IncomingMessage, response: ServerResponse, count: number) => void;

/** A real server that answers as it is told, and what it was asked. */
let server: Server;
let baseUrl = '';
let answer: Answer = () => {};
const seen: Seen[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      seen.push({ method: request.method!, url: request.url!, headers: request.headers, body });
      answer(request, response, seen.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  seen.length = 0;
  vi.unstubAllGlobals();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const client = (options: Partial<ClientOptions> = {}) =>
  new Causeway({ baseUrl, apiKey: 'cw_test_1', ...options });

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req-7', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const data = (response: ServerResponse, value: unknown) =>
  send(response, 200, { success: true, data: value });
const failure = (code: string, details = {}) => ({
  success: false,
  error: { code, message: 'Sorry.', details },
});

async function rejection(work: PromiseLike<unknown>): Promise<CausewayError> {
  const error = await Promise.resolve(work).then(
    () => expect.unreachable('it should have failed'),
    (thrown: unknown) => thrown,
  );
  expect(isCausewayError(error), String(error)).toBe(true);
  return error as CausewayError;
}

it('every resource is named in the README', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const named = [...readme.matchAll(/`(?:causeway\.)?(\w+)(?:\.\*)?`/g)].map(([, name]) => name);
  expect(Object.keys(RESOURCES).filter((name) => !named.includes(name))).toEqual([]);
});

describe('a call', () => {
  it('sends key, path, query and body, and answers data', async () => {
    answer = (_request, response) => data(response, { ok: 1 });
    const causeway = client({ headers: { 'x-trace': 'a' } });
    expect(await causeway.orders.get('a/b?c')).toEqual({ ok: 1 });
    await causeway.operator.orders.list({
      status: ['completed', 'failed'],
      limit: 5,
      stuck: undefined as never,
    });
    await causeway.users.create({ email: 'ada@example.com' });
    await causeway.orders.cancel(ORDER_ID);
    expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', '/api/v1/partner/orders/a%2Fb%3Fc', ''],
      ['GET', '/api/v1/operator/orders?status=completed&status=failed&limit=5', ''],
      ['POST', '/api/v1/partner/users', '{"email":"ada@example.com"}'],
      ['POST', `/api/v1/partner/orders/${ORDER_ID}/cancel`, ''],
    ]);
    expect(seen[0]!.headers).toMatchObject({ 'x-api-key': 'cw_test_1', 'x-trace': 'a' });
    expect(seen[2]!.headers['content-type']).toBe('application/json');
    expect(seen[3]!.headers['content-type']).toBeUndefined();
  });

  it('makes one idempotency key a write, takes yours, and sends none with a read', async () => {
    answer = (_request, response) => data(response, {});
    const causeway = client();
    await causeway.users.create({ email: 'a@example.com' });
    await causeway.users.create({ email: 'a@example.com' });
    await causeway.users.create({ email: 'a@example.com' }, { idempotencyKey: 'mine' });
    await causeway.orders.get(ORDER_ID);
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).not.toBe(keys[0]);
    expect(keys.slice(2)).toEqual(['mine', undefined]);
    await expect(causeway.users.create({ email: 'a' }, { idempotencyKey: 'x'.repeat(256) })).rejects.toThrow(
      /255/,
    );
  });

  it('refuses an address without its id, and a secret key in a browser', async () => {
    const causeway = client();
    await expect(causeway.orders.get(undefined as never)).rejects.toThrow('order_id is missing');
    await expect(causeway.orders.get('..')).rejects.toThrow('order_id is missing');
    expect(seen).toEqual([]);
    vi.stubGlobal('window', {});
    vi.stubGlobal('document', {});
    expect(() => client()).toThrow(/secret key/);
    expect(client({ apiKey: 'cw_widget_1' })).toBeDefined();
    expect(client({ allowSecretKeyInBrowser: true })).toBeDefined();
    expect(() => client({ baseUrl: 'api.example.com' })).toThrow(/baseUrl/);
  });

  it('says what is missing, and takes an address with the path of the API', async () => {
    const create = (...options: unknown[]) => Reflect.construct(Causeway, options);
    for (const options of [[], [{ apiKey: 'cw_test_1' }], [null], [{ baseUrl: '' }]]) {
      expect(() => create(...options)).toThrow(/^baseUrl is missing/);
    }
    for (const wrong of [7, 'http://', 'ftp://api.example.com']) {
      expect(() => create({ baseUrl: wrong })).toThrow('baseUrl is the http(s) address of the deployment');
    }
    answer = (_request, response) => data(response, {});
    for (const path of ['/', '/api/v1', '/api/v1/', '//api/v1//', '/behind/api/v1']) {
      await client({ baseUrl: baseUrl + path }).reference.currencies();
    }
    const [last, ...others] = seen.map(({ url }) => url).reverse();
    expect([last, new Set(others)]).toEqual(['/behind/api/v1/currencies', new Set(['/api/v1/currencies'])]);
  });

  it('names the address that cannot be reached, and no key', async () => {
    const away = client({ baseUrl: 'http://127.0.0.1:1/behind', apiKey: 'cw_test_secret', maxRetries: 0 });
    const error = await rejection(away.orders.get(ORDER_ID));
    expect(error.message).toBe('the connection to http://127.0.0.1:1 failed');
  });

  it('does not follow a redirect with the key', async () => {
    answer = (_request, response) => send(response, 307, '', { location: `${baseUrl}/elsewhere` });
    expect(await rejection(client().orders.get(ORDER_ID))).toMatchObject({
      code: 'INVALID_ANSWER',
      status: 307,
    });
    expect(seen).toHaveLength(1);
  });
});

describe('errors', () => {
  it('carry code, details, status, request id and the key of the write', async () => {
    answer = (_request, response) =>
      send(response, 422, failure('KYC_NOT_CLEARED', { kyc_status: 'IN_PROGRESS' }));
    const error = await rejection(client().users.create({ email: 'a@example.com' }, { idempotencyKey: 'k' }));
    expect(error).toMatchObject({
      code: 'KYC_NOT_CLEARED',
      status: 422,
      requestId: 'req-7',
      retryable: false,
      idempotencyKey: 'k',
      message: 'KYC_NOT_CLEARED: Sorry.',
    });
    if (!isCausewayError(error, 'KYC_NOT_CLEARED')) expect.unreachable();
    const status: string = error.details.kyc_status;
    expect([status, isCausewayError(error, 'ORDER_NOT_FOUND')]).toEqual(['IN_PROGRESS', false]);
    expect(seen).toHaveLength(1);
  });

  it('of supported resources have their key as code', async () => {
    answer = (_request, response) =>
      send(response, 400, { success: false, data: { error_key: 'invalid_rail' } });
    expect(await rejection(client().supported.institutions({ rail: 'x' }))).toMatchObject({
      code: 'invalid_rail',
      status: 400,
    });
  });

  it('say so where what answers is not the service', async () => {
    answer = (_request, response) => send(response, 200, '<html>');
    expect(await rejection(client().orders.get(ORDER_ID))).toMatchObject({
      code: 'INVALID_ANSWER',
      retryable: false,
    });
    answer = (_request, response) => send(response, 404, 'nothing here');
    expect(await rejection(client().orders.get(ORDER_ID))).toMatchObject({
      code: 'INVALID_ANSWER',
      status: 404,
    });
  });
});

describe('retries', () => {
  it('wait as long as Retry-After says, with the same key and body', async () => {
    answer = (_request, response, count) =>
      count < 3
        ? send(
            response,
            count === 1 ? 429 : 503,
            failure(count === 1 ? 'RATE_LIMITED' : 'SERVICE_UNAVAILABLE'),
            {
              'retry-after': '0',
            },
          )
        : data(response, { id: 'u' });
    expect(await client().users.create({ email: 'a@example.com' })).toEqual({ id: 'u' });
    expect(new Set(seen.map(({ headers, body }) => `${headers['idempotency-key']} ${body}`)).size).toBe(1);
    expect(seen).toHaveLength(3);
  });

  it('follow a broken connection, and give up after so many', async () => {
    answer = (request, response, count) =>
      count === 1 ? request.socket.destroy() : data(response, { ok: 1 });
    expect(await client().orders.confirmPaymentSent(ORDER_ID)).toEqual({ ok: 1 });
    expect(seen).toHaveLength(2);
    expect(seen[0]!.headers['idempotency-key']).toBe(seen[1]!.headers['idempotency-key']);
    answer = (request) => request.socket.destroy();
    const error = await rejection(client({ maxRetries: 1 }).orders.get(ORDER_ID));
    expect([error.code, error.retryable, seen.length]).toEqual(['CONNECTION_FAILED', true, 4]);
    await rejection(client({ maxRetries: 0 }).orders.get(ORDER_ID));
    expect(seen).toHaveLength(5);
  });

  it('never repeat a write without a key, except where it was refused for its rate', async () => {
    const reveal = () => client().operator.users.reveal(ORDER_ID, { reason: 'a ticket' });
    answer = (request) => request.socket.destroy();
    await rejection(reveal());
    answer = (_request, response) =>
      send(response, 503, failure('SERVICE_UNAVAILABLE'), { 'retry-after': '0' });
    await rejection(reveal());
    expect(seen).toHaveLength(2);
    answer = (_request, response, count) =>
      count === 3 ? send(response, 429, failure('RATE_LIMITED'), { 'retry-after': '0' }) : data(response, {});
    await reveal();
    expect(seen).toHaveLength(4);
  });

  it('repeat an estimate, which writes nothing', async () => {
    answer = (request, response, count) =>
      count === 1 ? request.socket.destroy() : data(response, { rate: '1' });
    expect(await client().onramp.estimate({ crypto_currency: 'USDC', fiat_currency: 'EUR' })).toEqual({
      rate: '1',
    });
  });

  it('do not repeat what is refused for good, or for longer than a minute', async () => {
    for (const [status, code, headers] of [
      [409, 'QUOTE_EXPIRED', {}],
      [429, 'OPEN_ORDER_LIMIT', {}],
      [422, 'NO_OFFERS_AVAILABLE', {}],
      [502, 'WEBHOOK_DELIVERY_FAILED', {}],
      [429, 'RATE_LIMITED', { 'retry-after': '3600' }],
    ] as const) {
      seen.length = 0;
      answer = (_request, response) => send(response, status, failure(code), headers);
      const error = await rejection(client().webhooks.test());
      expect([error.code, seen.length]).toEqual([code, 1]);
      if ('retry-after' in headers) expect(error.retryAfterSeconds).toBe(3_600);
    }
  });
});

describe('time', () => {
  it('an attempt has its time-out, also while the body is read; a call has its deadline', async () => {
    answer = (_request, response) => response.writeHead(200).write('{');
    const error = await rejection(client({ timeout: 40, maxRetries: 0 }).orders.get(ORDER_ID));
    expect(error).toMatchObject({ code: 'TIMED_OUT', retryable: true });
    answer = (_request, response) =>
      send(response, 503, failure('SERVICE_UNAVAILABLE'), { 'retry-after': '50' });
    const started = performance.now();
    expect((await rejection(client({ deadline: 100 }).orders.get(ORDER_ID))).code).toBe(
      'SERVICE_UNAVAILABLE',
    );
    // The service asked for 50 seconds.
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('a signal ends the call with its own reason, before, during and between attempts', async () => {
    const reason = new Error('not any more');
    await expect(client().orders.get(ORDER_ID, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(seen).toEqual([]);
    for (const reply of [
      () => {},
      (_request: unknown, response: ServerResponse) =>
        send(response, 503, failure('SERVICE_UNAVAILABLE'), { 'retry-after': '30' }),
    ] as Answer[]) {
      const controller = new AbortController();
      answer = (request, response, count) => {
        reply(request, response, count);
        setTimeout(() => controller.abort(reason), 30);
      };
      await expect(client().orders.get(ORDER_ID, { signal: controller.signal })).rejects.toBe(reason);
    }
  });
});

describe('lists', () => {
  async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
    const all: T[] = [];
    for await (const item of list) all.push(item);
    return all;
  }
  const queryOf = (request: IncomingMessage) => new URL(request.url!, baseUrl).searchParams;

  it('by page: awaited one page, iterated all of them, each asked for when it is needed', async () => {
    answer = (request, response) => {
      const page = Number(queryOf(request).get('page') ?? 1);
      const orders = [page * 2 - 1, page * 2].filter((n) => n <= 5).map((n) => ({ order_id: `${n}` }));
      data(response, { orders, pagination: { page, limit: 2, total: 5 } });
    };
    const list = client().orders.list({ limit: 2, status: ['completed'] });
    expect((await list).orders).toHaveLength(2);
    expect((await collect(list)).map(({ order_id }) => order_id)).toEqual(['1', '2', '3', '4', '5']);
    expect(seen).toHaveLength(4);
    seen.length = 0;
    for await (const _order of client().orders.list({ limit: 2 })) break;
    expect(seen).toHaveLength(1);
    const pages = await collect(client().orders.list({ limit: 2, page: 3 }).pages());
    expect(pages.map(({ orders }) => orders.length)).toEqual([1]);
  });

  it('by offset, by cursor and by event', async () => {
    answer = (request, response) => {
      const offset = Number(queryOf(request).get('offset') ?? 0);
      data(response, { recipients: [offset], pagination: { offset, limit: 1, total: 3 } });
    };
    expect(await collect(client().recipients.list({ limit: 1 }))).toEqual([0, 1, 2]);
    answer = (request, response) => {
      const cursor = queryOf(request).get('cursor');
      const next = { null: 'a', a: 'b', b: null }[`${cursor}`];
      data(response, { deliveries: [`${cursor}`], pagination: { limit: 1, next_cursor: next } });
    };
    expect(await collect(client().webhooks.listDeliveries())).toEqual(['null', 'a', 'b']);
    answer = (request, response) => {
      const after = Number(queryOf(request).get('after') ?? 0);
      const events = after < 2 ? [{ cursor: `${after + 1}` }] : [];
      data(response, { events, next_cursor: `${after + events.length}`, has_more: after < 2 });
    };
    expect(await collect(client().events.list())).toEqual([{ cursor: '1' }, { cursor: '2' }]);
  });

  it('of events narrows what an event says by its type, as webhooks do', async () => {
    const said = { user_id: 'u', kyc_status: 'VERIFIED' };
    const event = { cursor: '7', event_id: 'evt_1', event_type: 'user.kyc.updated', data: said };
    answer = (_request, response) => data(response, { events: [event], next_cursor: '7', has_more: false });
    const { events } = await client().events.list();
    const statuses = events.map((one) =>
      one.event_type === 'user.kyc.updated' ? [one.cursor, one.data.kyc_status] : undefined,
    );
    expect(statuses).toEqual([['7', 'VERIFIED']]);
  });

  it('an error of a later page is thrown where it is met', async () => {
    answer = (_request, response, count) =>
      count === 1
        ? data(response, { orders: [{ order_id: '1' }], pagination: { page: 1, limit: 1, total: 2 } })
        : send(response, 401, failure('UNAUTHORIZED'));
    const met: string[] = [];
    const read = (async () => {
      for await (const { order_id } of client().orders.list()) met.push(order_id);
    })();
    expect((await rejection(read)).code).toBe('UNAUTHORIZED');
    expect(met).toEqual(['1']);
  });
});

describe('streams', () => {
  const event = (cursor: number, status = 'completed') =>
    `id: ${cursor}\nevent: order.status.changed\ndata: ${JSON.stringify({ event_id: `evt_${cursor}`, event_type: 'order.status.changed', data: { order_id: ORDER_ID, status } })}\n\n`;
  const order = (status: string, ...timeline: string[]) => ({
    order_id: ORDER_ID,
    status,
    timeline: timeline.map((one) => ({ status: one })),
  });

  it('go on behind the last event after a break, however the bytes are cut', async () => {
    answer = (request, response, count) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`retry: 1\nid: ${request.headers['last-event-id'] ?? 4}\n: open\n\n`);
      if (count === 1) {
        response.write(event(5).slice(0, 30));
        setTimeout(() => {
          response.write(event(5).slice(30) + event(6).slice(0, 20));
          setTimeout(() => request.socket.destroy(), 20);
        }, 20);
      } else response.write(event(6) + event(7));
    };
    const cursors: string[] = [];
    for await (const { cursor, event: told } of client().events.stream()) {
      cursors.push(`${cursor} ${told.event_id}`);
      if (cursors.length === 3) break;
    }
    expect(cursors).toEqual(['5 evt_5', '6 evt_6', '7 evt_7']);
    expect(seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '5']);
    expect(seen[1]!.url).toBe('/api/v1/partner/events?after=5');
  });

  it('throw what does not get better by itself', async () => {
    answer = (_request, response) => send(response, 410, failure('CURSOR_EXPIRED', { oldest_cursor: '9' }));
    expect((await rejection(client().vendor.events.stream({ after: '1' }).next())).code).toBe(
      'CURSOR_EXPIRED',
    );
    expect(seen).toHaveLength(1);
  });

  it('waitFor reads the order when an event tells of it', async () => {
    let status = 'fiat_transfer_pending';
    answer = (request, response) => {
      if (!request.url!.includes('/events')) return data(response, order(status));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('retry: 1\nid: 0\n: open\n\n');
      setTimeout(() => {
        status = 'completed';
        response.write(event(1));
      }, 50);
    };
    const statuses: string[] = [];
    const onStatus = (seenOrder: { status: string }) => statuses.push(seenOrder.status);
    const done = await client().orders.waitFor(ORDER_ID, 'completed', { onStatus, pollInterval: 60_000 });
    expect([done.status, statuses]).toEqual(['completed', ['fiat_transfer_pending', 'completed']]);
  });

  it.each([
    ['onramp', 'completed', 'cancelled', 'ORDER_ENDED'],
    ['onramp', 'completed', 'send_out_completed', 'TIMED_OUT'],
    ['payment_request', 'completed', ['cancelled', 'send_out_failed'], 'TIMED_OUT'],
    ['offramp', 'completed', 'send_out_completed', 'ORDER_ENDED'],
    ['offramp', 'completed', () => false, 'ORDER_ENDED'],
    ['onramp', 'completed', () => false, 'TIMED_OUT'],
    ['onramp', 'send_out_pending', 'cancelled', 'ORDER_ENDED'],
    ['onramp', 'dispute_started', 'completed', 'TIMED_OUT'],
    ['of a newer kind', 'completed', 'cancelled', 'ORDER_ENDED'],
    ['onramp', 'a_newer_status', 'completed', 'TIMED_OUT'],
  ])(
    'waitFor of an order %s that is %s waits only for what can follow: %s',
    async (type, status, wanted, code) => {
      answer = (request, response) => {
        if (request.url!.includes('/events')) return send(response, 429, failure('RATE_LIMITED'));
        data(response, { ...order(status), order_type: type });
      };
      const options = { pollInterval: 10, timeout: code === 'TIMED_OUT' ? 200 : 5_000 };
      expect((await rejection(client().orders.waitFor(ORDER_ID, wanted, options))).code).toBe(code);
    },
  );

  it('waitFor refuses a status that no order has', async () => {
    const wait = (wanted: unknown) => client().orders.waitFor(ORDER_ID, wanted as string, { timeout: 200 });
    await expect(wait('canceled')).rejects.toThrow('no order has the status “canceled”');
    await expect(wait(['completed', 'canceled'])).rejects.toThrow('“canceled”');
    await expect(wait(undefined)).rejects.toThrow('“undefined”');
    await expect(wait([])).rejects.toThrow('needs a status');
    expect(seen).toEqual([]);
  });

  it('waitFor reads at intervals without a stream, knows what has passed, and what can no longer be', async () => {
    let reads = 0;
    let status = 'crypto_received';
    answer = (request, response) => {
      if (request.url!.includes('/events')) return send(response, 429, failure('RATE_LIMITED'));
      reads += 1;
      if (reads === 3) status = 'failed';
      data(response, order(status, 'created', 'awaiting_crypto_transfer_authorization'));
    };
    const causeway = client();
    const options = { pollInterval: 10 };
    expect(
      (await causeway.orders.waitFor(ORDER_ID, 'awaiting_crypto_transfer_authorization', options)).status,
    ).toBe('crypto_received');
    const error = await rejection(causeway.orders.waitFor(ORDER_ID, ['completed'], options));
    expect([error.code, error.details]).toMatchObject(['ORDER_ENDED', { status: 'failed' }]);
    expect((await causeway.orders.waitFor(ORDER_ID, (one) => one.status === 'failed', options)).status).toBe(
      'failed',
    );
    status = 'crypto_received';
    reads = 10;
    const late = await rejection(causeway.orders.waitFor(ORDER_ID, 'completed', { ...options, timeout: 60 }));
    expect([late.code, late.details]).toMatchObject(['TIMED_OUT', { status: 'crypto_received' }]);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(causeway.orders.waitFor(ORDER_ID, 'completed', { signal })).rejects.toBe(reason);
  });
});
