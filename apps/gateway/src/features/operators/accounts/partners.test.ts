import { randomUUID } from 'node:crypto';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../../test/harness/gateway.ts';

const newWallet = () => privateKeyToAddress(generatePrivateKey());

describe('the operator, partners and vendors', () => {
  let gateway: TestGateway;
  let chain: string;
  const logs: string[] = [];
  beforeAll(async () => {
    gateway = await startGateway({ onLog: (line) => logs.push(line) });
    chain = gateway.sandbox.chains[0]?.slug ?? '';
  });
  afterAll(() => gateway?.stop());

  const operator = (method: string, path: string, body?: unknown) =>
    gateway.call(method, `/api/v1/operator${path}`, { body, key: gateway.sandbox.operatorKey });
  const requested = () => ({
    name: `Partner 🏦 ${randomUUID()}`,
    settlement_chain: chain,
    wallet_address: newWallet(),
    platform_fee_pct: '0.250000',
    fiat_accounts_enabled: true,
  });
  const audit = async (subject: string) =>
    (await operator('GET', `/audit?subject=${subject}`)).body.data.entries as {
      action: string;
      before: unknown;
      after: unknown;
      reason: string;
    }[];

  // Proves C5 rule 3, D2.2, D12.3.
  it('a new partner calls the API at once, with the keys that were shown once and are stored nowhere', async () => {
    const asked = requested();
    const { status, body } = await operator('POST', '/partners', { ...asked, reason: 'contract 17' });
    expect(status).toBe(200);
    const { partner, secret_key, widget_key, webhook_secret } = body.data;
    expect(partner).toMatchObject({ ...asked, platform_fee_pct: '0.25' });
    const made = await gateway.call('POST', '/api/v1/partner/users', {
      key: secret_key.key,
      body: { email: 'first@example.com' },
    });
    expect(made.status).toBe(200);
    expect([secret_key.key, widget_key.key, webhook_secret].map((one) => one.slice(0, 8))).toEqual([
      'cw_test_',
      'cw_widge',
      expect.stringMatching(/^whsec_/),
    ]);

    const later = await Promise.all([
      operator('GET', `/partners/${partner.partner_id}`),
      operator('GET', '/partners?limit=100'),
      operator('GET', `/partners/${partner.partner_id}/keys`),
      operator('GET', `/audit?subject=partners/${partner.partner_id}`),
    ]);
    expect(later[0].body.data).toEqual(partner);
    expect(later[1].body.data.partners[0]).toEqual(partner);
    expect(later[2].body.data).toMatchObject({
      keys: [
        { key_id: widget_key.key_id, kind: 'widget', hint: widget_key.hint, revoked_at: null },
        { key_id: secret_key.key_id, kind: 'secret', hint: secret_key.hint, revoked_at: null },
      ],
      pagination: { total: 2 },
    });
    expect(later[3].body.data.entries).toMatchObject([{ action: 'partner.create', reason: 'contract 17' }]);
    const heard = [...later.map(({ text }) => text), ...logs].join('\n');
    for (const secret of [secret_key.key, widget_key.key, webhook_secret]) {
      expect(heard).not.toContain(secret);
    }
  });

  // Proves D12.3.
  it('what an operator changes is in force at once and on record with what it was before', async () => {
    const { partner, secret_key } = (await operator('POST', '/partners', requested())).body.data;
    const path = `/partners/${partner.partner_id}`;
    const wallet = newWallet();
    const changes = { wallet_address: wallet, platform_fee_pct: 1.5, fiat_accounts_enabled: false };
    const { status, body } = await operator('PATCH', path, { ...changes, reason: 'new terms' });
    expect([status, body.data]).toEqual([
      200,
      { ...partner, wallet_address: wallet, platform_fee_pct: '1.5', fiat_accounts_enabled: false },
    ]);
    expect(await gateway.deps.principals.find(secret_key.key)).toMatchObject({
      partner: { walletAddress: wallet, platformFeePct: '1.5', fiatAccountsEnabled: false },
    });
    expect((await audit(`partners/${partner.partner_id}`))[0]).toMatchObject({
      action: 'partner.change',
      reason: 'new terms',
      before: {
        wallet_address: partner.wallet_address,
        platform_fee_pct: '0.25',
        fiat_accounts_enabled: true,
      },
      after: { wallet_address: wallet, platform_fee_pct: '1.5', fiat_accounts_enabled: false },
    });
  });

  it('bad input is refused by the name of the field, and nothing is made', async () => {
    const total = async () => (await operator('GET', '/partners')).body.data.pagination.total;
    const before = await total();
    const good = requested();
    const lower = good.wallet_address.toLowerCase();
    const bad: [field: string, value: unknown][] = [
      ['settlement_chain', 'ethereum-nowhere'],
      ['wallet_address', lower],
      ['wallet_address', `0x${lower.slice(2).toUpperCase()}`],
      ['wallet_address', '0x0000000000000000000000000000000000000000'],
      ['wallet_address', good.wallet_address.slice(0, -1)],
      ['wallet_address', gateway.deps.chains.service.address],
      ['wallet_address', gateway.sandbox.vendors[0]?.walletAddress],
      ['platform_fee_pct', '100'],
      ['platform_fee_pct', '-1'],
      ['platform_fee_pct', '0.1234567'],
      ['platform_fee_pct', 'much'],
      ['fiat_accounts_enabled', 'perhaps'],
      ['name', ''],
      ['name', ' padded'],
      ['name', 'padded '],
      ['name', 'half \ud800'],
      ['name', 'two\nlines'],
    ];
    for (const [field, value] of bad) {
      const { status, body } = await operator('POST', '/partners', { ...good, [field]: value });
      expect([field, value, status, body.error?.code]).toEqual([field, value, 400, 'VALIDATION_ERROR']);
      expect(JSON.stringify(body.error.details.fields)).toContain(field);
    }
    expect(await total()).toBe(before);
    expect((await operator('POST', '/partners', good)).status).toBe(200);
  });

  it('a change is judged like a creation, and an empty one is refused', async () => {
    const { partner } = (await operator('POST', '/partners', requested())).body.data;
    const path = `/partners/${partner.partner_id}`;
    for (const change of [{ platform_fee_pct: '100' }, { wallet_address: newWallet().toLowerCase() }, {}]) {
      const { status, body } = await operator('PATCH', path, { ...change, reason: 'x' });
      expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    }
    expect((await operator('PATCH', path, { name: 'No reason given' })).status).toBe(400);
    expect((await operator('GET', path)).body.data).toEqual(partner);
  });

  it('a name is given once, also to those who ask at the same time', async () => {
    const { name } = requested();
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => operator('POST', '/partners', { ...requested(), name })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const other = (await operator('POST', '/partners', requested())).body.data.partner;
    const renamed = await operator('PATCH', `/partners/${other.partner_id}`, { name, reason: 'x' });
    expect([renamed.status, renamed.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
  });

  it('a new vendor calls its API at once, and is told apart from partners by its wallet', async () => {
    const wallet = newWallet();
    const asked = { name: `Vendor ${randomUUID()}`, wallet_address: wallet, kind: 'direct' };
    const { vendor, vendor_key } = (await operator('POST', '/vendors', asked)).body.data;
    expect(vendor).toMatchObject({ ...asked, active: true });
    const orders = () => gateway.call('GET', '/api/v1/vendor/orders', { key: vendor_key.key });
    expect((await orders()).status).toBe(200);
    const path = `/vendors/${vendor.vendor_id}`;
    const stopped = await operator('PATCH', path, { active: false, reason: 'licence ended' });
    expect(stopped.body.data).toEqual({ ...vendor, active: false });
    expect((await operator('GET', path)).body.data).toEqual({ ...vendor, active: false });
    expect((await operator('GET', '/vendors')).body.data.vendors[0].vendor_id).toBe(vendor.vendor_id);
    expect((await orders()).status).toBe(200);
    expect(await audit(`vendors/${vendor.vendor_id}`)).toMatchObject([
      { action: 'vendor.change', before: { active: true }, after: { active: false } },
      { action: 'vendor.create' },
    ]);
    const twice = await operator('POST', '/vendors', { ...asked, wallet_address: newWallet() });
    expect(twice.status).toBe(409);
    for (const [field, value] of [
      ['wallet_address', gateway.partners[0].walletAddress],
      ['wallet_address', wallet.toLowerCase()],
      ['kind', 'bank'],
    ] as const) {
      const bad = await operator('POST', '/vendors', {
        ...asked,
        name: `Vendor ${randomUUID()}`,
        [field]: value,
      });
      expect([field, bad.status]).toEqual([field, 400]);
    }
  });

  // Proves C7 PARTNER_NOT_FOUND, C7 VENDOR_NOT_FOUND, C7 KEY_NOT_FOUND.
  it('what does not exist is not found', async () => {
    const id = randomUUID();
    const asked: [method: string, path: string, code: string, body?: unknown][] = [
      ['GET', `/partners/${id}`, 'PARTNER_NOT_FOUND'],
      ['PATCH', `/partners/${id}`, 'PARTNER_NOT_FOUND', { name: 'Nobody', reason: 'x' }],
      ['GET', `/partners/${id}/keys`, 'PARTNER_NOT_FOUND'],
      ['POST', `/partners/${id}/keys`, 'PARTNER_NOT_FOUND', { kind: 'secret' }],
      ['GET', `/vendors/${id}`, 'VENDOR_NOT_FOUND'],
      ['PATCH', `/vendors/${id}`, 'VENDOR_NOT_FOUND', { active: true, reason: 'x' }],
      ['GET', `/vendors/${id}/keys`, 'VENDOR_NOT_FOUND'],
      ['POST', `/vendors/${id}/keys`, 'VENDOR_NOT_FOUND', {}],
      ['DELETE', `/keys/${id}`, 'KEY_NOT_FOUND'],
    ];
    for (const [method, path, code, body] of asked) {
      const answer = await operator(method, path, body);
      expect([method, path, answer.status, answer.body.error?.code]).toEqual([method, path, 404, code]);
    }
  });
});
