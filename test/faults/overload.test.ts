import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CausewayError, toPartnerErrorBody } from '@causeway/protocol';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, CallOptions } from '../harness/call.ts';
import { connect } from '../harness/database.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { openConnections } from '../load/connections.ts';
import { findPeak, slopeOf, summarise } from '../load/judge-load.ts';
import { runOpenLoop, seededRandom } from '../load/open-loop.ts';
import { createPartnerLoad, type LoadResult } from '../load/partner-requests.ts';
import { preparePartners } from '../load/prepare-partners.ts';
import { ordersDriver } from '../scenarios/orders-driver.ts';

/** Two seconds of what `npm run load` measures for minutes: how requests are answered, not how many. */
describe('more requests than a process may have in work', () => {
  const SECONDS = 2;
  let gateway: TestGateway;
  let result: LoadResult;
  const healthy: number[] = [];

  beforeAll(async () => {
    gateway = await startGateway({ worker: false, env: { API_REQUESTS_AT_ONCE: '1' } });
    const { baseUrl, sandbox, partners } = gateway;
    const prepared = await preparePartners({
      ...{ baseUrl, operatorKey: sandbox.operatorKey, partners: 2 },
      apiKeys: partners.map(({ apiKey }) => apiKey),
    });
    const load = createPartnerLoad(baseUrl, prepared);
    const mix = ['quote', 'read', 'list', 'initiate', 'discovery', 'cancel'] as const;
    // The first request of every kind compiles what it needs.
    await load.round({ seconds: 1, aSecond: 20, seed: 6, mix });
    const playing = load.round({ seconds: SECONDS, aSecond: 250, seed: 7, mix });
    for (let n = 0; n < 5; n++) healthy.push((await gateway.call('GET', '/health', { key: null })).status);
    result = await playing;
    load.close();
  });
  afterAll(() => gateway?.stop());

  it('are answered 200 or refused with 503 and a time to come again, and never with another 5xx', () => {
    const { statuses, broken, wrong } = summarise(result, SECONDS);
    expect(result.answers).toEqual(expect.objectContaining({ 'read 200': expect.any(Number) }));
    expect(statuses['200']).toBeGreaterThan(10);
    expect(statuses['503']).toBeGreaterThan(10);
    expect({ broken, wrong, withoutRetryAfter: result.withoutRetryAfter }).toEqual({
      ...{ broken: 0, wrong: 0, withoutRetryAfter: 0 },
    });
    const refused = Object.keys(result.answers).filter((line) => line.includes(' 503 '));
    expect(refused.every((line) => line.endsWith(' SERVICE_UNAVAILABLE'))).toBe(true);
  });

  it('do not keep out what is answered from memory, nor the probes of health', () => {
    expect(Object.keys(result.answers)).toContain('discovery 200');
    expect(Object.keys(result.answers)).not.toContain('discovery 503 service_unavailable');
    expect(healthy.length).toBeGreaterThan(0);
    expect(new Set(healthy)).toEqual(new Set([200]));
  });

  it('are counted, and served again when there are fewer', async () => {
    const { values } = await gateway.deps.metrics.httpOverloadRefusedTotal.get();
    expect(values[0]?.value).toBeGreaterThan(10);
    await until('a request to be served', async () => {
      return (await gateway.call('GET', '/api/v1/partner/orders')).status === 200;
    });
  });
});

describe('a process that has too many requests in work', () => {
  let gateway: TestGateway;
  let owner: pg.Client;
  let held: Promise<Answer>;
  const refused = (method: string, options: CallOptions = {}) =>
    gateway.call(method, '/api/v1/partner/orders', options);

  beforeAll(async () => {
    gateway = await startGateway({ worker: false, env: { API_REQUESTS_AT_ONCE: '1' } });
    const orderId = await ordersDriver(gateway).onrampOrder();
    owner = await connect(gateway.databaseUrl);
    await owner.query('BEGIN');
    await owner.query('SELECT 1 FROM orders WHERE order_id = $1 FOR UPDATE', [orderId]);
    // In work until the row is let go.
    held = gateway.call('POST', `/api/v1/partner/orders/${orderId}/cancel`);
    await until('the first refusal', async () => (await refused('GET')).status === 503);
  });
  afterAll(async () => {
    await owner?.end();
    await gateway?.stop();
  });

  it('refuses a known partner at the door, with the headers and the body of any refusal', async () => {
    const answer = await refused('GET', { headers: { 'x-request-id': 'mine-1' } });
    expect(answer.status).toBe(503);
    expect(answer.body).toEqual(toPartnerErrorBody(new CausewayError('SERVICE_UNAVAILABLE')));
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...{ 'x-request-id': 'mine-1', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
      ...{ 'retry-after': '1', 'content-type': 'application/json; charset=utf-8' },
    });
    const text = await gateway.deps.metrics.registry.metrics();
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="overload",status="503"\} [1-9]/,
    );
  });

  it('refuses before a body is judged, and sends none for HEAD', async () => {
    const quote = '/api/v1/partner/onramp/quote';
    const written = await gateway.call('POST', quote, { rawBody: `{"note":"${'x'.repeat(50_000)}` });
    expect(written.status).toBe(503);
    const head = await refused('HEAD');
    expect([head.status, head.text]).toEqual([503, '']);
  });

  it('serves another partner that has nothing in work, what is answered from memory, and files', async () => {
    const other = await refused('GET', { key: gateway.partners[1].apiKey });
    expect(other.status).toBe(200);
    const liquidity = '/api/v1/partner/liquidity?fiat_currency=EUR';
    expect((await gateway.call('GET', liquidity)).status).toBe(200);
    expect((await gateway.call('GET', '/api/v1/partner/exports/orders.csv')).status).toBe(200);
    const statement = `/api/v1/partner/exports/fiat-accounts/${crypto.randomUUID()}.csv`;
    expect((await gateway.call('GET', statement)).status).toBe(404);
    expect((await gateway.call('GET', '/api/v1/supported/corridors', { key: null })).status).toBe(200);
  });

  it('tells a wrong key that it is wrong, as ever', async () => {
    expect((await refused('GET', { key: `${gateway.partners[0].apiKey}x` })).status).toBe(401);
    expect((await refused('GET', { key: null })).status).toBe(401);
  });

  it('goes on with what it has begun, and serves again', async () => {
    await owner.query('COMMIT');
    expect((await held).status).toBe(200);
    expect((await refused('GET')).status).toBe(200);
  });
});

describe('the generator of load', () => {
  let server: Server;
  let port: number;
  let stalled: Promise<void> = Promise.resolve();

  beforeAll(async () => {
    server = createServer((_request, response) => {
      void stalled.then(() => response.end('{}'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  it('sends what is due while a server stands still, and counts from when it was due', async () => {
    // One connection: all but the first wait at the client, which a closed loop would not have sent at all.
    const connections = openConnections({ host: '127.0.0.1', port }, 1);
    const stall = Promise.withResolvers<void>();
    stalled = stall.promise;
    setTimeout(stall.resolve, 300);
    const latencies: number[] = [];
    await runOpenLoop({
      ...{ seconds: 0.3, aSecond: 100, random: seededRandom(1) },
      send: async (_n, due) => {
        await connections.request('GET / HTTP/1.1\r\nhost: x\r\n\r\n', 5_000);
        latencies.push(performance.now() - due);
      },
    });
    connections.close();
    expect(latencies.length).toBeGreaterThan(15);
    expect(latencies.filter((ms) => ms > 100).length).toBeGreaterThan(latencies.length / 2);
  });

  it('draws the same schedule from the same seed, at the rate that was asked for', async () => {
    const schedule = async (seed: number) => {
      const dues: number[] = [];
      const began = performance.now();
      const send = async (_n: number, due: number) => void dues.push(due - began);
      await runOpenLoop({ seconds: 0.2, aSecond: 1_000, random: seededRandom(seed), send });
      return dues.map((due, n) => due - (dues[n - 1] ?? due)).map((ms) => ms.toFixed(6));
    };
    const [one, again, other] = [await schedule(3), await schedule(3), await schedule(4)];
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
    expect(one.length).toBeGreaterThan(150);
    expect(one.length).toBeLessThan(250);
  });

  it('finds the rate up to which answers follow requests, and the slope of samples', async () => {
    const capacity = 250;
    const peak = await findPeak(60, async (aSecond) => ({
      ...{ goodput: Math.min(aSecond, capacity), offered: aSecond },
      ...{ statuses: {}, broken: 0, refused: 0, wrong: 0 },
    }));
    expect(peak).toBeGreaterThan(0.85 * capacity);
    expect(peak).toBeLessThan(1.06 * capacity);
    expect(slopeOf([1, 3, 5, 7])).toBe(2);
  });

  it('takes no rate for the peak that is followed once and then is not', async () => {
    let measured = 0;
    const peak = await findPeak(60, async (aSecond) => ({
      ...{ goodput: aSecond > 200 && measured++ % 2 === 1 ? 0 : aSecond, offered: aSecond },
      ...{ statuses: {}, broken: 0, refused: 0, wrong: 0 },
    }));
    expect(peak).toBeGreaterThan(160);
    expect(peak).toBeLessThanOrEqual(200);
  });
});
