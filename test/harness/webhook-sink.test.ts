import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type ReceivedWebhook,
  startWebhookSink,
  type WebhookSink,
  type WebhookSinkOptions,
} from './webhook-sink.ts';
import { COMMON_FAULTS } from './webhook-sink-faults.ts';
import { signatureMatches } from './webhook-sink-signature.ts';
import type { Fault, FaultPlan } from './webhook-sink-types.ts';

const SECRET = 'whsec_example';
const TIMESTAMP = '1700000000';
const BODY =
  '{"event_id":"evt_1","event_type":"webhook.test","created_at":"2023-11-14T22:13:20.000Z","data":{"message":"héllo"}}';
// printf '%s' "$TIMESTAMP.$BODY" | openssl dgst -sha256 -hmac whsec_example
const OPENSSL_SIGNATURE = 'sha256=ede24648eabbd28b4aa2b37e9a3d5f40ee0ffd95600521865b9316199a5ef8b5';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function start(options: Partial<WebhookSinkOptions> = {}): Promise<WebhookSink> {
  const sink = await startWebhookSink({ tls: true, secret: SECRET, ...options });
  cleanups.push(() => sink.close());
  return sink;
}

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  bytes: number;
}

interface PostOptions {
  path?: string;
  body?: string;
  signature?: string;
  agent?: HttpsAgent | HttpAgent;
  timeoutMs?: number;
}

function post(sink: WebhookSink, options: PostOptions = {}): Promise<Answer> {
  const { path = '/hook', body = BODY, agent = false, timeoutMs = 5_000 } = options;
  const signature =
    options.signature ??
    `sha256=${createHmac('sha256', SECRET).update(`${TIMESTAMP}.${body}`).digest('hex')}`;
  const headers = { 'x-service-timestamp': TIMESTAMP, 'x-service-signature': signature };
  const signal = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const target = new URL(path, sink.url);
    const shared = { method: 'POST', headers, signal, agent };
    const request = sink.ca
      ? httpsRequest(target, { ...shared, agent: agent as HttpsAgent | false, ca: sink.ca })
      : httpRequest(target, shared);
    request.on('error', reject);
    request.on('response', (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes }),
      );
    });
    request.end(body);
  });
}

const eventBody = (id: string) =>
  JSON.stringify({
    event_id: id,
    event_type: 'webhook.test',
    created_at: '2024-01-01T00:00:00.000Z',
    data: {},
  });

describe.each([{ tls: true }, { tls: false }])('with tls $tls', ({ tls }) => {
  test('a delivery is recorded with its exact bytes before it is answered', async () => {
    const sink = await start({ tls, clock: () => 42 });
    const answer = await post(sink);
    expect(answer.status).toBe(200);
    expect(sink.received).toHaveLength(1);
    const [delivery] = sink.received;
    expect(delivery).toMatchObject({ at: 42, method: 'POST', path: '/hook', attempt: 1, fault: 'none' });
    expect(delivery?.signatureValid).toBe(true);
    expect(delivery?.rawBody.equals(Buffer.from(BODY))).toBe(true);
    expect(delivery?.event).toMatchObject({ event_id: 'evt_1', data: { message: 'héllo' } });
  });

  test('a reset reaches the client as ECONNRESET, and only one after the body is recorded', async () => {
    const sink = await start({ tls });
    // A mere end of the connection has the same code but comes from no system call.
    const reset = { code: 'ECONNRESET', syscall: expect.stringMatching(/^(read|write)$/) };
    sink.setFault({ kind: 'reset', when: 'before-body' });
    await expect(post(sink)).rejects.toMatchObject(reset);
    expect(sink.received).toHaveLength(0);
    sink.setFault({ kind: 'reset', when: 'after-body' });
    await expect(post(sink)).rejects.toMatchObject(reset);
    expect(sink.received.map(({ fault }) => fault)).toEqual(['reset']);
    expect(sink.counts).toMatchObject({ connections: 2, requests: 2, unreadRequests: 1 });
  });

  test('kept-alive requests share connections, and the counts show it', async () => {
    const sink = await start({ tls });
    const options = { keepAlive: true, maxSockets: 8 };
    const agent = tls ? new HttpsAgent(options) : new HttpAgent(options);
    cleanups.push(() => agent.destroy());
    await Promise.all(
      Array.from({ length: 400 }, (_, index) => post(sink, { agent, body: eventBody(`evt_${index}`) })),
    );
    expect(sink.counts.requests).toBe(400);
    expect(sink.counts.connections).toBeLessThanOrEqual(8);
    expect(sink.counts.openConnections).toBe(sink.counts.connections);
    expect(sink.received.every(({ signatureValid }) => signatureValid === true)).toBe(true);
    expect(new Set(sink.received.map(({ event }) => event?.event_id)).size).toBe(400);
  });
});

describe('signatures', () => {
  test('a signature made by openssl is accepted', async () => {
    const sink = await start();
    await post(sink, { signature: OPENSSL_SIGNATURE });
    expect(sink.received[0]?.signatureValid).toBe(true);
  });

  test.each([
    [
      'another secret',
      `sha256=${createHmac('sha256', 'other').update(`${TIMESTAMP}.${BODY}`).digest('hex')}`,
    ],
    ['no timestamp signed', `sha256=${createHmac('sha256', SECRET).update(BODY).digest('hex')}`],
    ['no scheme', OPENSSL_SIGNATURE.replace('sha256=', '')],
    ['upper case', OPENSSL_SIGNATURE.toUpperCase().replace('SHA256', 'sha256')],
    ['one digit short', OPENSSL_SIGNATURE.slice(0, -1)],
  ])('a signature with %s is reported as invalid', async (_, signature) => {
    const sink = await start();
    expect((await post(sink, { signature })).status).toBe(200);
    expect(sink.received[0]?.signatureValid).toBe(false);
  });

  test('a changed body or timestamp does not match', async () => {
    expect(await signatureMatches(SECRET, TIMESTAMP, Buffer.from(BODY), OPENSSL_SIGNATURE)).toBe(true);
    expect(await signatureMatches(SECRET, TIMESTAMP, Buffer.from(`${BODY} `), OPENSSL_SIGNATURE)).toBe(false);
    expect(await signatureMatches(SECRET, '1700000001', Buffer.from(BODY), OPENSSL_SIGNATURE)).toBe(false);
    expect(await signatureMatches(SECRET, undefined, Buffer.from(BODY), OPENSSL_SIGNATURE)).toBe(false);
  });

  test('each path is judged by its own secret, and not at all without one', async () => {
    const secrets: Record<string, string> = { '/a': SECRET, '/b': 'whsec_b' };
    const sink = await start({ secret: (path) => secrets[path] });
    for (const path of ['/a', '/b', '/c']) await post(sink, { path });
    expect(sink.received.map(({ signatureValid }) => signatureValid)).toEqual([true, false, null]);
  });
});

describe('faults', () => {
  test.each([500, 503, 404, 204])('answers status %d when told to', async (status) => {
    const sink = await start({ faults: { kind: 'status', status } });
    expect((await post(sink)).status).toBe(status);
  });

  test('redirects where told to', async () => {
    const sink = await start({ faults: { kind: 'redirect', location: 'http://127.0.0.1:1/' } });
    expect(await post(sink)).toMatchObject({ status: 301, headers: { location: 'http://127.0.0.1:1/' } });
  });

  test('hang reads the delivery and never answers', async () => {
    const sink = await start({ faults: { kind: 'hang' } });
    const posted = post(sink, { timeoutMs: 300 });
    await expect(posted).rejects.toMatchObject({ name: 'AbortError' });
    expect(sink.received.map(({ fault }) => fault)).toEqual(['hang']);
  });

  test('slow and slow-headers end in a 200 that takes at least the time of their bytes', async () => {
    const sink = await start({ tls: false });
    for (const [fault, leastMs] of [
      [{ kind: 'slow', bytes: 6, intervalMs: 20 }, 5 * 20],
      [{ kind: 'slow-headers', intervalMs: 4 }, 50 * 4],
    ] satisfies [Fault, number][]) {
      sink.setFault(fault);
      const began = performance.now();
      expect((await post(sink)).status).toBe(200);
      expect(performance.now() - began).toBeGreaterThan(leastMs);
    }
  });

  test('slow-headers over TLS still hides the status from a client that gives up early', async () => {
    const sink = await start({ faults: { kind: 'slow-headers', intervalMs: 50 } });
    await expect(post(sink, { timeoutMs: 300 })).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('a truncated answer ends before its promised length', async () => {
    const sink = await start({ faults: { kind: 'truncated' } });
    await expect(post(sink)).rejects.toMatchObject({ code: 'ECONNRESET', message: 'aborted' });
  });

  test('a huge answer arrives in full to a client that keeps reading', async () => {
    const bytes = 20_000_001;
    const sink = await start({ faults: { kind: 'huge', bytes } });
    expect(await post(sink)).toMatchObject({ status: 200, bytes });
  });

  test('a client that speaks no TLS is a connection and a failed handshake, not a request', async () => {
    const sink = await start();
    const client = connect(sink.port, '127.0.0.1').end('GET / HTTP/1.1\r\n\r\n').resume();
    await once(client, 'close');
    expect(sink.counts).toMatchObject({ connections: 1, failedHandshakes: 1, requests: 0 });
  });

  test('a client that leaves in the middle of its body is counted and not recorded', async () => {
    const sink = await start({ tls: false });
    const client = connect(sink.port, '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nhost: sink\r\ncontent-length: 100\r\n\r\nhalf');
    await vi.waitUntil(() => sink.counts.requests === 1);
    client.destroy();
    await vi.waitUntil(() => sink.counts.unreadRequests === 1);
    expect(sink.received).toHaveLength(0);
  });

  test('a client that does not trust the certificate connects and records nothing', async () => {
    const sink = await start();
    await expect(post({ ...sink, url: sink.url, ca: ' ' })).rejects.toThrow(/self-signed|unable to verify/);
    expect(sink.received).toHaveLength(0);
    expect(sink.counts).toMatchObject({ connections: 1, requests: 0 });
  });
});

async function kindsOf(plan: FaultPlan, paths: string[], seed = 7): Promise<Record<string, string[]>> {
  const sink = await start({ tls: false, faults: plan, seed });
  const kinds: Record<string, string[]> = {};
  for (const path of paths) {
    kinds[path] ??= [];
    kinds[path].push(String((await post(sink, { path })).status));
  }
  return kinds;
}

describe('plans', () => {
  const statuses: Fault[] = [500, 503, 404].map((status) => ({ kind: 'status', status }));

  test('a sequence is met once, in order', async () => {
    const { '/': met } = await kindsOf({ sequence: statuses }, Array(5).fill('/'));
    expect(met).toEqual(['500', '503', '404', '200', '200']);
  });

  test('a mix repeats with its seed, differs with another, and keeps to its probability', async () => {
    const plan: FaultPlan = { probability: 0.3, mix: statuses };
    const paths = Array(400).fill('/');
    const { '/': first = [] } = await kindsOf(plan, paths);
    expect((await kindsOf(plan, paths))['/']).toEqual(first);
    expect((await kindsOf(plan, paths, 8))['/']).not.toEqual(first);
    const faulty = first.filter((status) => status !== '200').length;
    expect(faulty).toBeGreaterThan(80);
    expect(faulty).toBeLessThan(160);
    expect(new Set(first)).toEqual(new Set(['200', '500', '503', '404']));
  });

  test('what a path meets does not depend on traffic to other paths', async () => {
    const mix: FaultPlan = { probability: 0.5, mix: statuses };
    const plan: FaultPlan = { paths: { '/a': mix, '/b': mix }, otherwise: { kind: 'status', status: 410 } };
    const alone = await kindsOf(plan, Array(40).fill('/a'));
    const mixed = await kindsOf(plan, Array(40).fill(['/b', '/a', '/b', '/x']).flat());
    expect(mixed['/a']).toEqual(alone['/a']);
    expect(mixed['/b']?.slice(0, 40)).not.toEqual(alone['/a']);
    expect(new Set(mixed['/x'])).toEqual(new Set(['410']));
  });

  test('a fault can depend on the attempt of each event', async () => {
    const sink = await start({
      faults: {
        kind: 'by-delivery',
        choose: ({ attempt }: ReceivedWebhook) =>
          attempt < 3 ? { kind: 'status', status: 500 } : { kind: 'none' },
      },
    });
    const met: number[] = [];
    for (const id of ['evt_a', 'evt_b', 'evt_a', 'evt_a', 'evt_b', 'evt_b']) {
      met.push((await post(sink, { body: eventBody(id) })).status);
    }
    expect(met).toEqual([500, 500, 500, 200, 500, 200]);
    expect(sink.received.map(({ attempt }) => attempt)).toEqual([1, 1, 2, 3, 2, 3]);
  });

  test('a plan that could never be right is refused', async () => {
    await expect(start({ faults: { probability: 1.5, mix: COMMON_FAULTS } })).rejects.toThrow(RangeError);
    await expect(start({ faults: { probability: 0.5, mix: [] } })).rejects.toThrow(RangeError);
  });
});

describe('waiting and ending', () => {
  test('past and coming deliveries are each shown to the predicate exactly once', async () => {
    const sink = await start();
    await post(sink, { body: eventBody('evt_1') });
    const seen: (string | undefined)[] = [];
    const waited = sink.waitFor(({ event }) => {
      seen.push(event?.event_id);
      return seen.length === 3;
    }, 5_000);
    for (const id of ['evt_2', 'evt_3', 'evt_4']) await post(sink, { body: eventBody(id) });
    expect((await waited).event?.event_id).toBe('evt_3');
    expect(seen).toEqual(['evt_1', 'evt_2', 'evt_3']);
  });

  test('a wait that times out says what was received instead', async () => {
    const sink = await start();
    await post(sink);
    await expect(sink.waitFor(() => false, 20)).rejects.toThrow(
      /1 received, the latest: webhook.test \(none\)/,
    );
  });

  test('a predicate that throws fails the wait with its own error', async () => {
    const sink = await start();
    const waited = sink.waitFor(() => {
      throw new TypeError('wrong shape');
    }, 5_000);
    await Promise.all([expect(waited).rejects.toThrow('wrong shape'), post(sink)]);
  });

  test('a body that is no event is kept as bytes', async () => {
    const sink = await start();
    for (const body of ['', 'not json', 'null', '[]', '{"event_id":1}']) await post(sink, { body });
    expect(sink.received.map(({ event, attempt }) => [event, attempt])).toEqual(Array(5).fill([null, 1]));
    expect(String(sink.received[1]?.rawBody)).toBe('not json');
  });

  test('closing ends hanging requests and pending waits', async () => {
    const sink = await startWebhookSink({ tls: true, faults: { kind: 'hang' } });
    const hanging = expect(post(sink)).rejects.toThrow();
    await sink.waitFor(() => true, 5_000);
    const waiting = expect(sink.waitFor(() => false, 60_000)).rejects.toThrow(/closed/);
    await sink.close();
    await Promise.all([hanging, waiting]);
  });

  test('a third of 1,000 deliveries failing in every common way breaks neither the sink nor the good ones', async () => {
    const sink = await start({ faults: { probability: 0.3, mix: COMMON_FAULTS }, seed: 20_240_101 });
    const agent = new HttpsAgent({ keepAlive: true });
    cleanups.push(() => agent.destroy());
    let [sent, answered] = [0, 0];
    const lane = async () => {
      while (sent < 1_000) {
        const posted = post(sink, { agent, body: eventBody(`evt_${sent++}`), timeoutMs: 1_500 });
        await posted.then(
          () => answered++,
          () => {},
        );
      }
    };
    await Promise.all(Array.from({ length: 64 }, lane));
    expect(answered).toBeGreaterThan(550);
    expect(sink.received.length + sink.counts.unreadRequests).toBe(sink.counts.requests);
    expect(new Set(sink.received.map(({ fault }) => fault))).toEqual(
      new Set(['none', 'status', 'hang', 'slow', 'reset', 'truncated']),
    );
    expect(sink.received.every(({ signatureValid }) => signatureValid === true)).toBe(true);
  });
});
