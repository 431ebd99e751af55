import { isValidBIC, isValidIBAN } from 'ibantools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enableFiatAccounts, startBank } from '../../../../../test/harness/bank.ts';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { until } from '../../../../../test/harness/until.ts';
import { type FiatDriver, fiatDriver, IDENTIFICATION } from '../../../../../test/scenarios/fiat-driver.ts';
import { SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

const UNKNOWN = '00000000-0000-7000-8000-000000000000';
const AT_ONCE = 32;

const openings = statement<[userId: string], { total: string }>(
  'test.openings_of_user',
  `SELECT count(*)::text AS total FROM intents i JOIN fiat_accounts a ON a.seal_id::text = i.payload->>'seal_id'
    WHERE i.kind = 'bank.open-account' AND a.user_id = $1`,
);

describe('issuing fiat accounts', () => {
  let gateway: TestGateway;
  let driver: FiatDriver;
  let bank: ReturnType<typeof startBank>;

  beforeAll(async () => {
    gateway = await startGateway({ env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' } });
    driver = fiatDriver(gateway);
    bank = startBank(gateway);
  });
  afterAll(async () => {
    await bank?.stop();
    await gateway?.stop();
  });

  const identify = (userId: string, body?: object, key = gateway.partners[0].apiKey) =>
    gateway.call('POST', `/api/v1/partner/users/${userId}/identification`, {
      key,
      ...(body === undefined ? {} : { body }),
    });
  const identification = async (userId: string) =>
    (await gateway.call('GET', `/api/v1/partner/users/${userId}/identification`)).body.data;
  const refusal = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [
    status,
    body.error?.code,
  ];

  describe('identification', () => {
    // Proves C4.9 rows 1 and 2, C7 MISSING_FIELDS.
    it('lists what is missing, takes it once, and says when the bank has approved', async () => {
      const userId = await driver.verified();
      const { first_name, last_name, ...missing } = IDENTIFICATION;
      expect(await identification(userId)).toEqual({
        user_id: userId,
        status: 'not_submitted',
        missing_fields: Object.keys(missing),
        submitted_at: null,
        updated_at: null,
      });
      for (const body of [undefined, {}, { city: ' ' }]) {
        const refused = await identify(userId, body);
        expect([...refusal(refused), refused.body.error.details]).toEqual([
          422,
          'MISSING_FIELDS',
          { missing_fields: Object.keys(missing) },
        ]);
      }
      const partly = await identify(userId, { ...missing, city: undefined });
      expect(partly.body.error.details).toEqual({ missing_fields: ['city'] });
      const taken = await identify(userId, missing);
      expect(taken.body.data).toMatchObject({ user_id: userId, status: 'pending', missing_fields: [] });
      expect((await identify(userId, missing)).body.data.submitted_at).toBe(taken.body.data.submitted_at);
      await until('approval', async () => (await identification(userId)).status === 'approved');
      expect((await identify(userId)).body.data.status).toBe('approved');
    });

    it('takes verified data before what is said now', async () => {
      const userId = await driver.verified();
      const kyc = { nationality: 'NL', address: 'Herengracht 1', city: 'Amsterdam', postal_code: '1015 BA' };
      await gateway.call('PATCH', `/api/v1/partner/users/${userId}/kyc`, { body: kyc });
      const { missing_fields } = await identification(userId);
      expect(missing_fields).toEqual(['date_of_birth', 'country_code']);
      const said = { date_of_birth: '1990-12-10', country_code: 'NL' };
      expect((await identify(userId, said)).body.data.status).toBe('pending');
    });

    it('a customer that the bank rejects may be introduced again', async () => {
      const userId = await driver.verified('Declined');
      const body = { ...IDENTIFICATION, last_name: 'Declined' };
      await identify(userId, body);
      await until('rejection', async () => (await identification(userId)).status === 'rejected');
      expect(await identification(userId)).toMatchObject({ rejection_reasons: ['IDENTITY_NOT_ACCEPTED'] });
      expect(refusal(await driver.issue(userId))).toEqual([409, 'CLIENT_NOT_APPROVED']);
      await identify(userId, { ...body, last_name: 'Accepted' });
      await until('approval', async () => (await identification(userId)).status === 'approved');
    });

    it.each([
      ['first_name', 7],
      ['last_name', 'x'.repeat(201)],
      ['date_of_birth', '2990-01-01'],
      ['date_of_birth', 'yesterday'],
      ['nationality', 'XX'],
      ['country_code', 'DEU'],
      ['city', ['Berlin']],
    ])('refuses %s = %j', async (field, value) => {
      const userId = await driver.verified();
      const refused = await identify(userId, { ...IDENTIFICATION, [field]: value });
      expect(refusal(refused)).toEqual([400, 'VALIDATION_ERROR']);
      expect(JSON.stringify(refused.body.error.details)).toContain(field);
    });

    // Proves C4.9 rule 1, C7 FEATURE_NOT_ENABLED.
    it('is not for a partner without the entitlement, nor for another partner’s customer', async () => {
      const userId = await driver.verified();
      const [, { apiKey }] = gateway.partners;
      expect(refusal(await identify(userId, {}, apiKey))).toEqual([403, 'FEATURE_NOT_ENABLED']);
      expect(refusal(await identify(UNKNOWN, IDENTIFICATION))).toEqual([404, 'USER_NOT_FOUND']);
      const path = `/api/v1/partner/users/${userId}/identification`;
      expect((await gateway.call('GET', path, { key: apiKey })).status).toBe(404);
    });
  });

  describe('an account', () => {
    // Proves C4.9 rows 3 to 5, C4.9 rule 4, C2.11 rule 4, D9.1, C7 PROVISIONING_IN_PROGRESS.
    it('is provisioning, then open with an IBAN, a BIC and a holder, and nothing of the bank’s own', async () => {
      const userId = await driver.customer();
      const issued = await driver.issue(userId);
      expect(issued.body.data).toEqual({
        id: expect.stringMatching(/^retail_[1-9][0-9]*$/),
        holder_type: 'retail',
        holder_id: userId,
        currency: 'EUR',
        jurisdiction: 'DE',
        status: 'provisioning',
        iban: null,
        account_holder_name: null,
        bank_name: null,
        bic: null,
        created_at: expect.stringMatching(/Z$/),
      });
      const early = await driver.deposit(userId, issued.body.data.id, { amount: '1.00' });
      expect(refusal(early)).toEqual([409, 'PROVISIONING_IN_PROGRESS']);
      expect(refusal(await driver.issue(userId))).toEqual([409, 'PROVISIONING_IN_PROGRESS']);
      const { id } = issued.body.data;
      await until('an open account', async () => (await driver.issue(userId)).status === 200);
      const path = `/api/v1/partner/users/${userId}/fiat-accounts`;
      const { data } = (await gateway.call('GET', `${path}/${id}`)).body;
      expect(data).toMatchObject({ status: 'active', account_holder_name: 'Ada Lovelace' });
      expect([isValidIBAN(data.iban), isValidBIC(data.bic), data.iban.slice(0, 2)]).toEqual([
        true,
        true,
        'DE',
      ]);
      expect(Object.keys(data).sort()).toEqual(Object.keys(issued.body.data).sort());
      expect((await gateway.call('GET', path)).body.data).toEqual({ accounts: [data] });
      expect((await driver.issue(userId, { currency: 'eur', jurisdiction: 'de' })).body.data).toEqual(data);
    });

    // Proves C4.9 row 3, C2.11 rule 4, trap 29.
    it('is one for a customer, a currency and a jurisdiction, by however many at once it is asked for', async () => {
      const userId = await driver.customer();
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => driver.issue(userId)));
      const issued = answers.filter(({ status }) => status === 200);
      const refused = answers.filter(({ status }) => status !== 200);
      // A call while the bank opens it is told so; a later one gets the same account.
      expect(new Set(issued.map(({ body }) => body.data.id)).size).toBe(1);
      expect(new Set(refused.map((answer) => `${refusal(answer)}`))).toEqual(
        new Set(['409,PROVISIONING_IN_PROGRESS']),
      );
      const [count] = await gateway.deps.db.query(SYSTEM, openings, [userId]);
      expect(count?.total).toBe('1');
      const others = [
        await driver.account(userId, { currency: 'EUR', jurisdiction: 'NL' }),
        await driver.account(userId, { currency: 'GBP', jurisdiction: 'GB' }),
      ];
      const listed = await gateway.call('GET', `/api/v1/partner/users/${userId}/fiat-accounts`);
      expect(listed.body.data.accounts.map(({ id }: { id: string }) => id)).toEqual([
        issued[0]?.body.data.id,
        ...others,
      ]);
    });

    // Proves C7 CLIENT_NOT_APPROVED.
    it('needs VERIFIED and the bank’s approval, both', async () => {
      const unknownToBank = await driver.verified();
      expect(refusal(await driver.issue(unknownToBank))).toEqual([409, 'CLIENT_NOT_APPROVED']);
      const approved = await driver.customer();
      await gateway.call('POST', `/api/v1/sandbox/users/${approved}/kyc-status`, {
        body: { status: 'UNDER_REVIEW' },
      });
      expect(refusal(await driver.issue(approved))).toEqual([409, 'CLIENT_NOT_APPROVED']);
    });

    // Proves D9.1.
    it.each([
      [{}, 422, 'MISSING_FIELDS', ['currency', 'jurisdiction']],
      [{ currency: 'EUR', jurisdiction: '  ' }, 422, 'MISSING_FIELDS', ['jurisdiction']],
      [{ currency: 'USD', jurisdiction: 'US' }, 400, 'UNSUPPORTED_FIAT_CURRENCY', undefined],
      [{ currency: 'EUR', jurisdiction: 'GB' }, 400, 'VALIDATION_ERROR', undefined],
      [{ currency: 7, jurisdiction: 'DE' }, 400, 'VALIDATION_ERROR', undefined],
      [{ currency: 'E'.repeat(11), jurisdiction: 'DE' }, 400, 'UNSUPPORTED_FIAT_CURRENCY', undefined],
    ])('refuses %j', async (body, status, code, missing) => {
      const refused = await driver.issue(await driver.verified(), body);
      expect(refusal(refused)).toEqual([status, code]);
      expect(refused.body.error.details.missing_fields).toEqual(missing);
    });

    // Proves C7 BANKING_ERROR.
    it('that the bank will not open is an error of the bank’s, and stays one', async () => {
      const userId = await driver.customer('Failing');
      expect((await driver.issue(userId)).body.data.status).toBe('provisioning');
      const refused = await until('the refusal', async () => {
        const answer = await driver.issue(userId);
        return answer.status !== 409 && answer;
      });
      expect(refusal(refused)).toEqual([502, 'BANKING_ERROR']);
      const { body } = await gateway.call('GET', `/api/v1/partner/users/${userId}/fiat-accounts`);
      expect(body.data.accounts).toMatchObject([{ status: 'failed', iban: null }]);

      const operate = (method: string, path: string, sent?: object) =>
        gateway.call(method, `/api/v1/operator/${path}`, {
          key: gateway.sandbox.operatorKey,
          ...(sent === undefined ? {} : { body: sent }),
        });
      const { body: listed } = await operate('GET', 'effects?kind=bank.open-account&state=failed');
      const [effect] = listed.data.effects;
      expect(effect).toMatchObject({ order_id: null, remedies: ['give-up'] });
      const retried = await operate('POST', `effects/${effect.effect_id}/retry`, { reason: 'try' });
      expect(refusal(retried)).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      expect(retried.body.error.message).toMatch(/^The bank did not open the account/);
    });

    // Proves C7 BANKING_UNAVAILABLE.
    it('waits while the bank is closed', async () => {
      const userId = await driver.customer('Unavailable');
      expect((await driver.issue(userId)).body.data.status).toBe('provisioning');
      const refused = await until('the outage', async () => {
        const answer = await driver.issue(userId);
        return answer.status !== 409 && answer;
      });
      expect(refusal(refused)).toEqual([503, 'BANKING_UNAVAILABLE']);
      const { body } = await gateway.call('GET', `/api/v1/partner/users/${userId}/fiat-accounts`);
      expect(body.data.accounts).toMatchObject([{ status: 'provisioning' }]);
    });

    // Proves C4.9 rule 2, C7 FIAT_ACCOUNT_NOT_FOUND, trap 7.
    it('is found by its own customer only, and every other id is answered alike', async () => {
      const [mine, theirs] = [await driver.customer(), await driver.customer()];
      const [own, others] = [await driver.account(mine), await driver.account(theirs)];
      const ids = [others, 'retail_999999999', 'business_1', 'retail_0', `${own} `, 'none', 'x'.repeat(65)];
      for (const part of ['', '/ledger', '/payments']) {
        const texts = new Set<string>();
        for (const id of ids) {
          const path = `/api/v1/partner/users/${mine}/fiat-accounts/${encodeURIComponent(id)}${part}`;
          const { status, text } = await gateway.call('GET', path);
          texts.add(`${status} ${text}`);
        }
        expect([...texts]).toEqual([expect.stringMatching(/^404 .*FIAT_ACCOUNT_NOT_FOUND/)]);
        const found = await gateway.call('GET', `/api/v1/partner/users/${mine}/fiat-accounts/${own}${part}`);
        expect(found.status).toBe(200);
      }
    });

    // Proves C4.9 rule 1, C4.9 row 8, D9.4.
    it('is for partners that the operator has enabled; reading is for every partner', async () => {
      const otherPartner = fiatDriver(gateway, gateway.partners[1]);
      const userId = await otherPartner.verified();
      expect(refusal(await otherPartner.issue(userId))).toEqual([403, 'FEATURE_NOT_ENABLED']);
      expect(refusal(await otherPartner.issue(UNKNOWN))).toEqual([403, 'FEATURE_NOT_ENABLED']);
      const key = gateway.partners[1].apiKey;
      const path = `/api/v1/partner/users/${userId}/fiat-accounts`;
      for (const body of [undefined, { currency: 5 }]) {
        const refused = await gateway.call('POST', path, { key, ...(body === undefined ? {} : { body }) });
        expect(refusal(refused)).toEqual([403, 'FEATURE_NOT_ENABLED']);
      }
      const unfit = await identify(userId, { country_code: 'DEU' }, key);
      expect(refusal(unfit)).toEqual([403, 'FEATURE_NOT_ENABLED']);
      const { fiatAccounts } = otherPartner.sdk;
      expect(await fiatAccounts.list(userId)).toEqual({ accounts: [] });
      const config = () => fiatAccounts.config();
      const currencies = [
        { currency: 'EUR', jurisdictions: ['DE', 'NL', 'IE', 'LT'] },
        { currency: 'GBP', jurisdictions: ['GB'] },
      ];
      expect(await config()).toEqual({
        enabled: false,
        product: 'retail',
        capabilities: [],
        currencies,
        collection_enabled: false,
      });
      await enableFiatAccounts(gateway, 1, { fiat_accounts_enabled: true, collection_enabled: true });
      expect(await config()).toEqual({
        enabled: true,
        product: 'retail',
        capabilities: ['issue_retail_accounts'],
        currencies,
        collection_enabled: true,
      });
      expect(refusal(await otherPartner.issue(userId))).toEqual([409, 'CLIENT_NOT_APPROVED']);
      expect(refusal(await otherPartner.issue(await driver.verified()))).toEqual([404, 'USER_NOT_FOUND']);
    });

    // Proves C4.9 rule 5, C9 rule 3, C7 ROUTE_NOT_FOUND.
    it('the routes that were removed are gone', async () => {
      for (const path of ['/api/v1/partner/retail/accounts', '/api/v1/partner/fiat-accounts']) {
        expect(refusal(await gateway.call('GET', path))).toEqual([404, 'ROUTE_NOT_FOUND']);
      }
    });
  });
});
