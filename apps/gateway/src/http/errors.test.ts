import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { CancelOrderInput, EvmAddress, TimestampInput, Uuid } from '@causeway/protocol';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, call } from '../../../../test/harness/call.ts';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { insertKey, type Shell, startShell } from '../../../../test/harness/shell.ts';
import { until } from '../../../../test/harness/until.ts';
import { prepareIntent } from '../engine/intent.ts';
import { newId } from '../lib/ids.ts';
import { route } from './route.ts';

const PARTNER = newId();
const SECRET = 'ten green bottles';
const logs: string[] = [];

describe('whatever is wrong is answered in the envelope', () => {
  let database: TestDatabase;
  let shell: Shell;
  let key: string;

  beforeAll(async () => {
    database = await openTestDatabase();
    await insertPartner(database.owner, PARTNER);
    key = await insertKey(database.owner, 'partner', PARTNER);
    shell = await startShell({
      databaseUrl: database.url,
      onLog: (line) => logs.push(line),
      routes: (app, deps) => {
        const spec = { tag: 'Orders', summary: 'x', data: Type.Object({}) } as const;
        route(app, {
          access: 'partner',
          transaction: 'unit',
          deps,
          ...spec,
          method: 'POST',
          url: '/api/v1/t/things',
          operationId: 'things',
          body: Type.Object({
            amount: Type.Optional(Type.String({ pattern: '^[0-9]+$' })),
            extra: Type.Unknown(),
            tags: Type.Optional(Type.Array(Type.Union([Uuid, EvmAddress]), { maxItems: 3 })),
          }),
          handle: async ({ body }, { partnerId }, unit) => {
            const payload = { user_id: (body.extra ?? null) as string };
            prepareIntent(unit, { kind: 'kyc.verify', dedupeKey: unit.ids.uuid(), partnerId, payload });
            return {};
          },
        });
        route(app, {
          access: 'partner',
          transaction: 'none',
          ...spec,
          method: 'POST',
          url: '/api/v1/t/stop',
          operationId: 'stop',
          body: CancelOrderInput,
          handle: async () => ({}),
        });
        route(app, {
          access: 'public',
          transaction: 'none',
          ...spec,
          method: 'GET',
          url: '/api/v1/t/lookup/:id',
          operationId: 'lookup',
          params: Type.Object({ id: Type.String() }),
          query: Type.Object({
            page: Type.Optional(Type.Integer({ minimum: 1 })),
            user: Type.Optional(Uuid),
            wallet: Type.Optional(EvmAddress),
            from: Type.Optional(TimestampInput('Inclusive')),
            odd: Type.Optional(Type.String({ pattern: '^[xyz]$' })),
          }),
          handle: async ({ params }) => {
            if (params.id === 'throw') throw new Error(SECRET);
            if (params.id === 'throw-text') throw SECRET;
            await shell.db.query({ kind: 'system' }, { name: 'test.lookup', text: 'SELECT $1::text' }, [
              params.id,
            ]);
            return {};
          },
        });
      },
    });
  });
  afterAll(async () => {
    await shell?.stop();
    await database?.close();
  });

  const ask = (method: string, path: string, options: CallOptions = {}) =>
    call(shell.baseUrl, method, path, { key, ...options });
  const json = (rawBody: string, contentType = 'application/json') =>
    ask('POST', '/api/v1/t/things', { rawBody, headers: { 'content-type': contentType } });

  async function expectRefusal(asked: ReturnType<typeof call>, status: number, code: string): Promise<void> {
    const answer = await asked;
    expect([answer.status, answer.body?.error?.code], answer.text).toEqual([status, code]);
    expect(Object.keys(answer.body)).toEqual(['success', 'error']);
    expect(answer.body.success).toBe(false);
    expect(typeof answer.body.error.message).toBe('string');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('x-request-id')).toBeTruthy();
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  }

  // Proves C2.1 row 3, C7 VALIDATION_ERROR.
  it.each([
    ['malformed JSON', '{"amount":'],
    ['half a JSON document', '{"amount":"1"} x'],
    ['a byte order mark alone', '\uFEFF'],
    ['a prototype key', '{"extra":1,"__proto__":{"admin":true}}'],
    ['a nested prototype key', '{"extra":{"a":[{"__proto__":{}}]}}'],
    ['a constructor key', '{"extra":{"constructor":{"prototype":{"x":1}}}}'],
    ['nesting without end', `{"extra":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
    ['nesting without end that never closes', '{"a":'.repeat(100_000)],
    ['values without end', `{"extra":[${'1,'.repeat(200_000)}1]}`],
    ['a bare value', '7'],
    ['null', 'null'],
    ['an array', '[]'],
    ['the wrong type', '{"extra":1,"amount":1}'],
    ['a missing field', '{}'],
    ['U+0000 in a text', '{"extra":"a\\u0000b"}'],
    ['U+0000 in the name of a field', '{"extra":{"a\\u0000b":1}}'],
    ['half a surrogate pair', '{"extra":["\\ud83d"]}'],
    ['the other half', '{"extra":{"a":"\\uDE00x"}}'],
  ])('%s is 400', async (_what, body) => {
    await expectRefusal(json(body), 400, 'VALIDATION_ERROR');
    await expectRefusal(
      ask('POST', '/api/v1/t/things', {
        rawBody: body,
        headers: { 'content-type': 'application/json', 'idempotency-key': newId() },
      }),
      400,
      'VALIDATION_ERROR',
    );
  });

  it('an array that is too long is told that and nothing of its items; a fitting one what is wrong in it', async () => {
    const problems = async (tags: readonly unknown[]) =>
      (await json(JSON.stringify({ extra: 1, tags }))).body.error.details.fields;
    const tooLong = { path: 'tags', message: 'must NOT have more than 3 items' };
    expect(await problems(Array(50_000).fill(1))).toEqual([tooLong]);
    expect(await problems([newId(), newId(), newId(), newId()])).toEqual([tooLong]);
    expect(await problems([newId(), 1, 'x'])).toMatchObject([{ path: 'tags.1' }, { path: 'tags.2' }]);
  });

  // Proves D3.4, C9 rule 2.
  it.each([
    ['a byte order mark before the document', '\uFEFF{"extra":1}', 'application/json'],
    ['duplicate keys', '{"extra":1,"extra":2}', 'application/json'],
    ['a charset', '{"extra":"ü"}', 'application/json; charset=utf-8'],
    ['odd capitals', '{"extra":1}', 'Application/JSON'],
    ['a surrogate pair as escapes', '{"extra":"\\ud83d\\ude00"}', 'application/json'],
    ['unknown fields', '{"extra":1,"unknown":{"a":[]}}', 'application/json'],
    ['brackets within a text', `{"extra":"${'['.repeat(500)}\\"${'{'.repeat(500)}"}`, 'application/json'],
    ['deep but sane nesting', `{"extra":${'['.repeat(60)}${']'.repeat(60)}}`, 'application/json'],
  ])('%s is understood', async (_what, body, contentType) => {
    expect((await json(body, contentType)).status).toBe(200);
  });

  // Proves C7 UNSUPPORTED_MEDIA_TYPE.
  it.each([
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'nonsense',
    'application/jsonp',
  ])('a body of type %s is 415', async (contentType) =>
    expectRefusal(json('{"extra":1}', contentType), 415, 'UNSUPPORTED_MEDIA_TYPE'),
  );

  // Proves D4.2, C7 PAYLOAD_TOO_LARGE.
  it('a body over 1 MiB is 413, announced or not', async () => {
    await expectRefusal(json(`{"extra":"${'x'.repeat(1_048_576)}"}`), 413, 'PAYLOAD_TOO_LARGE');
  });

  // Proves C7 ROUTE_NOT_FOUND.
  it('no route, the wrong method and a path that is none are answered alike', async () => {
    await expectRefusal(ask('GET', '/api/v1/nowhere'), 404, 'ROUTE_NOT_FOUND');
    await expectRefusal(ask('DELETE', '/api/v1/t/things'), 404, 'ROUTE_NOT_FOUND');
    await expectRefusal(ask('GET', '/nowhere'), 404, 'ROUTE_NOT_FOUND');
    await expectRefusal(ask('POST', '/'), 404, 'ROUTE_NOT_FOUND');
    await expectRefusal(ask('GET', '//evil.example/..'), 404, 'ROUTE_NOT_FOUND');
    await expectRefusal(ask('GET', '/api/v1/t/lookup/%E0%A4%A'), 400, 'VALIDATION_ERROR');
    await expectRefusal(ask('GET', '/api/v1/%zz'), 400, 'VALIDATION_ERROR');
  });

  // Proves D3.2.
  it('bad paths and queries are 400 and name the field', async () => {
    await expectRefusal(ask('GET', '/api/v1/t/lookup/a?page=zero'), 400, 'VALIDATION_ERROR');
    await expectRefusal(ask('GET', '/api/v1/t/lookup/a%00b'), 400, 'VALIDATION_ERROR');
    const answer = await ask('GET', '/api/v1/t/lookup/a?page=0');
    expect(answer.body.error.details.fields).toEqual([{ path: 'page', message: 'must be >= 1' }]);
    const long = await ask('GET', `/api/v1/t/lookup/${'x'.repeat(3_000)}`);
    expect(long.status).toBeLessThan(500);
    expect(long.body.success).toBe(false);
  });

  // Proves D3.2.
  it.each([
    [{ reason: 5 }, 'must be string'],
    [{ reason: 'x'.repeat(501) }, 'must NOT have more than 500 characters'],
  ])('a body that may be left out is not told that it is none: %o', async (body, message) => {
    const answer = await ask('POST', '/api/v1/t/stop', { body });
    expect(answer.body.error.details.fields).toEqual([{ path: 'reason', message }]);
    expect((await ask('POST', '/api/v1/t/stop', { body: { reason: 'x' } })).status).toBe(200);
  });

  it.each([
    ['user', 'x', 'must be a uuid'],
    ['wallet', '0x12', 'must be an address: 0x and 40 hexadecimal digits'],
    ['from', '2026-11-01', 'must be a time such as 2026-11-01T00:00:00Z'],
    ['from', '2026-13-01T00:00:00Z', 'must be a time such as 2026-11-01T00:00:00Z'],
    ['odd', 'a', 'does not have the form that is described'],
  ])('%s=%s is told in words, without a regular expression', async (path, value, message) => {
    const { status, body } = await ask('GET', `/api/v1/t/lookup/a?${path}=${value}`);
    expect([status, body.error.details.fields]).toEqual([400, [{ path, message }]]);
    expect(body.error.message).toBe(`The request is not valid: ${path} ${message}.`);
  });

  it('the value that was refused is not repeated to anybody', async () => {
    logs.length = 0;
    const answer = await json('{"extra":1,"amount":"GB33BUKB20201555555555"}');
    expect(answer.status).toBe(400);
    expect(`${answer.text}${logs.join('')}`).not.toContain('GB33BUKB');
  });

  // Proves D3.4, C7 INTERNAL_ERROR.
  it.each(['throw', 'throw-text'])(
    'an unexpected %s is 500 without a word of its reason, which is in the log',
    async (id) => {
      logs.length = 0;
      const answer = await ask('GET', `/api/v1/t/lookup/${id}`);
      expect([answer.status, answer.body.error.code]).toEqual([500, 'INTERNAL_ERROR']);
      expect(answer.text).not.toContain(SECRET);
      expect(answer.text).not.toMatch(/ at |\.ts|Error:/);
      expect(logs.some((line) => line.includes(SECRET))).toBe(true);
    },
  );

  // Proves D3.4.
  it('a broken database is 500 without a word of SQL', async () => {
    await database.owner.query('ALTER TABLE intents RENAME TO intents_away');
    try {
      const answer = await json('{"extra":1}');
      expect([answer.status, answer.body.error.code]).toEqual([500, 'INTERNAL_ERROR']);
      expect(answer.text).not.toMatch(/intents|relation|INSERT|42P01/i);
    } finally {
      await database.owner.query('ALTER TABLE intents_away RENAME TO intents');
    }
    expect((await json('{"extra":1}')).status).toBe(200);
  });

  // Proves D3.4.
  it('keeps a sane X-Request-Id and replaces any other', async () => {
    const idOf = async (given: string) =>
      (await ask('GET', '/api/v1/nowhere', { headers: { 'x-request-id': given } })).headers.get(
        'x-request-id',
      );
    expect(await idOf('trace-1.a:b_C')).toBe('trace-1.a:b_C');
    for (const odd of ['a b', '<script>', 'x'.repeat(129), '{"a":1}']) expect(await idOf(odd)).not.toBe(odd);
  });

  it.each([
    ['garbage', '\x00\xff\x13garbage\r\n\r\n', 400],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['huge headers', `GET / HTTP/1.1\r\nhost: x\r\nx-big: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
    [
      'two lengths',
      'POST /api/v1/t/things HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      400,
    ],
    [
      'length and chunks at once',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a line break in a header', 'GET / HTTP/1.1\r\nhost: x\r\nx-a: b\x01c\r\n\r\n', 400],
  ])('%s on the socket is answered in the envelope and hung up on', async (_what, bytes, status) => {
    const answer = await exchange(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.toLowerCase()).toContain('\r\nx-request-id: ');
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      success: false,
      error: { code: 'VALIDATION_ERROR' },
    });
  });

  it('a body that ends early or lies about its length does no harm', async () => {
    const head = `POST /api/v1/t/things HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n`;
    await exchange(`${head}content-length: 500\r\n\r\n{"extra":`, { hangUp: true });
    const invalid = await exchange(`${head}content-length: 13\r\nconnection: close\r\n\r\n{"extra":"\xff"}`);
    expect(invalid).toMatch(/^HTTP\/1.1 [24]00 /);
    expect((await json('{"extra":1}')).status).toBe(200);
  });

  const JSON_TYPE = 'content-type: application/json';
  it.each([
    ['things', 'a JSON type', JSON_TYPE, 400, 'VALIDATION_ERROR'],
    ['things', 'another type', 'content-type: text/csv', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['things', 'no type', 'accept: */*', 400, 'VALIDATION_ERROR'],
    ['things', 'a length of nothing', `${JSON_TYPE}\r\ncontent-length: 0`, 400, 'VALIDATION_ERROR'],
    ['no-such-route', 'a JSON type', JSON_TYPE, 404, 'ROUTE_NOT_FOUND'],
    ['lookup/1', 'a JSON type', JSON_TYPE, 404, 'ROUTE_NOT_FOUND'],
  ])(
    'a POST to %s with %s and no body is answered, never waited for',
    async (path, _what, header, status, code) => {
      const answer = await exchange(
        `POST /api/v1/t/${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: ${key}\r\n${header}\r\n\r\n`,
      );
      expect(answer).toContain(`HTTP/1.1 ${status} `);
      expect(answer).toContain(code);
    },
  );

  /** Sends bytes as they are and reads until the server hangs up. */
  function exchange(bytes: string, options: { hangUp?: boolean } = {}): Promise<string> {
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
        if (options.hangUp) socket.destroy();
      });
    });
  }
});

it('a server that stops answers what is under way and ends with it, though clients would keep their connections', async () => {
  const database = await openTestDatabase();
  let begun = () => {};
  let finish = () => {};
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const shell = await startShell({
    databaseUrl: database.url,
    routes: (app) =>
      route(app, {
        access: 'public',
        transaction: 'none',
        tag: 'Orders',
        summary: 'x',
        data: Type.Object({}),
        method: 'GET',
        url: '/api/v1/t/slow',
        operationId: 'slow',
        handle: () =>
          new Promise<object>((resolve) => {
            finish = () => resolve({});
            begun();
          }),
      }),
  });
  const unused = connectSocket(shell.port, '127.0.0.1');
  await once(unused, 'connect');
  const answer = call(shell.baseUrl, 'GET', '/api/v1/t/slow');
  await isBegun;
  const stopped = shell.stop();
  await until('it no longer listens', () =>
    call(shell.baseUrl, 'GET', '/health').then(
      () => false,
      () => true,
    ),
  );
  finish();
  expect((await answer).status).toBe(200);
  await stopped;
  await database.close();
}, 30_000);
