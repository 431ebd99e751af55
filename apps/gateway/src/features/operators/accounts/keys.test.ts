import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../../../../../../test/harness/call.ts';
import { startGateway, type TestGateway } from '../../../../../../test/harness/gateway.ts';
import { type Shell, startShell } from '../../../../../../test/harness/shell.ts';
import { until } from '../../../../../../test/harness/until.ts';
import { SYSTEM } from '../../../db/database.ts';
import { unitOfWork } from '../../../engine/unit-of-work.ts';
import { route } from '../../../http/route.ts';
import { issueKey } from '../../api-keys/keys.ts';

/** Refused within this, everywhere. */
const REVOCATION_MS = 1_000;

describe('keys that operators make and revoke', () => {
  let gateway: TestGateway;
  /** Another process of the same deployment, as far as keys are concerned. */
  let second: Shell;
  let partnerId: string;
  let vendorId: string;
  beforeAll(async () => {
    gateway = await startGateway();
    second = await startShell({
      databaseUrl: gateway.databaseUrl,
      routes: (app) => {
        const common = { method: 'GET', tag: 'Orders', summary: 'x', data: Type.Object({}) } as const;
        route(app, {
          access: 'partner',
          transaction: 'none',
          ...common,
          operationId: 'p',
          url: '/api/v1/t/secret',
          handle: () => ({}),
        });
        route(app, {
          access: 'vendor',
          transaction: 'none',
          ...common,
          operationId: 'v',
          url: '/api/v1/t/vendor',
          handle: () => ({}),
        });
        route(app, {
          access: 'operator',
          transaction: 'none',
          ...common,
          operationId: 'o',
          url: '/api/v1/t/operator',
          handle: () => ({}),
        });
      },
    });
    partnerId = (await operator('GET', '/partners')).body.data.partners[0].partner_id;
    vendorId = (await operator('GET', '/vendors')).body.data.vendors[0].vendor_id;
  });
  afterAll(async () => {
    await second?.stop();
    await gateway?.stop();
  });

  const operator = (method: string, path: string, body?: unknown, key = gateway.sandbox.operatorKey) =>
    gateway.call(method, `/api/v1/operator${path}`, { body, key });
  const FIRST = {
    secret: '/api/v1/partner/users',
    vendor: '/api/v1/vendor/orders',
    operator: '/api/v1/operator/audit',
  };
  type Kind = keyof typeof FIRST;
  const onFirst = async (kind: Kind, key: string) => (await gateway.call('GET', FIRST[kind], { key })).status;
  const onSecond = async (kind: Kind, key: string) =>
    (await call(second.baseUrl, 'GET', `/api/v1/t/${kind}`, { key })).status;
  const keysPath = (kind: Kind) =>
    ({
      secret: `/partners/${partnerId}/keys`,
      vendor: `/vendors/${vendorId}/keys`,
      operator: '/operator-keys',
    })[kind];

  // Proves D2.2, D2.3, D12.3.
  it.each(['secret', 'vendor', 'operator'] as const)(
    'a %s key works at once, is listed without itself, and is refused by every process within a second',
    async (kind) => {
      const path = keysPath(kind);
      const made = await operator('POST', path, { kind: 'secret', label: 'night shift' });
      expect(made.body.data).toMatchObject({ kind, label: 'night shift' });
      const { key, key_id, hint } = made.body.data;
      expect(await onFirst(kind, key)).toBe(200);
      await until('known elsewhere', async () => (await onSecond(kind, key)) === 200, REVOCATION_MS);
      const listed = await operator('GET', path);
      expect(listed.body.data.keys[0]).toMatchObject({
        key_id,
        hint,
        label: 'night shift',
        revoked_at: null,
      });
      expect(listed.text).not.toContain(key);

      const revoked = await operator('DELETE', `/keys/${key_id}?reason=left`);
      expect(revoked.status).toBe(200);
      expect(await onFirst(kind, key)).toBe(401);
      await until('refused elsewhere', async () => (await onSecond(kind, key)) === 401, REVOCATION_MS);
      const again = await operator('DELETE', `/keys/${key_id}`);
      expect([again.status, again.text]).toEqual([200, revoked.text]);
      expect((await operator('GET', path)).body.data.keys[0]).toMatchObject({
        ...revoked.body.data,
        status: 'revoked',
      });

      const subject = kind === 'operator' ? `operator-keys/${key_id}` : path.slice(1, -'/keys'.length);
      const { entries } = (await operator('GET', `/audit?subject=${subject}&limit=2`)).body.data;
      expect(entries).toMatchObject([
        { action: 'key.revoke', reason: 'left', before: { key_id } },
        { action: 'key.create', after: { key_id, kind } },
      ]);
    },
  );

  // Proves D2.2.
  it('secret keys tell a sandbox from a production deployment', async () => {
    const owner = { kind: 'partner', ownerId: partnerId } as const;
    const make = (sandbox: boolean) =>
      unitOfWork(gateway.deps, SYSTEM, async (unit) => issueKey(unit, sandbox, owner, ''));
    const [test, live] = [await make(true), await make(false)];
    expect(test.key).toMatch(/^cw_test_[0-9A-Za-z]{32}$/);
    expect(live.key).toMatch(/^cw_live_[0-9A-Za-z]{32}$/);
    expect(live.hint).toBe(`cw_live_…${live.key.slice(-4)}`);
  });

  // Proves D2.3.
  it('a partner rotates without a gap: other keys are untouched', async () => {
    const next = (await operator('POST', keysPath('secret'), { kind: 'secret' })).body.data;
    const last = (await operator('POST', keysPath('secret'), { kind: 'secret' })).body.data;
    await operator('DELETE', `/keys/${next.key_id}`);
    expect([await onFirst('secret', next.key), await onFirst('secret', last.key)]).toEqual([401, 200]);
  });

  it('a kind of key that partners cannot have is refused', async () => {
    for (const kind of ['operator', 'vendor', 'partner', undefined]) {
      expect((await operator('POST', keysPath('secret'), { kind })).status).toBe(400);
    }
    const long = { kind: 'secret', label: 'x'.repeat(201) };
    expect((await operator('POST', keysPath('secret'), long)).status).toBe(400);
  });

  it('only an operator key opens these routes', async () => {
    const { apiKey, widgetKey } = gateway.partners[0];
    for (const key of [apiKey, widgetKey, gateway.sandbox.vendors[0]?.apiKey ?? '', 'cw_operator_wrong']) {
      for (const path of ['/partners', '/vendors', '/operator-keys']) {
        expect((await operator('GET', path, undefined, key)).status).toBe(401);
        expect((await operator('POST', path, {}, key)).status).toBe(401);
      }
      expect((await operator('DELETE', `/keys/${partnerId}`, undefined, key)).status).toBe(401);
    }
  });

  it('operators who revoke each other’s keys at the same time never lock all of them out', async () => {
    const made = (await operator('POST', '/operator-keys', { label: 'other' })).body.data;
    const live = async (key: string) =>
      ((await operator('GET', '/operator-keys?limit=100', undefined, key)).body.data.keys ?? []).filter(
        ({ revoked_at }: { revoked_at: string | null }) => revoked_at === null,
      ) as { key_id: string }[];
    const both = await live(made.key);
    expect(both).toHaveLength(2);
    const answers = await Promise.all(
      both.map(({ key_id }) => operator('DELETE', `/keys/${key_id}`, undefined, made.key)),
    );
    const [refused] = answers.filter(({ status }) => status !== 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    // Who lost its own key before it could ask is not even let in; the other is told why.
    expect(['OPERATION_NOT_ALLOWED', 'UNAUTHORIZED']).toContain(refused?.body.error.code);
    const survivor = (await onFirst('operator', made.key)) === 200 ? made.key : gateway.sandbox.operatorKey;
    const [last, ...others] = await live(survivor);
    expect(others).toEqual([]);
    const { status, body } = await operator('DELETE', `/keys/${last?.key_id}`, undefined, survivor);
    expect([status, body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    expect(await onFirst('operator', survivor)).toBe(200);
  });
});
