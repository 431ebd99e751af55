import type { Desk } from '@causeway/protocol/console';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../../../test/harness/database.ts';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { until } from '../../../../../test/harness/until.ts';

const ROOT = '/api/v1/console';
const HOUR_MS = 3_600_000;

describe('what owners manage themselves at the console', () => {
  let gateway: TestGateway;
  let owner: Awaited<ReturnType<typeof connect>>;
  beforeAll(async () => {
    gateway = await startGateway();
    owner = await connect(gateway.databaseUrl);
  });
  afterAll(async () => {
    await owner?.end();
    await gateway?.stop();
  });

  type Call = (method: string, path: string, body?: unknown) => ReturnType<TestGateway['call']>;

  /** Signed in to a desk; `path` is below /console unless it begins with /api. */
  async function enter(desk: Desk, email?: string): Promise<Call> {
    const entered = await gateway.call('POST', `${ROOT}/sandbox-sign-in`, {
      key: null,
      body: { desk, ...(email === undefined ? {} : { email }) },
    });
    const cookie = entered.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    const { csrf_token } = (await gateway.call('GET', `${ROOT}/session`, { key: null, headers: { cookie } }))
      .body.data;
    return (method, path, body) =>
      gateway.call(method, path.startsWith('/api') ? path : ROOT + path, {
        key: null,
        body,
        headers: { cookie, 'x-csrf-token': csrf_token },
      });
  }
  const works = async (key: string, path = '/api/v1/partner/users') =>
    (await gateway.call('GET', path, { key })).status;

  it('a rolled key works until its grace is over and says so; the new one works at once', async () => {
    const partner = await enter('partner');
    const made = (await partner('POST', '/keys', { kind: 'secret', label: 'shop' })).body.data;
    expect(await works(made.key)).toBe(200);
    const rolled = await partner('POST', `/keys/${made.key_id}/roll`, { grace_hours: 2 });
    expect(rolled.body.data.key).toMatchObject({ kind: 'secret', label: 'shop' });
    const endsAt = Date.parse(rolled.body.data.old_key_ends_at);
    const both = await gateway.call('GET', '/api/v1/partner/users', { key: made.key });
    expect([both.status, both.headers.get('key-ends-at')]).toEqual([200, rolled.body.data.old_key_ends_at]);
    const fresh = await gateway.call('GET', '/api/v1/partner/users', { key: rolled.body.data.key.key });
    expect([fresh.status, fresh.headers.get('key-ends-at')]).toEqual([200, null]);
    expect((await partner('POST', `/keys/${made.key_id}/roll`, { grace_hours: 0 })).body.error.code).toBe(
      'OPERATION_NOT_ALLOWED',
    );

    const seconds = Math.floor((endsAt - gateway.deps.clock.date().getTime()) / 1_000);
    await gateway.partner.sandbox.advanceClock({ seconds: seconds - 60 });
    expect(await works(made.key)).toBe(200);
    await gateway.partner.sandbox.advanceClock({ seconds: 61 });
    expect(gateway.deps.clock.date().getTime() - endsAt).toBeLessThan(HOUR_MS);
    expect([await works(made.key), await works(rolled.body.data.key.key)]).toEqual([401, 200]);
    const { keys } = (await partner('GET', '/keys')).body.data;
    expect(keys.find(({ key_id }: { key_id: string }) => key_id === made.key_id)).toMatchObject({
      status: 'ended',
      replaced_by: rolled.body.data.key.key_id,
    });
  });

  it('without a grace, or revoked, a key ends at once; both are on record with who did it', async () => {
    const partner = await enter('partner');
    const made = (await partner('POST', '/keys', { kind: 'secret' })).body.data;
    const { key } = (await partner('POST', `/keys/${made.key_id}/roll`, { grace_hours: 0 })).body.data;
    expect([await works(made.key), await works(key.key)]).toEqual([401, 200]);
    const revoked = await partner('DELETE', `/keys/${key.key_id}`);
    expect([revoked.body.data.status, await works(key.key)]).toEqual(['revoked', 401]);

    const { body } = await partner('GET', '/session');
    const { entries } = (
      await gateway.call('GET', `/api/v1/operator/audit?subject=partners/${body.data.owner.id}&limit=3`, {
        key: gateway.sandbox.operatorKey,
      })
    ).body.data;
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      'key.revoke',
      'key.roll',
      'key.create',
    ]);
    expect(JSON.stringify(entries)).not.toContain(key.key);
  });

  it('an owner has a hundred keys that work at most, and room again once one is revoked or has ended', async () => {
    const partner = await enter('partner');
    const atOnce = await Promise.all(
      Array.from({ length: 110 }, () => partner('POST', '/keys', { kind: 'widget' })),
    );
    const made = atOnce.flatMap(({ status, body }) => (status === 200 ? [body.data.key_id as string] : []));
    const { rows } = await owner.query<{ live: number }>(
      `SELECT count(*)::int AS live FROM api_keys WHERE owner_id = (SELECT owner_id FROM api_keys WHERE key_id = $1)
          AND revoked_at IS NULL AND (ends_at IS NULL OR ends_at > $2)`,
      [made[0], gateway.deps.clock.date()],
    );
    expect(rows).toEqual([{ live: 100 }]);
    const [first, second] = made;
    const refused = [
      await partner('POST', '/keys', { kind: 'secret' }),
      await partner('POST', `/keys/${first}/roll`, { grace_hours: 0 }),
    ];
    expect(refused.map(({ body }) => body.error?.code)).toEqual([
      'OPERATION_NOT_ALLOWED',
      'OPERATION_NOT_ALLOWED',
    ]);
    await partner('DELETE', `/keys/${first}`);
    expect((await partner('POST', `/keys/${second}/roll`, { grace_hours: 1 })).status).toBe(200);
    expect((await partner('POST', '/keys', { kind: 'secret' })).body.error.code).toBe(
      'OPERATION_NOT_ALLOWED',
    );
    for (const id of made.slice(2)) await partner('DELETE', `/keys/${id}`);
    expect((await partner('POST', '/keys', { kind: 'secret' })).status).toBe(200);
  });

  it('keys are loaded anew where they or what they carry changed, not for a webhook that is set again and again', async () => {
    let news = 0;
    owner.on('notification', () => news++);
    await owner.query('LISTEN keys_changed');
    for (const port of [3001, 3002, 3003]) {
      const set = await gateway.partner.webhooks.set({ url: `http://127.0.0.1:${port}/` });
      expect(set.status, set.text).toBe(200);
    }
    const partner = await enter('partner');
    expect((await partner('PUT', '/widget/origins', { origins: ['https://news.example'] })).status).toBe(200);
    await until('the news', async () => news > 0);
    expect(news).toBe(1);
    await owner.query('UNLISTEN keys_changed');
  });

  it('a widget session ends with the key that was rolled away under it', async () => {
    const partner = await enter('partner');
    const made = (await partner('POST', '/keys', { kind: 'widget' })).body.data;
    const session = await gateway.call('POST', '/api/v1/widget/sessions', { key: made.key, body: {} });
    const { token } = session.body.data;
    expect((await gateway.call('GET', '/api/v1/widget/session', { key: token })).status).toBe(200);
    await partner('POST', `/keys/${made.key_id}/roll`, { grace_hours: 0 });
    expect((await gateway.call('GET', '/api/v1/widget/session', { key: token })).status).toBe(401);
  });

  it('a vendor manages its own; nobody reaches a key of another, and a viewer changes none', async () => {
    const [partner, vendor, operator] = [
      await enter('partner'),
      await enter('vendor'),
      await enter('operator'),
    ];
    const own = (await vendor('POST', '/keys', { label: 'bot' })).body.data;
    expect(own).toMatchObject({ kind: 'vendor', label: 'bot' });
    expect(await works(own.key, '/api/v1/vendor/orders')).toBe(200);
    for (const path of [`/keys/${own.key_id}/roll`, `/keys/${own.key_id}`]) {
      const method = path.endsWith('roll') ? 'POST' : 'DELETE';
      const body = method === 'POST' ? { grace_hours: 1 } : undefined;
      expect((await partner(method, path, body)).body.error.code).toBe('KEY_NOT_FOUND');
    }
    const listed = (await partner('GET', '/keys?limit=100')).body.data.keys;
    expect(listed.some(({ key_id }: { key_id: string }) => key_id === own.key_id)).toBe(false);
    expect((await operator('GET', '/keys')).body.error.code).toBe('OPERATION_NOT_ALLOWED');
    expect(await works(own.key, '/api/v1/vendor/orders')).toBe(200);
    await owner.query(`UPDATE console_users SET role = 'viewer' WHERE desk = 'vendor'`);
    expect((await vendor('DELETE', `/keys/${own.key_id}`)).body.error.code).toBe('FORBIDDEN');
  });

  it('tells when a key was last used', async () => {
    const partner = await enter('partner');
    const made = (await partner('POST', '/keys', { kind: 'secret', label: 'used' })).body.data;
    const lastUsed = async () =>
      (await partner('GET', '/keys')).body.data.keys.find(
        ({ key_id }: { key_id: string }) => key_id === made.key_id,
      )?.last_used_at;
    expect(await lastUsed()).toBeNull();
    await works(made.key);
    await until('noted', async () => (await lastUsed()) !== null, 5_000);
  });

  it('an operator sees of a key what its owner sees: its state, what took its place, when it was used', async () => {
    const [partner, operator] = [await enter('partner'), await enter('operator')];
    const { key_id, key } = (await partner('POST', '/keys', { kind: 'secret', label: 'seen' })).body.data;
    await works(key);
    await partner('POST', `/keys/${key_id}/roll`, { grace_hours: 1 });
    const { id } = (await partner('GET', '/session')).body.data.owner;
    const seenBy = async (who: Call, path: string) =>
      (await who('GET', path)).body.data.keys.find((each: { key_id: string }) => each.key_id === key_id);
    const own = await until('noted', async () => {
      const seen = await seenBy(partner, '/keys');
      return seen.last_used_at === null ? undefined : seen;
    });
    expect(own.status).toBe('ending');
    expect(await seenBy(operator, `/api/v1/operator/partners/${id}/keys`)).toEqual(own);
  });

  it('a partner sets the origins of its widget by the rules of the operator', async () => {
    const partner = await enter('partner');
    const refused = await partner('PUT', '/widget/origins', { origins: ['ftp://shop.example'] });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    const set = await partner('PUT', '/widget/origins', { origins: ['https://shop.example'] });
    expect(set.body.data.origins).toEqual(['https://shop.example']);
    expect((await partner('GET', '/widget')).body.data.origins).toEqual(['https://shop.example']);
    const { widgetKey } = gateway.partners[0];
    const frame = await gateway.call('GET', `/widget/frame?key=${widgetKey}`, { key: null });
    expect(frame.headers.get('content-security-policy')).toContain('frame-ancestors https://shop.example');
  });

  it('people see customers masked, and in full only by a call that is on record', async () => {
    const partner = await enter('partner');
    const input = { email: 'ada.lovelace@example.com', first_name: 'Ada', phone_number: '+4915112345678' };
    const { id } = (await gateway.call('POST', '/api/v1/partner/users', { body: input })).body.data;
    const masked = await partner('GET', `/api/v1/partner/users/${id}`);
    expect(masked.body.data).toMatchObject({
      email: 'a****@example.com',
      first_name: 'A****',
      phone_number: '+****',
    });
    expect((await partner('GET', '/api/v1/partner/users')).text).not.toContain('lovelace');
    expect((await gateway.call('GET', `/api/v1/partner/users/${id}`)).body.data.email).toBe(input.email);
    const shown = await partner('POST', `/customers/${id}/reveal`);
    expect(shown.body.data).toMatchObject(input);
    const { rows } = await owner.query(
      `SELECT path FROM console_activity WHERE operation = 'revealCustomer'`,
    );
    expect(rows).toEqual([{ path: `${ROOT}/customers/${id}/reveal` }]);
  });
});
