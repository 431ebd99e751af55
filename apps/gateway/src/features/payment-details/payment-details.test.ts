import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { partnerScope } from '../../db/database.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { loadPaymentDetails } from './payment-details.ts';

const IBAN = 'DE89370400440532013000';
const SEPA = {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  details: { full_name: 'Erika Mustermann', iban: IBAN },
};

async function newUser(gateway: TestGateway, email: string, key = gateway.partners[0].apiKey) {
  const { body } = await gateway.call('POST', '/api/v1/partner/users', { key, body: { email } });
  return `/api/v1/partner/users/${body.data.id}/payment-details`;
}

describe('payment details over HTTP', () => {
  let gateway: TestGateway;
  let path: string;
  beforeAll(async () => {
    gateway = await startGateway();
    path = await newUser(gateway, 'details@example.com');
  });
  afterAll(() => gateway?.stop());
  const create = (body: unknown) => gateway.call('POST', path, { body });

  // Proves C4.4 row 7, C2.11 rule 2, C4.1 rule 2, D8.6.
  it('checks, normalises and answers masked; an omitted institution resolves to the rail’s own', async () => {
    const created = await create({
      ...SEPA,
      currency: 'eur',
      country_code: 'de',
      details: { ...SEPA.details, iban: 'de89 3704 0044 0532 0130 00', not_a_field: 'x' },
    });
    expect(created.status).toBe(200);
    expect(created.body.data).toMatchObject({
      id: expect.any(Number),
      rail: 'iban-sepa',
      currency: 'EUR',
      country_code: 'DE',
      institution_id: 'other-bank',
      beneficiary_type: 'individual',
    });
    expect(created.body.data.details.iban).toBe('****3000');
    expect(created.text).not.toContain('Mustermann');
    expect(created.body.data.details).not.toHaveProperty('not_a_field');
  });

  // Proves C4.4 rule 6, C7 INVALID_RECIPIENT_FIELDS.
  it('names missing and malformed fields in the message and in the details', async () => {
    const refused = await create({ ...SEPA, details: { iban: 'DE00370400440532013000' } });
    expect([refused.status, refused.body.error.code]).toEqual([422, 'INVALID_RECIPIENT_FIELDS']);
    expect(refused.body.error.message).toMatch(/full_name/);
    expect(refused.body.error.message).toMatch(/iban/);
    expect(refused.body.error.details.fields.map(({ path }: { path: string }) => path).toSorted()).toEqual([
      'details.full_name',
      'details.iban',
    ]);
    expect(refused.text).not.toContain('0532013000');
  });

  // Proves C4.4 rule 8.
  it('do not have to exist: an account of a bank that there is none of is taken, with a right check digit', async () => {
    const iban = (check: string) => `DE${check}000000000000000000`;
    const refused = await create({ ...SEPA, details: { ...SEPA.details, iban: iban('37') } });
    expect(refused.status).toBe(422);
    const taken = await create({ ...SEPA, details: { ...SEPA.details, iban: iban('36') } });
    expect(taken.status, taken.text).toBe(200);
  });

  it('takes a Nigerian account that is a telephone number, at a bank and at a wallet', async () => {
    const nigeria = {
      rail: 'nip-nigeria',
      currency: 'NGN',
      country_code: 'NG',
      details: { full_name: 'Ada Lovelace', account_number: '8031234568' },
    };
    for (const institution_id of ['guaranty-trust-bank', 'opay', 'palmpay']) {
      const taken = await create({ ...nigeria, institution_id });
      expect(taken.status, taken.text).toBe(200);
    }
    const details = { ...nigeria.details, account_number: '803123456' };
    expect((await create({ ...nigeria, details })).status).toBe(422);
  });

  // Proves C4.1 rules 1 and 7, C7 INSTITUTION_REQUIRED, C7 INSTITUTION_NOT_AVAILABLE.
  it('asks for an institution where the rail needs one, and refuses one that is not live there', async () => {
    const ghana = { rail: 'ghana-transfer', currency: 'GHS', country_code: 'GH', details: {} };
    const required = await create(ghana);
    expect([required.status, required.body.error.code]).toEqual([422, 'INSTITUTION_REQUIRED']);
    expect(required.body.error.message).toContain('institution_id is required for this rail');
    const foreign = await create({ ...ghana, institution_id: 'alipay' });
    expect([foreign.status, foreign.body.error.code]).toEqual([422, 'INSTITUTION_NOT_AVAILABLE']);
  });

  // Proves C4.1 rule 5.
  it('chooses the format by the institution’s type on a rail with several', async () => {
    const ghana = { rail: 'ghana-transfer', currency: 'GHS', country_code: 'GH' };
    const wallet = await create({ ...ghana, institution_id: 'mtn-momo-ghana', details: {} });
    expect(wallet.body.error.details.fields.map(({ path }: { path: string }) => path)).toContain(
      'details.phone_number',
    );
  });

  // Proves C4.1 rule 6, C2.11 rule 2.
  it('pays a company through the business format only', async () => {
    const cnaps = { rail: 'cnaps', currency: 'CNY', country_code: 'CN', institution_id: 'bank-of-china' };
    const refused = await create({ ...cnaps, details: { beneficiary_type: 'business' } });
    expect(refused.body.error.code).toBe('INVALID_RECIPIENT_FIELDS');
    expect(refused.body.error.message).toContain('company_name');
  });

  // Proves C4.1 rule 4.
  it('ignores an institution on imps-neft-india', async () => {
    const created = await create({
      rail: 'imps-neft-india',
      currency: 'INR',
      country_code: 'IN',
      institution_id: 'anything-at-all',
      details: {
        bank_name: 'State Bank of India',
        ifsc_code: 'SBIN0000001',
        account_number: '12345678901',
        full_name: 'Asha Rao',
      },
    });
    expect(created.body.data).toMatchObject({ institution_id: 'imps-or-neft-transfer' });
  });

  it.each([
    ['rail', { rail: 'no-such-rail' }],
    ['currency', { currency: 'USD' }],
    ['country_code', { country_code: 'JP' }],
    ['details', { details: 'text' }],
    ['details', { details: undefined }],
  ])('answers 400 for a %s that does not fit', async (field, changes) => {
    const refused = await create({ ...SEPA, ...changes });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(refused.body.error.details.fields[0].path).toBe(field);
  });

  // Proves D5.3, D8.6.
  it('lists the customer’s own only: another partner and another customer see nothing of them', async () => {
    const own = await newUser(gateway, 'own-details@example.com');
    const ids: number[] = [];
    for (let n = 0; n < 3; n++) ids.push((await gateway.call('POST', own, { body: SEPA })).body.data.id);
    const { body, text } = await gateway.call('GET', `${own}?limit=2`);
    expect(body.data.payment_details.map(({ id }: { id: number }) => id)).toEqual(
      ids.toReversed().slice(0, 2),
    );
    expect(body.data.pagination).toEqual({ page: 1, limit: 2, total: 3 });
    expect(text).not.toContain(IBAN);
    const another = await newUser(gateway, 'another-customer@example.com');
    expect((await gateway.call('GET', another)).body.data.payment_details).toEqual([]);
    const otherPartner = await gateway.call('GET', own, { key: gateway.partners[1].apiKey });
    const missing = await gateway.call('GET', own.replace(/[0-9a-f]{4}(?=\/payment)/, 'ffff'), {
      key: gateway.partners[1].apiKey,
    });
    expect([otherPartner.status, otherPartner.text]).toEqual([404, missing.text]);
  });
});

describe('payment details by number', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway?.stop());

  // Proves C7 PAYMENT_DETAILS_NOT_FOUND, trap 7.
  it('are found by their own customer and not by guessing the number', async () => {
    const { deps, partners } = gateway;
    const owner = await newUser(gateway, 'owner@example.com');
    const neighbour = await newUser(gateway, 'neighbour@example.com');
    const foreigner = await newUser(gateway, 'owner@example.com', partners[1].apiKey);
    const number = String((await gateway.call('POST', owner, { body: SEPA })).body.data.id);
    const load = async (path: string, key: string, id: string) => {
      const { partnerId } = (await deps.principals.find(key)) as { partnerId: string };
      const userId = path.split('/').at(-2) as string;
      return unitOfWork(deps, partnerScope(partnerId), (unit) => loadPaymentDetails(unit, userId, id));
    };
    expect(await load(owner, partners[0].apiKey, number)).toMatchObject({
      rail: 'iban-sepa',
      validated: true,
    });
    for (const [path, key, id] of [
      [neighbour, partners[0].apiKey, number],
      [foreigner, partners[1].apiKey, number],
      [owner, partners[1].apiKey, number],
      [owner, partners[0].apiKey, '999999'],
      [owner, partners[0].apiKey, '99999999999999999999'],
      [owner, partners[0].apiKey, '-1'],
      [owner, partners[0].apiKey, '1e3'],
    ] as const) {
      await expect(load(path, key, id)).rejects.toMatchObject({ code: 'PAYMENT_DETAILS_NOT_FOUND' });
    }
  });
});

describe('payment details while the validation is down', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    // No server listens there: the gateway has no reference data to check against.
    gateway = await startGateway({ env: { CURRENCIES_URL: 'http://127.0.0.1:9' } });
  });
  afterAll(() => gateway?.stop());

  // Proves C4.4 rule 7.
  it('are created all the same, and everything in them is masked', async () => {
    const path = await newUser(gateway, 'outage@example.com');
    const created = await gateway.call('POST', path, {
      body: { ...SEPA, details: { iban: 'unchecked-value' } },
    });
    expect(created.status).toBe(200);
    expect(created.body.data).toMatchObject({ institution_id: null, details: { iban: '****alue' } });
    const list = await gateway.call('GET', path);
    expect(list.body.data.payment_details).toEqual([created.body.data]);
  });

  it('are still bounded text', async () => {
    const path = await newUser(gateway, 'outage-2@example.com');
    for (const body of [
      { ...SEPA, rail: 'a\u0000b' },
      { ...SEPA, details: { iban: 5 } },
      { ...SEPA, details: { iban: 'x'.repeat(300) } },
    ]) {
      expect((await gateway.call('POST', path, { body })).status).toBe(400);
    }
  });
});
