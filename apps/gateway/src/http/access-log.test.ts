import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type CallOptions, call } from '../../../../test/harness/call.ts';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { insertKey, type Shell, startShell } from '../../../../test/harness/shell.ts';
import { until } from '../../../../test/harness/until.ts';
import { newId } from '../lib/ids.ts';
import { prepareAnswer } from './prepared-answer.ts';
import { preparedRoute } from './prepared-route.ts';
import { route } from './route.ts';

const PARTNER = newId();
const EMAIL = 'ada.lovelace@example.com';
const QUERY_VALUE = 'Lovelace-1815';
const FIELDS = ['level', 'time', 'request_id', 'method', 'route', 'status', 'ms', 'key_id', 'msg'];

describe('one line for every request', () => {
  let database: TestDatabase;
  let shell: Shell;
  let key: string;
  let keyId: string;
  let letGo: () => void;
  let slowSocket: Socket;
  let started = 0;
  const logs: string[] = [];
  const stream = new PassThrough();

  beforeAll(async () => {
    database = await openTestDatabase();
    await insertPartner(database.owner, PARTNER);
    key = await insertKey(database.owner, 'partner', PARTNER);
    const { rows } = await database.owner.query('SELECT key_id FROM api_keys WHERE owner_id = $1', [PARTNER]);
    keyId = rows[0].key_id;
    shell = await startShell({
      databaseUrl: database.url,
      onLog: (line) => logs.push(line),
      publicPerMinute: 1_000,
      partnerPerMinute: 1_000,
      routes: (app, deps) => {
        const spec = { tag: 'Orders', summary: 'x', data: Type.Object({}) } as const;
        const body = Type.Object({ email: Type.Optional(Type.String({ maxLength: 40 })) });
        route(app, {
          access: 'partner',
          transaction: 'unit',
          deps,
          ...spec,
          method: 'POST',
          url: '/api/v1/t/things/:id',
          operationId: 'things',
          body,
          handle: async () => ({}),
        });
        route(app, {
          access: 'partner',
          transaction: 'none',
          ...spec,
          method: 'GET',
          url: '/api/v1/t/slow',
          operationId: 'slow',
          handle: ({ request }) =>
            new Promise<object>((resolve) => {
              started += 1;
              slowSocket = request.raw.socket;
              letGo = () => resolve({});
            }),
        });
        route(app, {
          access: 'public',
          transaction: 'none',
          ...spec,
          method: 'GET',
          url: '/api/v1/t/broken',
          operationId: 'broken',
          handle: () => {
            throw new Error('broken');
          },
        });
        app.route({
          method: 'GET',
          url: '/api/v1/t/stream',
          config: { access: 'partner' },
          handler: (_request, reply) => reply.header('content-type', 'text/event-stream').send(stream),
        });
        const prepared = { answer: prepareAnswer({ a: 1 }), ageSeconds: 0 };
        preparedRoute(
          app,
          {
            envelope: 'supported',
            url: '/api/v1/t/prepared',
            operationId: 'p',
            tag: 'Gateway',
            summary: 'x',
            data: Type.Object({}),
          },
          () => prepared,
        );
      },
    });
  });
  afterAll(async () => {
    await shell?.stop();
    await database?.close();
  });
  beforeEach(() => {
    logs.length = 0;
  });

  const ask = (method: string, path: string, options: CallOptions = {}) =>
    call(shell.baseUrl, method, path, { key, ...options });
  const post = (rawBody: string, contentType = 'application/json') =>
    ask('POST', `/api/v1/t/things/${encodeURIComponent(EMAIL)}?name=${QUERY_VALUE}`, {
      rawBody,
      headers: { 'content-type': contentType },
    });

  const linesWith = (requestId: string) =>
    logs
      .map((line) => JSON.parse(line))
      .filter(({ msg, request_id }) => msg === 'request' && request_id === requestId);

  const idOf = (answer: Answer) => answer.headers.get('x-request-id') ?? 'none';
  const THINGS = '/api/v1/t/things/:id';

  it.each<[string, () => Promise<Answer>, number, string | null, boolean]>([
    ['an answer', () => post('{}'), 200, THINGS, true],
    ['a prepared answer', () => ask('GET', '/api/v1/t/prepared'), 200, '/api/v1/t/prepared', false],
    ['a missing key', () => ask('GET', '/api/v1/t/slow', { key: null }), 401, '/api/v1/t/slow', false],
    ['an unknown key', () => ask('GET', '/api/v1/t/slow', { key: `${key}x` }), 401, '/api/v1/t/slow', false],
    ['no such route', () => ask('GET', `/api/v1/${EMAIL}?name=${QUERY_VALUE}`), 404, null, false],
    ['a body for no such route', () => ask('POST', '/api/v1/nope', { rawBody: '{"a":' }), 400, null, false],
    ['too much for no such route', () => ask('POST', '/nope', { rawBody: tooMuch() }), 413, null, false],
    ['a path that is none', () => ask('GET', '/api/v1/%zz'), 400, null, false],
    ['a body that is too large', () => post(tooMuch()), 413, THINGS, true],
    ['a type that is no JSON', () => post(`<email>${EMAIL}</email>`, 'text/xml'), 415, THINGS, true],
    ['malformed JSON', () => post(`{"email":"${EMAIL}"`), 400, THINGS, true],
    ['a field that is not valid', () => post(`{"email":"${EMAIL.repeat(9)}"}`), 400, THINGS, true],
    ['a failure', () => ask('GET', '/api/v1/t/broken'), 500, '/api/v1/t/broken', false],
    ['an odd method', () => ask('DELETE', '/api/v1/t/slow'), 404, null, false],
    ['a HEAD', () => ask('HEAD', '/api/v1/t/prepared'), 200, '/api/v1/t/prepared', false],
  ])('%s is found by its X-Request-Id', async (_what, request, status, route, withKey) => {
    const answer = await request();
    expect(answer.status, answer.text).toBe(status);
    const found = linesWith(idOf(answer));
    expect(found).toEqual([
      expect.objectContaining({ level: 'info', status, route, key_id: withKey ? keyId : null }),
    ]);
    expect(Object.keys(found[0])).toEqual(FIELDS);
    expect(found[0].ms).toBeGreaterThanOrEqual(0);
    expect(found[0].time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expectNothingPersonal();
  });

  it('a refusal for too many requests is found by its X-Request-Id, with the key', async () => {
    const limited = await startShell({
      databaseUrl: database.url,
      onLog: (line) => logs.push(line),
      partnerPerMinute: 1,
      routes: (app) => {
        const spec = { tag: 'Orders', summary: 'x', data: Type.Object({}) } as const;
        route(app, {
          access: 'partner',
          transaction: 'none',
          ...spec,
          method: 'GET',
          url: '/api/v1/t/a',
          operationId: 'a',
          handle: () => ({}),
        });
      },
    });
    try {
      const refused = await until('the limit to be used up', async () => {
        const answer = await call(limited.baseUrl, 'GET', '/api/v1/t/a', { key });
        return answer.status === 429 && answer;
      });
      expect(linesWith(idOf(refused))).toEqual([
        expect.objectContaining({ status: 429, route: '/api/v1/t/a', key_id: keyId, method: 'GET' }),
      ]);
    } finally {
      await limited.stop();
    }
  });

  it.each([
    ['garbage', '\x00\xff\x13garbage\r\n\r\n', 400],
    ['huge headers', `GET / HTTP/1.1\r\nhost: x\r\nx-big: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
  ])('%s in place of HTTP is found by the X-Request-Id of its answer', async (_what, bytes, status) => {
    const answer = await exchange(bytes);
    const id = /x-request-id: (\S+)/i.exec(answer)?.[1] ?? 'none';
    expect(linesWith(id)).toEqual([expect.objectContaining({ status, method: null, route: null })]);
  });

  it('a client that hangs up before the answer leaves one line that says so', async () => {
    const before = started;
    const socket = connectSocket(shell.port, '127.0.0.1');
    socket.write(
      `GET /api/v1/t/slow HTTP/1.1\r\nhost: x\r\nx-request-id: gone-1\r\nx-api-key: ${key}\r\n\r\n`,
    );
    await until('the request to be under way', () => started > before);
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    await until('the server to notice', () => slowSocket.destroyed);
    letGo();
    const [line, ...more] = await until('its line', () => {
      const found = linesWith('gone-1');
      return found.length > 0 && found;
    });
    expect(line).toMatchObject({ route: '/api/v1/t/slow', key_id: keyId, aborted: true });
    expect(more).toEqual([]);
  });

  it('a client that hangs up in the middle of its body leaves one line and no failure of ours', async () => {
    const head = `POST /api/v1/t/things/1 HTTP/1.1\r\nhost: x\r\nx-request-id: gone-2\r\nx-api-key: ${key}\r\n`;
    await exchange(
      `${head}content-type: application/json\r\ncontent-length: 500\r\n\r\n{"email":"${EMAIL}`,
      true,
    );
    const [line, ...more] = await until('its line', () => {
      const found = linesWith('gone-2');
      return found.length > 0 && found;
    });
    expect(line).toMatchObject({ method: 'POST', route: THINGS, status: 400, key_id: keyId, aborted: true });
    expect(more).toEqual([]);
    expect(logs.filter((entry) => entry.includes('"level":"error"'))).toEqual([]);
    expectNothingPersonal();
  });

  it('a stream leaves its line when it begins, and none when it ends', async () => {
    stream.write('data: 1\n\n');
    const response = await fetch(`${shell.baseUrl}/api/v1/t/stream`, { headers: { 'x-api-key': key } });
    const id = response.headers.get('x-request-id') ?? 'none';
    expect(linesWith(id)).toEqual([
      expect.objectContaining({ status: 200, route: '/api/v1/t/stream', key_id: keyId }),
    ]);
    stream.end();
    expect(await response.text()).toBe('data: 1\n\n');
    expect(linesWith(id)).toHaveLength(1);
  });

  it('counts no request as under way that was answered or has gone', async () => {
    for (const path of ['/api/v1/%zz', '/nope', '/api/v1/t/broken']) await ask('GET', path);
    await ask('POST', '/nope', { rawBody: '{"a":' });
    expect(shell.metrics.httpRequests.inFlight).toBe(0);
  });

  it('an id of the client’s own is kept, unless it is a key', async () => {
    const given = (id: string) => ask('GET', '/nope', { headers: { 'x-request-id': id } });
    expect(idOf(await given('order-77:retry.1'))).toBe('order-77:retry.1');
    expect(linesWith('order-77:retry.1')).toHaveLength(1);
    const answer = await given(key);
    expect(idOf(answer)).not.toContain(key);
    expect(linesWith(idOf(answer))).toHaveLength(1);
    expectNothingPersonal();
  });

  it('is left out where it is switched off', async () => {
    const lines: string[] = [];
    const quiet = await startShell({
      databaseUrl: database.url,
      onLog: (line) => lines.push(line),
      accessLog: false,
      routes: () => {},
    });
    expect((await call(quiet.baseUrl, 'GET', '/nope')).status).toBe(404);
    await quiet.stop();
    expect(lines.filter((line) => line.includes('"msg":"request"'))).toEqual([]);
  });

  function expectNothingPersonal(): void {
    const text = logs.join('\n');
    expect(logs.length).toBeGreaterThan(0);
    for (const secret of [EMAIL, 'lovelace', QUERY_VALUE, key, '127.0.0.1']) {
      expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
    }
  }

  const tooMuch = () => `{"email":"${'x'.repeat(1_048_576)}"}`;

  /** Sends bytes as they are and reads until the server hangs up. */
  function exchange(bytes: string, hangUp = false): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connectSocket(shell.port, '127.0.0.1');
      let answer = '';
      socket.setTimeout(5_000, () => reject(new Error('no answer')));
      socket.on('data', (chunk) => {
        answer += chunk.toString('latin1');
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', () => resolve(answer));
      socket.write(Buffer.from(bytes, 'latin1'), () => {
        if (hangUp) socket.destroy();
      });
    });
  }
});
