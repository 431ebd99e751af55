import { ERROR_CODES, ERROR_KEYS } from '@causeway/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type CallOptions, startGateway, type TestGateway } from '../harness/gateway.ts';
import {
  type DescribedRoute,
  describedRoutes,
  fillPath,
  keysOf,
  requiredQuery,
  sampleOf,
} from './described-routes.ts';

const SUPPORTED = '/api/v1/supported/';
/** Odd text in a path can lead to no route at all. */
const ELSEWHERE = 'ROUTE_NOT_FOUND';
/** There are no chains here: the one route that cannot do without says so. */
const NEEDS_CHAIN = 'sandboxFaucet';
const NO_CHAIN = 'TRANSACTOR_UNAVAILABLE';

const NASTY_TEXTS = [
  '',
  ' ',
  "' OR 1=1 --",
  '%00',
  '\u0000',
  '../../etc/passwd',
  '🏦',
  '-1',
  '1e309',
  'null',
  'x'.repeat(400),
];
const NASTY_BODIES = [
  'null',
  '[]',
  '"text"',
  '0',
  '{}',
  '{"constructor":{"prototype":{}}}',
  '{"toString":1,"valueOf":null}',
  '{',
  '',
];

describe('every described route, whatever is sent to it', () => {
  let gateway: TestGateway;
  let routes: DescribedRoute[];
  const logs: string[] = [];
  /** Every status that was answered, by the route that answered it. */
  const seenBy = new Map<string, Set<string>>();

  beforeAll(async () => {
    gateway = await startGateway({
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000', RATE_LIMIT_PUBLIC_PER_MINUTE: '1000000' },
      onLog: (line) => {
        if (line.includes('"level":"error"')) logs.push(line);
      },
    });
    routes = await describedRoutes(gateway);
  });
  afterAll(() => gateway?.stop());

  const send = (route: DescribedRoute, values: Record<string, string>, query: string, options: CallOptions) =>
    gateway.call(route.method, fillPath(route.path, values) + query, {
      key: keysOf(gateway)[route.access],
      ...options,
    });

  const isFile = ({ operation }: DescribedRoute) => 'text/csv' in (operation.responses['200']?.content ?? {});

  function check(route: DescribedRoute, answer: Answer, sent: string): void {
    const where = `${route.method} ${route.path} with ${sent}: ${answer.status} ${answer.text.slice(0, 300)}`;
    const code = answer.body?.error?.code;
    const lacksChain = route.operationId === NEEDS_CHAIN && code === NO_CHAIN;
    if (!lacksChain) expect(answer.status, `${where}\n${logs.at(-1) ?? ''}`).toBeLessThan(500);
    expect(answer.headers.get('x-request-id'), where).toBeTruthy();
    const seen = seenBy.get(route.operationId) ?? new Set();
    if (code !== ELSEWHERE) seenBy.set(route.operationId, seen.add(String(answer.status)));
    if (answer.status === 304) return;
    if (answer.status === 200 && isFile(route)) {
      expect(answer.headers.get('content-type'), where).toMatch(/^text\/csv;/);
      return;
    }
    expect(answer.headers.get('content-type'), where).toBe('application/json; charset=utf-8');
    if (answer.status === 200) {
      expect(Object.keys(answer.body), where).toEqual(['success', 'data']);
      expect(answer.body.success, where).toBe(true);
      return;
    }
    expect(answer.body.success, where).toBe(false);
    if (code === ELSEWHERE) return;
    if (route.path.startsWith(SUPPORTED) && code !== 'RATE_LIMITED') {
      expect(Object.keys(answer.body), where).toEqual(['success', 'data']);
      expect(Object.keys(answer.body.data), where).toEqual(['error_key']);
      expect(ERROR_KEYS, where).toContain(answer.body.data.error_key);
    } else {
      expect(Object.keys(answer.body), where).toEqual(['success', 'error']);
      expect(Object.keys(answer.body.error), where).toEqual(['code', 'message', 'details']);
      expect(ERROR_CODES, where).toContain(code);
    }
  }

  const text = (route: DescribedRoute, value: string) =>
    Object.fromEntries(route.parameters.map(({ name }) => [name, value]));

  // Proves C2.1 rows 1 to 3, C4, D3.4.
  it('odd paths and queries are answered in the envelope with a documented status, never with a failure', async () => {
    for (const route of routes) {
      for (const nasty of NASTY_TEXTS) {
        const query = route.queryNames.map((name) => `${name}=${encodeURIComponent(nasty)}`).join('&');
        const body = route.bodySchema === undefined ? {} : { body: sampleOf(route.bodySchema) };
        // An empty part of a path is another path.
        const values = text(route, nasty === '' ? 'x' : nasty);
        check(route, await send(route, values, `?${query}`, body), JSON.stringify(nasty));
        const repeated = route.queryNames.map((name) => `${name}=a&${name}=b&${name}[x]=1`).join('&');
        if (nasty === '') check(route, await send(route, values, `?${repeated}`, body), 'repeated queries');
      }
    }
  });

  // Proves C2.1 rows 1 to 3, C4, D3.4.
  it('odd bodies are answered in the envelope with a documented status, never with a failure', async () => {
    const uuid = '00000000-0000-7000-8000-000000000000';
    for (const route of routes.filter(({ method }) => method !== 'GET')) {
      for (const rawBody of NASTY_BODIES) {
        const headers = { 'content-type': 'application/json' };
        check(route, await send(route, text(route, uuid), '', { rawBody, headers }), rawBody);
      }
      for (const contentType of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json; charset=latin1',
      ]) {
        const options = { rawBody: '{"a":"ÿ"}', headers: { 'content-type': contentType } };
        check(route, await send(route, text(route, uuid), '', options), contentType);
      }
    }
  });

  // Proves C7 TRANSACTOR_UNAVAILABLE.
  it('what has to send a transaction says that it cannot, where there are no chains', async () => {
    const answer = await gateway.call('POST', '/api/v1/sandbox/faucet', {
      body: { chain: 'base-mainnet', token: 'USDC', address: `0x${'12'.repeat(20)}`, amount: '1' },
    });
    expect([answer.status, answer.body.error.code]).toEqual([502, NO_CHAIN]);
  });

  it('every field of a body that takes text refuses or stores any text, never fails on it', async () => {
    const uuid = '00000000-0000-7000-8000-000000000000';
    for (const route of routes) {
      const properties = Object.keys(route.bodySchema?.properties ?? {});
      const sample = sampleOf(route.bodySchema);
      for (const name of properties) {
        for (const value of [
          '\u0000',
          '\ud800',
          'x'.repeat(5_000),
          { a: 1 },
          [null],
          1e308,
          -1,
          true,
          null,
        ]) {
          const body = { ...(sample as object), [name]: value };
          check(
            route,
            await send(route, text(route, uuid), '', { body }),
            `${name} = ${JSON.stringify(value).slice(0, 40)}`,
          );
        }
      }
    }
  });

  it('bodies that are too large, and reads of what the client has already, are answered as documented', async () => {
    const uuid = '00000000-0000-7000-8000-000000000000';
    // Beyond the limit of nearly every route, and beyond that of documents.
    const tooLarge = [2, 10].map((mebibytes) =>
      JSON.stringify({ padding: 'x'.repeat(mebibytes * 1024 * 1024) }),
    );
    const unread: CallOptions[] = [{ headers: { 'if-none-match': '*' } }];
    const unfit = tooLarge.map((rawBody) => ({ rawBody, headers: { 'content-type': 'application/json' } }));
    for (const route of routes) {
      const query = route.queryNames.length === 0 ? '' : requiredQuery(route);
      for (const sent of route.method === 'GET' ? unread : unfit) {
        const answer = await send(route, text(route, uuid), query, sent);
        check(route, answer, Object.keys(sent).join());
        if (answer.status === 413) break;
      }
    }
  });

  // Proves D3.1.
  it('every status that was seen is in the description of its route', () => {
    const missing = routes.flatMap(({ operationId, statuses }) =>
      [...(seenBy.get(operationId) ?? [])]
        .filter((status) => !statuses.includes(status))
        .map((status) => `${operationId} ${status}`),
    );
    expect(missing).toEqual([]);
    const seen = new Set([...seenBy.values()].flatMap((statuses) => [...statuses]));
    for (const status of ['200', '304', '400', '404', '413', '415']) expect(seen).toContain(status);
  });

  it('CORS: only public reads and the description are open to other origins', async () => {
    const headers = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' };
    for (const route of routes) {
      const path = fillPath(route.path, text(route, 'x'));
      const preflight = await gateway.call('OPTIONS', path, { key: null, headers });
      const answer = await gateway.call(route.method, path, { key: null, headers });
      const allowed = [preflight, answer].map((one) => one.headers.get('access-control-allow-origin'));
      const where = `${route.method} ${route.path}`;
      if (route.access !== 'public' && route.access !== 'widget') {
        const open = routes.some((other) => other.path === route.path && other.access === 'public');
        if (!open) expect(allowed, where).toEqual([null, null]);
      }
      for (const one of [preflight, answer]) {
        expect(one.headers.get('access-control-allow-credentials'), where).toBe(null);
      }
    }
  });
});
