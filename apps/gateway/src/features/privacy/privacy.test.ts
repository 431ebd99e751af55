import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { widgetSession } from '../../../../../test/harness/widget.ts';
import { actorResponseContext } from '../../http/idempotency.store.ts';
import { approvalBodyContext } from '../../http/second-approval.ts';
import { createSealer, SealedValueError } from '../../lib/crypto.ts';
import { createBlindIndex, createVaults } from '../../vault/vault.ts';
import { linkContext } from '../console/invitations.ts';
import { enrolmentContext, totpContext } from '../console/second-factor.ts';
import { disputeStatementContext } from '../orders/disputes/vendor-answers.ts';
import { proofContext } from '../orders/lifecycle/act-on-order.ts';
import { sealPayerDetails, sealVendorDetails } from '../orders/lifecycle/order.ts';
import { ENCRYPTED_COLUMNS, rotateKeys } from './rotate-keys.ts';
import { writeOrder } from './testing/written-order.ts';

describe('a vault', () => {
  const vaults = createVaults(createSealer([randomBytes(32)]));

  it('opens with its own wrapped key, in its own place, and nowhere else', () => {
    const { wrappedKey, vault } = vaults.create('users:1');
    const sealed = vault.seal('Ada', 'users.profile:1');
    const bytes = vault.sealBytes(Buffer.from('picture'), 'doc:1');
    const opened = vaults.open(wrappedKey, 'users:1');
    expect(opened.open(sealed, 'users.profile:1')).toBe('Ada');
    expect(opened.openBytes(bytes, 'doc:1').toString()).toBe('picture');
    expect(() => opened.open(sealed, 'users.profile:2')).toThrow(SealedValueError);
    expect(() => opened.openBytes(bytes, 'doc:2')).toThrow(SealedValueError);
    expect(() => opened.openBytes(bytes.subarray(0, 8), 'doc:1')).toThrow(SealedValueError);
    expect(() => vaults.open(wrappedKey, 'users:2')).toThrow(SealedValueError);
    expect(() => vaults.create('users:1').vault.open(sealed, 'users.profile:1')).toThrow(SealedValueError);
  });

  it('is not opened by another master key', () => {
    const { wrappedKey } = vaults.create('users:1');
    const otherVaults = createVaults(createSealer([randomBytes(32)]));
    expect(() => otherVaults.open(wrappedKey, 'users:1')).toThrow(SealedValueError);
  });
});

describe('a blind index', () => {
  // Proves trap 27.
  it('is equal for equal values of one place and one partner only', () => {
    const index = createBlindIndex(randomBytes(32));
    expect(index('email', 'p1', 'a@b.c')).toBe(index('email', 'p1', 'a@b.c'));
    expect(index('email', 'p1', 'a@b.c')).not.toBe(index('email', 'p2', 'a@b.c'));
    expect(index('email', 'p1', 'a@b.c')).not.toBe(index('name', 'p1', 'a@b.c'));
    expect(index('email', 'p1', 'a@b.c')).not.toBe(createBlindIndex(randomBytes(32))('email', 'p1', 'a@b.c'));
  });
});

describe('rotation of the master key', () => {
  let gateway: TestGateway;
  let admin: pg.Client;
  const oldKey = randomBytes(32);
  const newKey = randomBytes(32);

  beforeAll(async () => {
    gateway = await startGateway({ env: { DATA_ENCRYPTION_KEY: oldKey.toString('hex') } });
    admin = new pg.Client({ connectionString: gateway.databaseUrl });
    await admin.connect();
  });
  afterAll(async () => {
    await admin?.end();
    await gateway?.stop();
  });

  it('reseals everything with the new key, so that the old one can be thrown away', async () => {
    const created = await gateway.call('POST', '/api/v1/partner/users', {
      body: { email: 'rotate@example.com' },
      headers: { 'idempotency-key': 'with spaces and ünicode'.replace('ü', 'u') },
    });
    await gateway.call('POST', '/api/v1/partner/recipients', {
      body: { recipient_name: 'Rotating Person', recipient_country: 'DE' },
    });
    const both = createSealer([newKey, oldKey]);
    const orderId = await writeOrder(admin, created.body.data.id);
    const old = createSealer([oldKey]);
    const proofId = randomUUID();
    await admin.query(
      'UPDATE orders SET payer_details_sealed = $2, vendor_payment_details_sealed = $3 WHERE order_id = $1',
      [orderId, sealPayerDetails(old, orderId, { a: '1' }), sealVendorDetails(old, orderId, { b: '2' })],
    );
    await admin.query(
      `INSERT INTO payment_proofs (proof_id, partner_id, order_id, vendor_id, proof_sealed, submitted_at)
       SELECT $1, partner_id, order_id, (SELECT vendor_id FROM vendors LIMIT 1), $2, created_at FROM orders`,
      [proofId, old.seal('{}', proofContext(proofId))],
    );
    const statementId = randomUUID();
    await admin.query(
      `INSERT INTO dispute_statements (statement_id, partner_id, order_id, vendor_id, text_sealed, created_at)
       SELECT $1, partner_id, order_id, (SELECT vendor_id FROM vendors LIMIT 1), $2, created_at FROM orders`,
      [statementId, old.seal('because', disputeStatementContext(statementId))],
    );
    const reasonSealed = old.seal('because', `order_stop_reasons:${orderId}`);
    await admin.query(
      `INSERT INTO order_stop_reasons (order_id, partner_id, reason_sealed)
       SELECT order_id, partner_id, $1 FROM orders`,
      [reasonSealed],
    );
    const vendorKey = { actor: `vendor:${randomUUID()}`, idempotencyKey: 'with two spaces' };
    await admin.query(
      `INSERT INTO actor_responses (actor, idempotency_key, fingerprint, status, body, created_at)
       SELECT $1, $2, '', 200, $3, created_at FROM orders`,
      [vendorKey.actor, vendorKey.idempotencyKey, old.seal('an answer', actorResponseContext(vendorKey))],
    );
    const approvalId = '0199aa9f-5555-7c41-9d0e-6b1f5a3c2d10';
    await admin.query(
      `INSERT INTO approvals (approval_id, status, operation, method, path, params, body_sealed, payload_hash, subject,
         summary, requested_by_key_id, requester_person_id, requested_at, expires_at)
       SELECT $1, 'waiting', 'decideDeposit', 'POST', '/', '{}', $2, repeat('0', 64), 'deposits/1', 'Return it.',
              key_id, key_id, created_at, created_at FROM api_keys WHERE kind = 'operator' LIMIT 1`,
      [approvalId, old.seal('{}', approvalBodyContext(approvalId))],
    );
    const endpoints = '/api/v1/partner/webhook-endpoints';
    const endpoint = await gateway.call('POST', endpoints, { body: { url: 'https://127.0.0.1:9/hook' } });
    await gateway.call('POST', `${endpoints}/${endpoint.body.data.id}/rotate-secret`);
    const session = await widgetSession(gateway);
    await session.ask('POST', '/email-code', { email: 'rotate@example.com' });
    const { partner_id: partnerId } = (await admin.query('SELECT partner_id FROM orders')).rows[0];
    const mail = { fromName: 'Acme', subject: 'Hello', text: 'Hello', language: 'en' };
    await gateway.deps.mail?.send({ ...mail, partnerId, to: 'rotate@example.com' });
    await admin.query(
      `INSERT INTO console_users (user_id, email, name, role, totp_secret_sealed, created_at)
       SELECT order_id, 'rotate@example.com', 'Rotate', 'viewer', $1, created_at FROM orders`,
      [old.seal('SECRET', totpContext(orderId))],
    );
    await admin.query(
      `INSERT INTO console_challenges (challenge_id, kind, token_hash, secret_sealed, expires_at)
       SELECT order_id, 'totp_enrolment', '', $1, created_at FROM orders`,
      [old.seal('SECRET', enrolmentContext(orderId))],
    );
    await admin.query(
      `INSERT INTO console_invitations (invitation_id, email, role, token_hash, link_sealed, created_at, expires_at)
       SELECT order_id, 'rotate@example.com', 'viewer', '', $1, created_at, created_at FROM orders`,
      [old.seal('https://…', linkContext(orderId))],
    );
    // As it is during the overlap after a secret was replaced.
    await admin.query('UPDATE partners SET webhook_previous_secret_sealed = webhook_secret_sealed');
    const report = await rotateKeys(gateway.deps.db, both);
    expect(report.map(({ column, rows }) => [column, rows > 0])).toEqual(
      ENCRYPTED_COLUMNS.map(({ name }) => [name, true]),
    );
    expect((await rotateKeys(gateway.deps.db, both)).every(({ rows }) => rows === 0)).toBe(true);

    const onlyNew = createSealer([newKey]);
    const { rows } = await admin.query('SELECT user_id, data_key_sealed FROM users');
    const vaults = createVaults(onlyNew);
    for (const { user_id, data_key_sealed } of rows) vaults.open(data_key_sealed, `users:${user_id}`);
    const facts = await admin.query(
      `SELECT value #>> '{}' AS v FROM deployment_facts WHERE name = 'blind_index_key'`,
    );
    expect(facts.rows[0].v.startsWith(`${onlyNew.keyId}.`)).toBe(true);
    expect(created.status).toBe(200);
    const answers = await admin.query('SELECT body FROM actor_responses');
    expect(onlyNew.open(answers.rows[0].body, actorResponseContext(vendorKey))).toBe('an answer');
  });

  it('knows every column that holds something sealed', async () => {
    const { rows } = await admin.query(
      `SELECT table_name || '.' || column_name AS place FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name LIKE '%\\_sealed'`,
    );
    // Sealed with a person's own key: reached through the key, which is rotated.
    const underPersonalKeys = [
      'users.profile_sealed',
      'kyc_profiles.fields_sealed',
      'kyc_submissions.link_sealed',
      'payment_details.details_sealed',
      'recipient_versions.fields_sealed',
      'recipient_destinations.details_sealed',
      'recipient_screenings.hits_sealed',
      'screening_cases.hits_sealed',
      'quotes.recipient_context_sealed',
      'orders.recipient_context_sealed',
      'fiat_clients.fields_sealed',
      'fiat_accounts.details_sealed',
      'fiat_payments.details_sealed',
    ];
    const rotated = ENCRYPTED_COLUMNS.map(({ name }) => name);
    const unknown = rows
      .map(({ place }) => place)
      .filter((one) => ![...rotated, ...underPersonalKeys].includes(one));
    expect(unknown).toEqual([]);
  });
});

describe('the commands', () => {
  let gateway: TestGateway;
  const key = randomBytes(32).toString('hex');
  beforeAll(async () => {
    gateway = await startGateway({ env: { DATA_ENCRYPTION_KEY: key } });
  });
  afterAll(() => gateway?.stop());

  const run = (script: string, args: string[], env: Record<string, string> = {}) =>
    spawnSync(process.execPath, [script, ...args], {
      env: { PATH: process.env.PATH ?? '', ...gateway.env, ...env },
      encoding: 'utf8',
    });

  it('rotate keys while the deployment runs', async () => {
    const rotated = run('scripts/keys-rotate.ts', [], {
      DATA_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      DATA_ENCRYPTION_KEYS_PREVIOUS: key,
    });
    expect(rotated.stderr).toBe('');
    expect(rotated.stdout).toMatch(/\d+ {2}partners\.webhook_secret_sealed/);
    const without = run('scripts/keys-rotate.ts', [], { DATA_ENCRYPTION_KEY: key });
    expect(without.status).not.toBe(0);
  });

  it('erase a customer, and say so when there is none', async () => {
    const { body } = await gateway.call('POST', '/api/v1/partner/users', {
      body: { email: 'command@example.com' },
    });
    expect(run('scripts/users-erase.ts', [body.data.id, 'asked', 'for', 'it']).status).toBe(0);
    expect((await gateway.call('GET', `/api/v1/partner/users/${body.data.id}`)).status).toBe(404);
    const again = run('scripts/users-erase.ts', [body.data.id, 'asked for it']);
    expect([again.status, again.stderr]).toEqual([1, 'User not found.\n']);
    expect(run('scripts/users-erase.ts', ['nobody']).status).toBe(1);
  });
});
