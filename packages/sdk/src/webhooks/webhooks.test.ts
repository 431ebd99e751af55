import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PARTNER_EVENTS } from '@causeway/protocol';
import fastify from 'fastify';
import { Value } from 'typebox/value';
import { describe, expect, it, vi } from 'vitest';
import {
  type CausewayEvent,
  constructEvent,
  constructEventFromRequest,
  createReceiver,
  createTestEvent,
  type DeduplicationStore,
  expressHandler,
  fastifyHandler,
  fetchHandler,
  honoHandler,
  memoryStore,
  nextHandler,
  nodeHandler,
  signBody,
  TEST_EVENT_TYPES,
  WebhookError,
} from './index.ts';

const secret = 'whsec_current';
const NOW = 1_790_000_000;
const BODY =
  '{"event_id":"evt_1","event_type":"order.status.changed","created_at":"x","data":{"order_id":"ä"}}';

/** As docs/guides/webhooks.md describes it, with another library. */
function sign(body: string | Uint8Array, key = secret, timestamp = NOW): string {
  return `sha256=${createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex')}`;
}
const headers = (more: Record<string, string> = {}) => ({
  'X-Service-Timestamp': `${NOW}`,
  'X-Service-Signature': sign(BODY),
  ...more,
});
const construct = (
  body: unknown = BODY,
  given: object = headers(),
  options: object = {},
  key: string | string[] = secret,
) => constructEvent(body as string, given as Record<string, string>, key, { now: NOW, ...options });
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error) => (error instanceof WebhookError ? error.code : String(error)),
  );

describe('constructEvent', () => {
  it('takes text, bytes or a request, and headers of any framework', async () => {
    const bytes = new TextEncoder().encode(BODY);
    const padded = new Uint8Array(bytes.length + 10);
    padded.set(bytes, 5);
    for (const body of [BODY, bytes, bytes.buffer, Buffer.from(BODY), padded.subarray(5, 5 + bytes.length)]) {
      expect((await construct(body)).event_id).toBe('evt_1');
    }
    const lower = { 'x-service-timestamp': [`${NOW}`], 'x-service-signature': sign(BODY) };
    expect((await construct(BODY, lower)).event_type).toBe('order.status.changed');
    expect((await construct(BODY, new Headers(headers()))).event_id).toBe('evt_1');
    const request = new Request('http://x', { method: 'POST', body: BODY, headers: headers() });
    expect((await constructEventFromRequest(request, secret, { now: NOW })).event_id).toBe('evt_1');
    expect(await codeOf(constructEventFromRequest(request, secret))).toBe('BODY_NOT_RAW');
  });

  it('refuses whatever was changed, by name', async () => {
    expect(await codeOf(construct(`${BODY} `))).toBe('SIGNATURE_MISMATCH');
    expect(await codeOf(construct(BODY, headers(), {}, 'another'))).toBe('SIGNATURE_MISMATCH');
    expect(await codeOf(construct(BODY, headers({ 'X-Service-Timestamp': `${NOW + 1}` })))).toBe(
      'SIGNATURE_MISMATCH',
    );
    expect(await codeOf(construct(BODY, headers({ 'X-Service-Signature': sign(BODY).slice(7) })))).toBe(
      'SIGNATURE_MISSING',
    );
    expect(await codeOf(construct(BODY, { 'X-Service-Timestamp': `${NOW}` }))).toBe('SIGNATURE_MISSING');
    expect(await codeOf(construct(BODY, { 'X-Service-Signature': sign(BODY) }))).toBe('TIMESTAMP_MISSING');
    expect(await codeOf(construct(BODY, headers({ 'X-Service-Timestamp': '1e9' })))).toBe(
      'TIMESTAMP_MISSING',
    );
    expect(await codeOf(construct(JSON.parse(BODY)))).toBe('BODY_NOT_RAW');
    expect(await codeOf(construct(BODY, headers(), {}, ''))).toBe('SECRET_MISSING');
    expect(await codeOf(construct(BODY, headers(), {}, []))).toBe('SECRET_MISSING');
    for (const body of ['nothing', '[]', 'null', '{"event_id":"e","event_type":"t"}']) {
      expect(await codeOf(construct(body, headers({ 'X-Service-Signature': sign(body) })))).toBe(
        'BODY_NOT_AN_EVENT',
      );
    }
  });

  it.each([
    ['a stamp with a sign', { 'X-Service-Timestamp': `+${NOW}` }, 'TIMESTAMP_MISSING'],
    ['a stamp with more behind it', { 'X-Service-Timestamp': `${NOW}.5` }, 'TIMESTAMP_MISSING'],
    ['a stamp of thirteen digits', { 'X-Service-Timestamp': '1790000000000' }, 'TIMESTAMP_MISSING'],
    ['an empty stamp', { 'X-Service-Timestamp': '' }, 'TIMESTAMP_MISSING'],
    ['a signature with more before it', { 'X-Service-Signature': `v1,${sign(BODY)}` }, 'SIGNATURE_MISSING'],
    ['a signature with more behind it', { 'X-Service-Signature': `${sign(BODY)}00` }, 'SIGNATURE_MISSING'],
    ['a signature cut short', { 'X-Service-Signature': sign(BODY).slice(0, -2) }, 'SIGNATURE_MISSING'],
    [
      'a signature of other letters',
      { 'X-Service-Signature': `sha256=${'g'.repeat(64)}` },
      'SIGNATURE_MISSING',
    ],
  ])('reads headers strictly: %s is none', async (_case, given, code) => {
    expect(await codeOf(construct(BODY, headers(given)))).toBe(code);
  });

  it('takes a signature in capitals, the first of several values, and the one good secret of many', async () => {
    const capitals = `sha256=${sign(BODY).slice(7).toUpperCase()}`;
    expect(await codeOf(construct(BODY, headers({ 'X-Service-Signature': capitals })))).toBe('accepted');
    const several = { ...headers(), 'X-Service-Signature': [sign(BODY), sign('other')] };
    expect(await codeOf(construct(BODY, several))).toBe('accepted');
    expect(await codeOf(construct(BODY, { ...headers(), 'X-Service-Signature': [] }))).toBe(
      'SIGNATURE_MISSING',
    );
    expect(await codeOf(construct(BODY, headers(), {}, [secret, 'another']))).toBe('accepted');
    expect(await codeOf(construct(BODY, headers(), {}, ['', secret]))).toBe('accepted');
    expect(await codeOf(constructEvent(BODY, headers(), undefined as unknown as string))).toBe(
      'SECRET_MISSING',
    );
    const absent = { get: (name: string) => (name === 'x-service-timestamp' ? `${NOW}` : null) };
    expect(await codeOf(construct(BODY, absent))).toBe('SIGNATURE_MISSING');
  });

  it.each(['null', 'undefined', '', '7', '[object Object]'])(
    'has no secret in what is none: a delivery that is signed with “%s” is forged',
    async (word) => {
      const forged = headers({ 'X-Service-Signature': sign(BODY, word) });
      const codeWith = (key: unknown) => codeOf(constructEvent(BODY, forged, key as string[], { now: NOW }));
      const nothing = [null, undefined, '', 7, {}];
      for (const key of [...nothing, nothing])
        expect(await codeWith(key), String(key)).toBe('SECRET_MISSING');
      expect(await codeWith([...nothing, secret])).toBe('SIGNATURE_MISMATCH');
      expect(await codeOf(construct(BODY, headers(), {}, [...nothing, secret] as string[]))).toBe('accepted');
      const receive = createReceiver({ secret: (() => [null]) as never, onEvent: () => {} });
      expect(await receive(BODY, forged)).toMatchObject({ status: 500, body: { reason: 'misconfigured' } });
    },
  );

  it('refuses what is signed and yet no event: wrong types, no data, text that is not UTF-8', async () => {
    for (const body of [
      '{"event_id":1,"event_type":"t","data":{}}',
      '{"event_id":"e","event_type":1,"data":{}}',
      '{"event_id":"e","event_type":"t","data":"x"}',
      '{"event_id":"e","event_type":"t","data":null}',
      Buffer.from([
        ...Buffer.from('{"event_id":"e","event_type":"t","data":{"x":"'),
        0xff,
        ...Buffer.from('"}}'),
      ]),
    ]) {
      const given = headers({ 'X-Service-Signature': sign(body) });
      expect(await codeOf(construct(body, given)), String(body)).toBe('BODY_NOT_AN_EVENT');
    }
  });

  it('goes by the machine’s clock where no time is given, and says how old a delivery is', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const stamped = (at: number) => ({
      'X-Service-Timestamp': `${at}`,
      'X-Service-Signature': sign(BODY, secret, at),
    });
    expect(await codeOf(constructEvent(BODY, stamped(now), secret))).toBe('accepted');
    await expect(constructEvent(BODY, stamped(now - 1_000), secret)).rejects.toThrow(
      /signed 100\d seconds ago/,
    );
  });

  it('refuses stamps that are too old or too far ahead', async () => {
    for (const [now, tolerance, code] of [
      [NOW + 300, undefined, 'accepted'],
      [NOW - 300, undefined, 'accepted'],
      [NOW + 301, undefined, 'TIMESTAMP_OUTSIDE_TOLERANCE'],
      [NOW - 301, undefined, 'TIMESTAMP_OUTSIDE_TOLERANCE'],
      [NOW + 61, 60, 'TIMESTAMP_OUTSIDE_TOLERANCE'],
      [NOW + 3_600, 3_600, 'accepted'],
    ] as const) {
      const options = { now, ...(tolerance === undefined ? {} : { toleranceSeconds: tolerance }) };
      expect(await codeOf(construct(BODY, headers(), options)), `${now} ${tolerance}`).toBe(code);
    }
  });

  it.each([
    ['toleranceSeconds', Number.NaN],
    ['toleranceSeconds', Number.POSITIVE_INFINITY],
    ['toleranceSeconds', -1],
    ['toleranceSeconds', '300'],
    ['toleranceSeconds', null],
    ['now', Number.NaN],
    ['now', Number.NEGATIVE_INFINITY],
  ])('refuses %s %s by its name: no delivery passes that is as old as one likes', async (name, value) => {
    const options = { [name]: value };
    const old = construct(BODY, headers(), { now: NOW + 1_000_000, ...options });
    await expect(old).rejects.toThrow(TypeError);
    await expect(old).rejects.toThrow(new RegExp(`^${name} is a number`));
    expect(() => createReceiver({ secret, onEvent: () => {}, ...options })).toThrow(name);
  });

  // Proves D10.3.
  it('accepts either side of a rotation: the new secret, the old one, or both in turn', async () => {
    const rotated = headers({
      'X-Service-Signature': sign(BODY, 'new'),
      'X-Service-Signature-Previous': sign(BODY, 'old'),
    });
    for (const key of ['new', 'old', ['another', 'old']])
      expect(await codeOf(construct(BODY, rotated, {}, key))).toBe('accepted');
    expect(await codeOf(construct(BODY, rotated, {}, 'older'))).toBe('SIGNATURE_MISMATCH');
  });
});

describe('test events', () => {
  it('are made of every type as the protocol has it, signed as the service signs', async () => {
    expect([...TEST_EVENT_TYPES].sort()).toEqual(Object.keys(PARTNER_EVENTS).sort());
    for (const type of TEST_EVENT_TYPES) {
      const made = await createTestEvent(type, {}, { secret, previousSecret: 'old', timestamp: NOW });
      expect(Value.Check(PARTNER_EVENTS[type].data, made.event.data), type).toBe(true);
      expect(made.headers['x-service-signature']).toBe(sign(made.body));
      expect(made.headers['x-service-signature-previous']).toBe(sign(made.body, 'old'));
      expect(await constructEvent(made.body, made.headers, secret, { now: NOW })).toEqual(made.event);
    }
    const { event } = await createTestEvent(
      'order.status.changed',
      { status: 'failed' },
      { secret, eventId: 'evt_7' },
    );
    expect([event.data.status, event.event_id]).toEqual(['failed', 'evt_7']);
    expect(await signBody(BODY, { secret, timestamp: NOW })).toMatchObject({
      'x-service-signature': sign(BODY),
    });
  });
});

describe('a receiver', () => {
  const delivery = (eventId = `evt_${crypto.randomUUID()}`) =>
    createTestEvent('webhook.test', {}, { secret, eventId });

  // Proves C6 rule 3.
  it('handles an event once, also when two deliveries of it come at the same time', async () => {
    const handled: CausewayEvent[] = [];
    let finish = () => {};
    const waiting = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const onEvent = (event: CausewayEvent) => {
      handled.push(event);
      return waiting;
    };
    const receive = createReceiver({ secret, onEvent });
    const { body, headers: signed } = await delivery();
    const first = receive(body, signed);
    // Signatures are checked beside one another, so the second delivery could otherwise be the one that is handled.
    await vi.waitFor(() => expect(handled).toHaveLength(1));
    expect(await receive(body, signed)).toEqual({
      status: 409,
      body: { received: false, reason: 'in_progress' },
    });
    finish();
    expect((await first).status).toBe(200);
    expect(await receive(body, signed)).toEqual({
      status: 200,
      body: { received: true, reason: 'duplicate' },
    });
    expect(handled).toHaveLength(1);
  });

  it('refuses limits that are none before it takes a delivery', () => {
    for (const answerWithin of [Number.NaN, Number.POSITIVE_INFINITY, -1]) {
      expect(() => createReceiver({ secret, onEvent: () => {}, answerWithin })).toThrow('answerWithin');
    }
    expect(() => memoryStore({ maxEntries: Number.NaN })).toThrow('maxEntries');
  });

  it('lets a failed event be delivered again, and answers in time while it works', async () => {
    const errors: unknown[] = [];
    let tries = 0;
    let finish = () => {};
    const receive = createReceiver({
      secret: async () => [secret],
      answerWithin: 30,
      onError: (error) => errors.push(error),
      onEvent: () => {
        tries += 1;
        if (tries === 1) throw new Error('no queue');
        return new Promise<void>((resolve) => {
          finish = resolve;
        });
      },
    });
    const { body, headers: signed } = await delivery();
    expect((await receive(body, signed)).status).toBe(500);
    expect(errors).toEqual([new Error('no queue')]);
    expect(await receive(body, signed)).toEqual({
      status: 503,
      body: { received: false, reason: 'still_working' },
    });
    finish();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await receive(body, signed)).body.reason).toBe('duplicate');
    expect(tries).toBe(2);
  });

  it('tells a wrong signature from a mistake of its own, and a broken store from both', async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error instanceof WebhookError ? error.code : error);
    const { body, headers: signed } = await delivery();
    const of = (more: object) => createReceiver({ secret, onEvent: () => {}, onError, ...more });
    expect(await of({ secret: 'other' })(body, signed)).toMatchObject({
      status: 400,
      body: { reason: 'signature_mismatch' },
    });
    expect((await of({})(JSON.parse(body), signed)).status).toBe(500);
    const store = { ...memoryStore(), claim: async () => Promise.reject('down') } as DeduplicationStore;
    expect((await of({ store })(body, signed)).status).toBe(500);
    expect(errors).toEqual(['SIGNATURE_MISMATCH', 'BODY_NOT_RAW', 'down']);
  });

  it('forgets the oldest ids of a full memory, and claims whose lease has ended', async () => {
    const store = memoryStore({ maxEntries: 2 });
    for (const id of ['a', 'b', 'c']) {
      expect(await store.claim(id, 60)).toBe('claimed');
      await store.complete(id);
    }
    expect(await Promise.all(['a', 'b', 'c'].map((id) => store.claim(id, 0)))).toEqual([
      'claimed',
      'handled',
      'handled',
    ]);
    expect(await store.claim('a', 60)).toBe('claimed');
    expect(await store.claim('a', 60)).toBe('in_progress');
  });
});

describe('handlers', () => {
  const events: CausewayEvent[] = [];
  const options = { secret, onEvent: (event: CausewayEvent) => events.push(event) };
  const wrong = { 'x-service-signature': `sha256=${'0'.repeat(64)}` };

  /** The same three deliveries to each: a good one, its repeat, and one that is not ours. */
  async function deliver(
    post: (body: string, headers: Record<string, string>) => Promise<{ status: number; text: string }>,
  ) {
    events.length = 0;
    const { body, headers: signed, event } = await createTestEvent('user.kyc.updated', {}, { secret });
    const answers = [
      await post(body, signed),
      await post(body, signed),
      await post(body, { ...signed, ...wrong }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
    expect(answers.map(({ text }) => JSON.parse(text).received)).toEqual([true, true, false]);
    expect(events).toEqual([event]);
  }
  const postTo = (url: string) => async (body: string, headers: Record<string, string>) => {
    const response = await fetch(url, { method: 'POST', body, headers });
    return { status: response.status, text: await response.text() };
  };

  it('node:http', async () => {
    const handler = nodeHandler(options);
    const server = createServer((request, response) => void handler(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      await deliver(postTo(url));
      expect((await fetch(url)).status).toBe(405);
      expect((await postTo(url)('x'.repeat(1024 * 1024 + 1), {})).status).toBe(413);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('Fastify, whose other routes still take parsed JSON', async () => {
    const app = fastify();
    await app.register(fastifyHandler({ ...options, path: '/hooks' }));
    app.post('/other', async (request) => ({ got: request.body }));
    const post = async (body: string, headers: Record<string, string>) => {
      const { statusCode: status, body: text } = await app.inject({
        method: 'POST',
        url: '/hooks',
        body,
        headers,
      });
      return { status, text };
    };
    await deliver(post);
    const other = await app.inject({ method: 'POST', url: '/other', payload: { a: 1 } });
    expect(other.json()).toEqual({ got: { a: 1 } });
    await app.close();
  });

  it('Next and other runtimes of Request and Response, and Hono', async () => {
    const hono = honoHandler(options);
    for (const handler of [
      fetchHandler(options),
      nextHandler(options),
      (raw: Request) => hono({ req: { raw } }),
    ]) {
      await deliver(async (body, headers) => {
        const response = await handler(new Request('http://x/hooks', { method: 'POST', body, headers }));
        return { status: response.status, text: await response.text() };
      });
      expect((await handler(new Request('http://x/hooks'))).status).toBe(405);
    }
  });

  it('Express: raw bytes, an unread body, and a parsed one that cannot be checked', async () => {
    const errors: unknown[] = [];
    const handler = expressHandler({ ...options, onError: (error) => errors.push(error) });
    // What express hands over: an IncomingMessage with `body` behind a parser, and a ServerResponse.
    const served = async (request: object) => {
      let text = '';
      const response = { statusCode: 0, setHeader: () => {}, end: (written: string) => (text = written) };
      await handler(request as never, response);
      return { status: response.statusCode, text };
    };
    await deliver((body, headers) => served({ method: 'POST', headers, body: Buffer.from(body) }));
    async function* unread(body: string) {
      yield Buffer.from(body.slice(0, 7));
      yield Buffer.from(body.slice(7));
    }
    await deliver((body, headers) => served(Object.assign(unread(body), { method: 'POST', headers })));
    const { body, headers: signed } = await createTestEvent('webhook.test', {}, { secret });
    errors.length = 0;
    expect((await served({ headers: signed, body: JSON.parse(body) })).status).toBe(500);
    expect(errors).toMatchObject([{ code: 'BODY_NOT_RAW' }]);
  });
});
