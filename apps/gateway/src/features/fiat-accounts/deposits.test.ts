import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBank } from '../../../../../test/harness/bank.ts';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { until } from '../../../../../test/harness/until.ts';
import { type FiatDriver, fiatDriver } from '../../../../../test/scenarios/fiat-driver.ts';
import { SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { followPayments } from './payments.effect.ts';

const UNKNOWN = '00000000-0000-7000-8000-000000000000';

const referenceOf = statement<[number: string], { bank_reference: string }>(
  'test.bank_reference_of_account',
  'SELECT bank_reference FROM fiat_accounts WHERE account_number = $1',
);

const balanceOf = statement<[account: string], { balance: string; named: string }>(
  'test.balance_of_fiat_account',
  `SELECT sum(amount)::text AS balance,
          (SELECT count(details_sealed)::text FROM fiat_payments f
            WHERE 'fiat_account:retail_' || f.account_number = $1) AS named
     FROM ledger_postings WHERE account = $1`,
);

describe('deposits on fiat accounts', () => {
  let gateway: TestGateway;
  let driver: FiatDriver;
  let bank: ReturnType<typeof startBank>;
  let userId: string;
  let accountId: string;
  const logs: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway({
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' },
      onLog: (line) => logs.push(line),
    });
    driver = fiatDriver(gateway);
    bank = startBank(gateway);
    userId = await driver.customer();
    accountId = await driver.account(userId);
  });
  afterAll(async () => {
    await bank?.stop();
    await gateway?.stop();
  });

  const report = async (account: string, transactionId: string, amount: bigint) => {
    const [row] = await gateway.deps.db.query(SYSTEM, referenceOf, [account.replace('retail_', '')]);
    await gateway.deps.simulatedBank?.receive({
      transactionId,
      accountReference: row?.bank_reference ?? 'nobody’s',
      currency: 'EUR',
      amount,
      senderName: 'Somebody',
      reference: null,
    });
  };

  it.each([
    [{}, 'amount'],
    [{ amount: 5 }, 'amount'],
    [{ amount: '0' }, 'amount'],
    [{ amount: '-1' }, 'amount'],
    [{ amount: '1.001' }, 'amount'],
    [{ amount: '1e3' }, 'amount'],
    [{ amount: '1'.repeat(81) }, 'amount'],
    [{ amount: '1.00', sender_name: 'x'.repeat(141) }, 'sender_name'],
    [{ amount: '1.00', sender_name: '' }, 'sender_name'],
    [{ amount: '1.00', reference: 'a\u0000b' }, 'reference'],
    [{ amount: '1.00', transaction_id: 7 }, 'transaction_id'],
  ])('refuses %j', async (body, path) => {
    const refused = await driver.deposit(userId, accountId, body);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(refused.body.error.details.fields).toMatchObject([{ path }]);
  });

  // Proves C7 FIAT_ACCOUNT_NOT_FOUND, C7 USER_NOT_FOUND.
  it('go to no account but this customer’s, and only with its own partner’s key', async () => {
    const neighbour = await driver.customer();
    const otherPartner = fiatDriver(gateway, gateway.partners[1]);
    const body = { amount: '1.00' };
    const answers = [
      await driver.deposit(neighbour, accountId, body),
      await driver.deposit(userId, 'retail_999999', body),
      await driver.deposit(UNKNOWN, accountId, body),
      await otherPartner.deposit(userId, accountId, body),
    ];
    expect(answers.map(({ status, body: { error } }) => [status, error.code])).toEqual([
      [404, 'FIAT_ACCOUNT_NOT_FOUND'],
      [404, 'FIAT_ACCOUNT_NOT_FOUND'],
      [404, 'USER_NOT_FOUND'],
      [404, 'USER_NOT_FOUND'],
    ]);
    expect(await driver.payments(userId, accountId)).toEqual([]);
  });

  // Proves C4.9 rows 6 and 7, D9.2, D9.3.
  it('are listed newest first, page by page, and the balance after each adds up', async () => {
    const holder = await driver.customer();
    const account = await driver.account(holder, { currency: 'EUR', jurisdiction: 'IE' });
    for (const amount of ['1.00', '2.50', '0.01']) {
      expect((await driver.deposit(holder, account, { amount })).body.data.status).toBe('received');
    }
    const payments = await driver.payments(holder, account);
    expect(payments.map(({ amount }) => amount)).toEqual(['0.01', '2.50', '1.00']);
    expect(payments[0]).toEqual({
      id: expect.any(String),
      amount: '0.01',
      currency: 'EUR',
      sender_name: null,
      reference: null,
      status: 'received',
      received_at: expect.stringMatching(/Z$/),
    });
    const path = `/api/v1/partner/users/${holder}/fiat-accounts/${account}`;
    const page = await gateway.call('GET', `${path}/ledger?page=2&limit=2`);
    expect(page.body.data).toMatchObject({
      balance: '3.51',
      currency: 'EUR',
      entries: [{ direction: 'credit', amount: '1.00', balance_after: '1.00', kind: 'deposit' }],
      pagination: { page: 2, limit: 2, total: 3 },
    });
    const { entries } = await driver.ledger(holder, account);
    expect(entries.map(({ balance_after }: { balance_after: string }) => balance_after)).toEqual([
      '3.51',
      '3.50',
      '1.00',
    ]);
    const second = await gateway.call('GET', `${path}/payments?page=2&limit=2`);
    expect(second.body.data).toMatchObject({
      payments: [{ amount: '1.00' }],
      pagination: { page: 2, limit: 2, total: 3 },
    });
    for (const query of ['page=0', 'limit=101', 'limit=x']) {
      for (const part of ['ledger', 'payments']) {
        expect((await gateway.call('GET', `${path}/${part}?${query}`)).status).toBe(400);
      }
    }
  });

  // Proves trap 28.
  it('are taken from the bank’s own reports, once, after a crash too', async () => {
    const before = (await driver.payments(userId, accountId)).length;
    await report(accountId, 'bank-1', 700n);
    await report(accountId, 'bank-2', 800n);
    await Promise.all([followPayments(gateway.deps), followPayments(gateway.deps)]);
    await report(accountId, 'bank-1', 700n);
    await followPayments(gateway.deps);
    const payments = await driver.payments(userId, accountId);
    expect(payments.slice(0, 2).map(({ amount, sender_name }) => [amount, sender_name])).toEqual([
      ['8.00', 'Somebody'],
      ['7.00', 'Somebody'],
    ]);
    expect(payments).toHaveLength(before + 2);
  });

  it('that are odd, or into an unknown account, are reported to the operator', async () => {
    await report('retail_987654', 'bank-3', 100n);
    await report(accountId, 'bank-5', 0n);
    await report(accountId, 'x'.repeat(201), 100n);
    await report(accountId, 'bank-6', 1_100n);
    await followPayments(gateway.deps);
    const told = () => logs.filter((line) => line.includes('reports a payment that fits no account'));
    await until('the log', () => told().length === 3);
    // One odd report does not keep the others waiting.
    expect((await driver.payments(userId, accountId))[0]).toMatchObject({ amount: '11.00' });
  });

  it('with an Idempotency-Key are answered as the first time', async () => {
    const path = `/api/v1/sandbox/users/${userId}/fiat-accounts/${accountId}/deposits`;
    const options = { body: { amount: '3.00' }, headers: { 'idempotency-key': 'deposit-1' } };
    const first = await gateway.call('POST', path, options);
    const second = await gateway.call('POST', path, options);
    expect([second.text, second.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
  });

  it('of a person who is erased are booked without a name', async () => {
    const holder = await driver.customer();
    const account = await driver.account(holder);
    await driver.deposit(holder, account, { amount: '9.00', sender_name: 'Charles' });
    const erased = await gateway.call('POST', `/api/v1/operator/users/${holder}/erase`, {
      key: gateway.sandbox.operatorKey,
      body: { reason: 'asked for' },
    });
    expect(erased.status, erased.text).toBe(200);
    expect((await driver.deposit(holder, account, { amount: '1.00' })).status).toBe(404);
    await report(account, 'bank-4', 500n);
    await followPayments(gateway.deps);
    const [booked] = await gateway.deps.db.query(SYSTEM, balanceOf, [`fiat_account:${account}`]);
    expect(booked).toEqual({ balance: '1400', named: '1' });
  });

  // Proves C7 FIAT_PAYMENT_NOT_FOUND.
  it('an operator’s decision is checked, and an unknown payment is one', async () => {
    const decide = (paymentId: string, body: object) =>
      gateway.call('POST', `/api/v1/operator/fiat-payments/${paymentId}/decision`, {
        key: gateway.sandbox.operatorKey,
        body: { reason: 'a test', ...body },
      });
    const taken = await driver.deposit(userId, accountId, { amount: '4.00' });
    const { id } = taken.body.data;
    const refusals = [
      [UNKNOWN, { decision: 'leave' }, 404, 'FIAT_PAYMENT_NOT_FOUND'],
      ['none', { decision: 'leave' }, 400, 'VALIDATION_ERROR'],
      [id, { decision: 'leave' }, 409, 'OPERATION_NOT_ALLOWED'],
      [id, { decision: 'match' }, 400, 'VALIDATION_ERROR'],
      [id, { decision: 'match', order_id: UNKNOWN }, 404, 'ORDER_NOT_FOUND'],
      [id, { decision: 'perhaps' }, 400, 'VALIDATION_ERROR'],
      [id, { decision: 'leave', reason: '' }, 400, 'VALIDATION_ERROR'],
    ] as const;
    for (const [paymentId, body, status, code] of refusals) {
      const refused = await decide(paymentId, body);
      expect([body, refused.status, refused.body.error.code]).toEqual([body, status, code]);
    }
  });
});
