import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../../../packages/cli/src/cli.ts';
import { connect } from '../../../../../test/harness/database.ts';
import { openEventStream } from '../../../../../test/harness/event-stream.ts';
import { type CallOptions, startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { until } from '../../../../../test/harness/until.ts';
import { describedRoutes, type Schema } from '../../../../../test/invariants/described-routes.ts';
import { ordersDriver } from '../../../../../test/scenarios/orders-driver.ts';
import { keepsOf, type ParameterSchema } from './kept-values.ts';

const LOG = '/api/v1/partner/request-log';
const UNKNOWN = '0199aa9f-0000-7c41-9d0e-6b1f5a3c2d10';
const PERSON = { email: 'jane.doe@example.com', first_name: 'Jane', last_name: 'Doe', country_code: 'DE' };

/** Of people, as a careless caller puts them into any place of a query. */
const PERSONAL = [
  'Jane',
  'jane.doe@example.com',
  'Doe, Jane',
  '+4915112345678',
  '4915112345678',
  'DE89370400440532013000',
];
/** Values of every kind that is kept, for parameters without an example. */
const ALLOWED = [UNKNOWN, 'DE', 'EUR', 'true', '5', '2026-11-01T00:00:00Z', '2026-11-01'];
const HIDDEN_PARAMETERS = [
  ...[
    'action',
    'actor',
    'country',
    'cursor',
    'destination_address',
    'destination_chain',
    'email',
    'kind',
    'rail',
  ],
  ...['reason', 'reference_id'],
  ...['search', 'subject', 'time_zone'],
];

interface Logged {
  readonly cursor: string;
  readonly request_id: string;
  readonly status: number;
  readonly order_id: string | null;
  readonly [field: string]: unknown;
}

describe('the log of requests', () => {
  let gateway: TestGateway;
  let userId: string;
  let orderId: string;
  let vendorKey: string;

  beforeAll(async () => {
    gateway = await startGateway();
    vendorKey = gateway.sandbox.vendors[0]?.apiKey ?? '';
    await gateway.call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
    const once = { body: PERSON, headers: { 'idempotency-key': 'once' } };
    userId = (await ask('first', 'POST', '/partner/users', once)).body.data.id;
    await ask('replayed', 'POST', '/partner/users', once);
    await ask('search', 'GET', `/partner/users?email=${PERSON.email}&kyc_status=VERIFIED&limit=5&who=Jane`);
    await ask('invalid', 'POST', '/partner/users', { body: { ...PERSON, country_code: 'Jane Doe' } });
    await ask('no-id', 'GET', `/partner/users/${PERSON.email}`);
    await ask('missing', 'GET', `/partner/orders/${UNKNOWN}`);
    await ask('nowhere', 'GET', `/partner/user/${userId}/Jane?email=${PERSON.email}`);
    await ask('wrong-door', 'GET', '/vendor/profile');
    await ask('no-key', 'GET', '/partner/users', { key: 'cw_test_wrong' });
    await ask('public', 'GET', '/currencies');
    await ask('as-operator', 'GET', '/operator/audit', { key: gateway.sandbox.operatorKey });
    await ask('of-vendor', 'GET', '/vendor/profile', { key: vendorKey });
    await ask('of-other', 'GET', '/partner/users', { key: gateway.partners[1].apiKey });
    orderId = await ordersDriver(gateway).onrampOrder();
    const stream = await openEventStream(`${gateway.baseUrl}/api/v1/partner/events`, {
      'x-api-key': gateway.partners[0].apiKey,
      'x-request-id': 'stream',
    });
    stream.stop();
    await ask('last', 'GET', `/partner/orders/${orderId}`);
    await until('the last request in the log', async () => (await logged('request_id=last')).length === 1);
  });
  afterAll(() => gateway?.stop());

  const ask = (id: string, method: string, path: string, options: CallOptions = {}) =>
    gateway.call(method, `/api/v1${path}`, {
      ...options,
      headers: { 'x-request-id': id, 'user-agent': 'acme/2.1 (Jane Doe) node/24.1.0', ...options.headers },
    });

  async function logged(query = '', options: CallOptions = {}, path = LOG): Promise<Logged[]> {
    const { status, body, text } = await gateway.call('GET', `${path}?limit=100&${query}`, options);
    expect(status, text).toBe(200);
    return body.data.requests;
  }
  const one = async (id: string, options?: CallOptions, path?: string) =>
    (await logged(`request_id=${id}`, options, path))[0];
  const operatorLog = (query: string) =>
    logged(query, { key: gateway.sandbox.operatorKey }, '/api/v1/operator/request-log');

  it('has what was asked and answered', async () => {
    expect(await one('first')).toEqual({
      cursor: expect.stringMatching(/^[0-9]+$/),
      at: expect.stringMatching(/Z$/),
      request_id: 'first',
      key: {
        key_id: expect.any(String),
        hint: `cw_test_…${gateway.partners[0].apiKey.slice(-4)}`,
      },
      method: 'POST',
      route: '/api/v1/partner/users',
      path: '/api/v1/partner/users',
      query: null,
      status: 200,
      error_code: null,
      error_fields: [],
      duration_ms: expect.any(Number),
      order_id: null,
      idempotency_key: true,
      idempotent_replay: false,
      api_version: 'v1',
      caller_network: '127.0.0.0/24',
      user_agent: 'acme/2.1 node/24.1.0',
    });
    const { at, duration_ms } = (await one('first')) as { at: string; duration_ms: number } & Logged;
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60_000);
    expect(duration_ms).toBeGreaterThan(0);
    expect(await one('replayed')).toMatchObject({ idempotency_key: true, idempotent_replay: true });
    expect(await one('stream')).toMatchObject({ route: '/api/v1/partner/events', status: 200 });
  });

  it('names the order of the path, and of an answer that opens one', async () => {
    const about = await logged(`order_id=${orderId}`);
    expect(about.map(({ method, route }) => `${method} ${route}`)).toEqual([
      'GET /api/v1/partner/orders/:order_id',
      'POST /api/v1/partner/onramp/initiate',
    ]);
    expect(about.every((row) => row.order_id === orderId)).toBe(true);
    expect(await one('missing')).toMatchObject({
      status: 404,
      order_id: UNKNOWN,
      error_code: 'ORDER_NOT_FOUND',
    });
  });

  it('has refused requests with their code and the names of fields, and nothing that was sent', async () => {
    expect(await one('invalid')).toMatchObject({
      status: 400,
      error_code: 'VALIDATION_ERROR',
      error_fields: ['country_code'],
    });
    expect(await one('no-id')).toMatchObject({ status: 400, path: '/api/v1/partner/users/…' });
    expect(await one('wrong-door')).toMatchObject({ status: 401, route: '/api/v1/vendor/profile' });
    expect(await one('nowhere')).toMatchObject({
      status: 404,
      error_code: 'ROUTE_NOT_FOUND',
      route: null,
      path: `/api/v1/partner/…/${userId}/…`,
      query: null,
    });
    expect(await one('search')).toMatchObject({ query: 'email=…&kyc_status=VERIFIED&limit=5' });
    const everything = JSON.stringify(await operatorLog(''));
    expect(everything).toContain('"invalid"');
    expect(everything).not.toMatch(/jane|doe@/i);
  });

  it('leaves out calls without a key of a partner or a vendor, and those that read it', async () => {
    const ids = (await operatorLog('')).map(({ request_id }) => request_id);
    expect(ids).toEqual(expect.arrayContaining(['first', 'of-vendor', 'of-other']));
    for (const id of ['no-key', 'public', 'as-operator']) expect(ids).not.toContain(id);
    expect((await operatorLog('')).some(({ route }) => String(route).endsWith('/request-log'))).toBe(false);
  });

  it('shows each caller its own requests, and an operator all of them', async () => {
    const others = { key: gateway.partners[1].apiKey };
    expect((await logged('', others)).map(({ request_id }) => request_id)).toEqual(['of-other']);
    expect(await logged(`order_id=${orderId}`, others)).toEqual([]);
    expect(await one('first', others)).toBeUndefined();
    const vendors = await logged('', { key: vendorKey }, '/api/v1/vendor/request-log');
    expect(vendors.map(({ request_id }) => request_id)).toEqual(['of-vendor']);
    expect(vendors[0]).not.toHaveProperty('vendor_id');
    const [ofOther] = await operatorLog('request_id=of-other');
    const ofPartner = await operatorLog(`partner_id=${ofOther?.partner_id}`);
    expect(ofPartner.map(({ request_id }) => request_id)).toEqual(['of-other']);
    const [ofVendor] = await operatorLog('request_id=of-vendor');
    expect((await operatorLog(`vendor_id=${ofVendor?.vendor_id}`)).length).toBe(1);
    const both = `/api/v1/operator/request-log?partner_id=${UNKNOWN}&vendor_id=${UNKNOWN}`;
    expect((await gateway.call('GET', both, { key: gateway.sandbox.operatorKey })).status).toBe(400);
  });

  it('filters, pages to the end and reads on behind a cursor', async () => {
    const all = await logged();
    expect((await logged('status=4xx')).every(({ status }) => status >= 400 && status < 500)).toBe(true);
    expect((await logged('status=404')).map(({ request_id }) => request_id)).toEqual(['nowhere', 'missing']);
    expect((await logged('error_code=ORDER_NOT_FOUND')).length).toBe(1);
    expect((await logged('method=PUT')).length).toBe(1);
    const middle = String(all[4]?.at);
    const newer = await logged(`from=${middle}`);
    expect(newer.length + (await logged(`to=${middle}`)).length).toBe(all.length);
    expect(newer.length).toBeGreaterThan(0);

    const page = async (query: string) => (await gateway.call('GET', `${LOG}?limit=4&${query}`)).body.data;
    const paged: Logged[] = [];
    for (let cursor = ''; ; ) {
      const { requests, pagination } = await page(cursor);
      paged.push(...requests);
      if (pagination.next_cursor === null) break;
      cursor = `cursor=${pagination.next_cursor}`;
    }
    expect(paged).toEqual(all);

    const followed: Logged[] = [];
    let after = '0';
    for (;;) {
      const { requests, pagination } = await page(`after=${after}`);
      followed.push(...requests);
      after = pagination.next_cursor;
      if (requests.length < 4) break;
    }
    expect(followed).toEqual(all.toReversed());
    expect(after).toBe(all[0]?.cursor);
    // A filter that finds nothing goes on as well.
    expect((await page(`after=0&status=503`)).pagination.next_cursor).toBe(after);
    expect((await gateway.call('GET', `${LOG}?status=6xx`)).status).toBe(400);
  });

  it('does not grow with requests that no rate limit holds back', async () => {
    const key = gateway.partners[1].apiKey;
    await Promise.all(Array.from({ length: 100 }, () => ask('flood', 'GET', '/vendor/profile', { key })));
    await ask('after-flood', 'GET', '/partner/users', { key });
    await until('the next request', async () => await one('after-flood', { key }));
    const { length } = await logged('request_id=flood', { key });
    expect([length >= 10, length < 100]).toEqual([true, true]);
  });

  it('keeps values of parameters that leave no room for anything personal, and of no others', async () => {
    const hidden = new Set<string>();
    for (const { access, path, operation } of await describedRoutes(gateway)) {
      for (const { name, in: place, schema } of operation.parameters ?? []) {
        if (access === 'public' || path.endsWith('/request-log') || place !== 'query') continue;
        const { enum: words, items, examples } = (schema ?? {}) as Schema;
        const allowed = [words, items?.enum, examples, ALLOWED].flatMap((some) => some ?? []).map(String);
        const keeps = keepsOf((schema ?? {}) as ParameterSchema);
        if (!allowed.some(keeps)) hidden.add(name);
        expect([name, PERSONAL.filter(keeps)]).toEqual([name, []]);
      }
    }
    // A new parameter is decided on here: what it is called does not say whether somebody can be named in it.
    expect([...hidden].sort()).toEqual(HIDDEN_PARAMETERS);
  });

  describe('causeway logs tail', () => {
    it('shows the past, in lines and in JSON', async () => {
      const lines = await run(['--no-follow', '--limit', '2', '--order', orderId]).ended;
      expect([lines.code, lines.shown]).toEqual([
        0,
        [
          expect.stringContaining(` 200 POST   /api/v1/partner/onramp/initiate order=${orderId} `),
          expect.stringContaining(` 200 GET    /api/v1/partner/orders/${orderId} `),
        ],
      ]);
      const coloured = await run(['--no-follow', '--status', '4XX', '--code', 'route_not_found', '--color'])
        .ended;
      expect(coloured.shown).toEqual([expect.stringContaining('\u001b[33m404\u001b[39m GET')]);
      const { shown } = await run(['--no-follow', '--since', '1h', '--method', 'get', '--json']).ended;
      const documents = shown.map((line) => JSON.parse(line));
      expect(documents.map(({ request_id }) => request_id)).toContain('search');
      expect(documents.every(({ method }) => method === 'GET')).toBe(true);
      const others = await run(['--no-follow', '--as', 'operator', '--request-id', 'of-vendor']).ended;
      expect(others.shown).toEqual([expect.stringMatching(/GET +\/api\/v1\/vendor\/profile of=/)]);
    });

    it('refuses what makes no sense, and a key that is none', async () => {
      for (const wrong of [
        ['--status', '6xx'],
        ['--since', 'soon'],
        ['--limit', 'x'],
        ['--partner', UNKNOWN],
      ]) {
        expect([wrong, (await run(wrong).ended).code]).toEqual([wrong, 2]);
      }
      const { code, notes } = await run([], { CAUSEWAY_API_KEY: 'cw_test_wrong' }).ended;
      expect([code, notes]).toEqual([3, expect.stringContaining('UNAUTHORIZED')]);
    });

    it('follows what comes, over an outage too, and shows it once', async () => {
      let isAway = false;
      const proxy = createServer(async (request, response) => {
        if (isAway) return void response.writeHead(502).end('no gateway');
        const { status, text } = await gateway.call('GET', request.url ?? '/');
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const tail = run(['--limit', '0', '--status', '4xx'], { CAUSEWAY_BASE_URL: address });
      await until('the tail', () => tail.notes().includes('Waiting for requests'));
      isAway = true;
      await ask('unseen', 'GET', '/partner/users');
      await ask('seen', 'GET', `/partner/orders/${UNKNOWN}`);
      await until('an error', () => tail.notes().includes('Next try in 1 s'));
      isAway = false;
      await until('the refused request', () => tail.shown().some((line) => line.endsWith(' seen')));
      expect(tail.notes()).toContain('answers again');
      tail.stop();
      const { code, shown } = await tail.ended;
      expect([code, shown.length]).toEqual([130, 1]);
      proxy.closeAllConnections();
      proxy.close();
    });

    /** The command in this process, with what it has written so far. */
    function run(options: readonly string[], env: Readonly<Record<string, string>> = {}) {
      const [out, errors] = [[] as string[], [] as string[]];
      const abort = new AbortController();
      const shown = () => out.join('').split('\n').filter(Boolean);
      const ended = runCli(['logs', 'tail', ...options], {
        stdout: { write: (text: string) => out.push(text) },
        stderr: { write: (text: string) => errors.push(text) },
        env: {
          CAUSEWAY_BASE_URL: gateway.baseUrl,
          CAUSEWAY_API_KEY: gateway.partners[0].apiKey,
          CAUSEWAY_OPERATOR_KEY: gateway.sandbox.operatorKey,
          ...env,
        },
        folder: '/nowhere',
        signal: abort.signal,
      }).then((code) => ({ code, shown: shown(), notes: errors.join('') }));
      return { ended, shown, notes: () => errors.join(''), stop: () => abort.abort() };
    }
  });
});

it('what is still in memory when a gateway stops is written, and with 0 days nothing is', async () => {
  for (const [days, expected] of [
    ['7', 1],
    ['0', 0],
  ] as const) {
    const gateway = await startGateway({ env: { REQUEST_LOG_RETENTION_DAYS: days } });
    await gateway.call('GET', '/api/v1/partner/users');
    await gateway.stop();
    const owner = await connect(gateway.databaseUrl);
    const { rowCount } = await owner.query('SELECT FROM request_log');
    await owner.end();
    expect([days, rowCount]).toEqual([days, expected]);
  }
});
