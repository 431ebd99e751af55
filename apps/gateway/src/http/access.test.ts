import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, call } from '../../../../test/harness/call.ts';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { insertKey, revokeKey, type Shell, startShell } from '../../../../test/harness/shell.ts';
import { until } from '../../../../test/harness/until.ts';
import { newId } from '../lib/ids.ts';
import { route } from './route.ts';

const PARTNER = newId();
const logs: string[] = [];
const TOLD: Record<string, string> = {
  partner: 'secret key',
  widget: 'widget key',
  vendor: 'vendor’s key',
  operator: 'operator’s key',
};

describe('who may call', () => {
  let database: TestDatabase;
  let first: Shell;
  let second: Shell;
  let key: string;

  beforeAll(async () => {
    database = await openTestDatabase();
    await insertPartner(database.owner, PARTNER);
    key = await insertKey(database.owner, 'partner', PARTNER);
    const start = () =>
      startShell({
        databaseUrl: database.url,
        onLog: (line) => logs.push(line),
        routes: (app) => {
          const common = { method: 'POST', operationId: 'x', tag: 'Orders', summary: 'x' } as const;
          const data = Type.Object({ owner: Type.String() });
          const body = Type.Object({ amount: Type.String() });
          route(app, {
            access: 'partner',
            transaction: 'none',
            ...common,
            url: '/api/v1/t/partner',
            body,
            data,
            handle: (_input, { partnerId }) => ({
              owner: partnerId,
            }),
          });
          route(app, {
            access: 'vendor',
            transaction: 'none',
            ...common,
            operationId: 'v',
            url: '/api/v1/t/vendor',
            data,
            handle: (_input, vendor) => ({
              owner: vendor.vendorId,
            }),
          });
          route(app, {
            access: 'operator',
            transaction: 'none',
            ...common,
            operationId: 'o',
            url: '/api/v1/t/operator',
            data,
            handle: () => ({
              owner: 'operator',
            }),
          });
          route(app, {
            access: 'public',
            transaction: 'none',
            ...common,
            operationId: 'p',
            url: '/api/v1/t/public',
            data,
            handle: () => ({
              owner: 'nobody',
            }),
          });
        },
      });
    [first, second] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all([first?.stop(), second?.stop()]);
    await database?.close();
  });

  const ask = (shell: Shell, what: string, apiKey: string | null, body: unknown = { amount: '1' }) =>
    call(shell.baseUrl, 'POST', `/api/v1/t/${what}`, { key: apiKey, body });
  const UNAUTHORIZED = { success: false, error: { code: 'UNAUTHORIZED' } };

  async function cutListeners(): Promise<void> {
    await database.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'causeway-listener' AND datname = current_database()`,
    );
  }

  // Proves C5 rule 1, D2.4, C7 UNAUTHORIZED.
  it('no key, an empty one, a wrong one, one of absurd length: the same 401, byte for byte', async () => {
    const refused = await Promise.all(
      [null, '', ' ', 'cw_test_wrong', key.slice(0, -1), `${key}x`, key.toUpperCase(), 'k'.repeat(8_000)].map(
        (wrong) => ask(first, 'partner', wrong),
      ),
    );
    for (const answer of refused) {
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject(UNAUTHORIZED);
      expect(answer.text).toBe(refused[0]?.text);
    }
    expect((await ask(first, 'partner', key)).body.data).toEqual({ owner: PARTNER });
  });

  // Proves D13.10.
  it('a key opens the routes of its own kind only', async () => {
    const vendorId = newId();
    const keys = {
      partner: key,
      vendor: await insertKey(database.owner, 'vendor', vendorId),
      operator: await insertKey(database.owner, 'operator', null),
      widget: await insertKey(database.owner, 'widget', PARTNER),
    };
    await until(
      'the keys are known',
      async () => (await ask(first, 'operator', keys.operator)).status === 200,
    );
    for (const [kind, ownKey] of Object.entries(keys)) {
      for (const route of ['partner', 'vendor', 'operator']) {
        const { status, body, text } = await ask(first, route, ownKey);
        expect(status, `${kind} key on a ${route} route`).toBe(kind === route ? 200 : 401);
        if (kind === route) continue;
        expect(body.error.details).toEqual({ required_key: route, given_key: kind });
        expect(body.error.message).toMatch(
          new RegExp(`^This route takes an? .*${TOLD[route]}.*; an? .*${TOLD[kind]}`),
        );
        // Whether the key exists is not told: its beginning alone is looked at.
        const unknown = `${ownKey.slice(0, -1)}${ownKey.endsWith('0') ? '1' : '0'}`;
        expect((await ask(first, route, unknown)).text).toBe(text);
      }
    }
  });

  // Proves D13.10.
  it('Authorization: Bearer carries a key as well; two that differ are refused, a token of another kind is not ours', async () => {
    const send = (headers: Record<string, string>) =>
      call(first.baseUrl, 'POST', '/api/v1/t/partner', { key: null, body: { amount: '1' }, headers });
    const other = await insertKey(database.owner, 'partner', PARTNER);
    const accepted: Record<string, string>[] = [
      { authorization: `Bearer ${key}` },
      { authorization: `bearer   ${key} ` },
      { authorization: `Bearer ${key}`, 'x-api-key': key },
      { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.', 'x-api-key': key },
      { authorization: 'Basic dXNlcjpwYXNz', 'x-api-key': key },
      { authorization: `Bearer ${key}`, 'x-api-key': '' },
    ];
    for (const headers of accepted) {
      expect([headers, (await send(headers)).body.data]).toEqual([headers, { owner: PARTNER }]);
    }
    for (const authorization of [key, `Basic ${key}`, `Bearer`, `Bearer ${key} ${key}`, `Bearer ${key}x`]) {
      const refused = await send({ authorization });
      expect([authorization, refused.status, refused.headers.get('www-authenticate')]).toEqual([
        authorization,
        401,
        'Bearer',
      ]);
    }
    const both = await send({ authorization: `Bearer ${other}`, 'x-api-key': key });
    expect([both.status, both.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
    expect(both.body.error.message).toContain('different keys');
    expect(logs.some((line) => line.includes(key) || line.includes(other))).toBe(false);
  });

  it('401 comes before anything is said about the request: body, media type, size, JSON', async () => {
    const requests: CallOptions[] = [
      { body: { amount: 1 } },
      { rawBody: '{', headers: { 'content-type': 'application/json' } },
      { rawBody: 'a=b', headers: { 'content-type': 'text/plain' } },
      { body: { amount: 'x'.repeat(1_100_000) } },
      { body: {}, headers: { 'idempotency-key': 'k'.repeat(300) } },
    ];
    for (const request of requests) {
      const answer = await call(first.baseUrl, 'POST', '/api/v1/t/partner', { key: 'wrong', ...request });
      expect([answer.status, answer.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
    }
  });

  // Proves C5 rule 2, D2.1.
  it('a public route takes no key and ignores one it does not know', async () => {
    for (const any of [null, 'nonsense', key]) expect((await ask(first, 'public', any)).status).toBe(200);
  });

  // Proves D2.3.
  it('a partner rotates without a gap: two keys at once, then the old one is refused everywhere within a second', async () => {
    const next = await insertKey(database.owner, 'partner', PARTNER);
    await until('the new key works', async () => (await ask(second, 'partner', next)).status === 200, 1_000);
    expect((await ask(second, 'partner', key)).status).toBe(200);
    await revokeKey(database.owner, key);
    for (const shell of [first, second]) {
      await until('refused', async () => (await ask(shell, 'partner', key)).status === 401, 1_000);
      expect((await ask(shell, 'partner', next)).status).toBe(200);
    }
    key = next;
  });

  // Proves D2.3.
  it('a key revoked while notifications are cut off is refused at once', async () => {
    const doomed = await insertKey(database.owner, 'partner', PARTNER);
    await until('known', async () => (await ask(first, 'partner', doomed)).status === 200);
    await cutListeners();
    await until('the cut is noticed', () => !first.listener.healthy);
    await revokeKey(database.owner, doomed);
    expect((await ask(first, 'partner', doomed)).status).toBe(401);
    await until('reconnected', () => first.listener.healthy);
    expect((await ask(first, 'partner', doomed)).status).toBe(401);
    expect((await ask(first, 'partner', key)).status).toBe(200);
  });

  it('a refresh that fails makes memory untrusted, not stale', async () => {
    const doomed = await insertKey(database.owner, 'partner', PARTNER);
    await until('known', async () => (await ask(first, 'partner', doomed)).status === 200);
    logs.length = 0;
    await database.owner.query('ALTER TABLE partners RENAME TO partners_away');
    try {
      await revokeKey(database.owner, doomed);
      // Both shells write to one log: each has failed once two lines are there.
      const failures = () => logs.filter((line) => line.includes('refreshing keys failed')).length;
      await until('the refresh failed in both', () => failures() >= 2);
      expect((await ask(first, 'partner', doomed)).status).toBe(500);
    } finally {
      await database.owner.query('ALTER TABLE partners_away RENAME TO partners');
    }
    expect((await ask(first, 'partner', doomed)).status).toBe(401);
    await until('trusted again', async () => (await ask(first, 'partner', key)).status === 200);
  });

  // Proves D2.2.
  it('only a hash of a key is stored, and no key is ever logged', async () => {
    const { rows } = await database.owner.query('SELECT api_keys::text AS line FROM api_keys');
    expect(rows.some(({ line }) => line.includes(key))).toBe(false);
    expect(logs.some((line) => line.includes(key))).toBe(false);
  });

  it('a route that does not say who may call it keeps the server from starting', async () => {
    const undeclared = startShell({
      databaseUrl: database.url,
      routes: (app) => {
        app.get('/api/v1/t/forgotten', async () => 'x');
      },
    });
    await expect(undeclared).rejects.toThrow('does not say who may call it');
  });
});
