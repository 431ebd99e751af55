import { MAX_OFFSET } from '@causeway/protocol';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { until } from '../../../../../test/harness/until.ts';
import { partnerScope, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { createSimulatedScreening } from '../screening/names/list-screening.ts';
import { decideScreening, screenRecipientHandler } from './recipient-screening.ts';
import { registerRecipient } from './register-recipient.ts';
import { recipientToReview } from './review-recipients.ts';

const RECIPIENTS = '/api/v1/partner/recipients';
const IBAN = 'DE89370400440532013000';
const SEPA = {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  details: { full_name: 'José Núñez', iban: IBAN },
};

describe('recipients over HTTP', () => {
  let gateway: TestGateway;
  let second: string;
  beforeAll(async () => {
    gateway = await startGateway({ worker: true });
    second = gateway.partners[1].apiKey;
  });
  afterAll(() => gateway?.stop());

  const create = async (body: object = {}, key?: string) => {
    const answer = await gateway.call('POST', RECIPIENTS, {
      body: { recipient_name: 'José Núñez', recipient_country: 'es', ...body },
      ...(key === undefined ? {} : { key }),
    });
    return answer;
  };
  const idOf = async (body?: object, key?: string) =>
    (await create(body, key)).body.data.recipient_id as string;
  const read = async (id: string) => (await gateway.call('GET', `${RECIPIENTS}/${id}`)).body.data;
  const screened = (id: string, status: string) =>
    until(`screening ${status}`, async () => {
      const now = await read(id);
      return now.screening_status === status && now;
    });
  const search = async (query: string, key = second) =>
    (await gateway.call('GET', `${RECIPIENTS}?${query}`, { key })).body.data;

  // Proves C4.7 rows 2 and 3, C4.7 rule 1, D8.8.
  it('registers an individual by default, masks identifiers, and is screened', async () => {
    const created = await create({
      recipient_native_name: '小明',
      recipient_id_type: 'PASSPORT',
      recipient_id_number: 'AB1234567',
    });
    expect(created.status).toBe(200);
    expect(created.body.data).toMatchObject({
      recipient_kind: 'individual',
      recipient_name: 'José Núñez',
      recipient_native_name: '小明',
      recipient_country: 'ES',
      recipient_id_type: 'PASSPORT',
      recipient_id_number_masked: '****4567',
      screening_status: 'clear',
      version: 1,
    });
    expect(created.text).not.toContain('AB1234567');
    expect(created.body.data).not.toHaveProperty('recipient_id_number');
    expect((await read(created.body.data.recipient_id)).screening_status).toBe('clear');
  });

  // Proves D8.8, D11.5.
  it.each([
    ['Blocked', 'Blocked Person', 'blocked'],
    ['Review', 'Someone to Review', 'review'],
  ])('gives a name with %s that status', async (_part, recipient_name, status) => {
    const { recipient_id, screening_status } = (await create({ recipient_name })).body.data;
    expect(screening_status).toBe(status);
    // The worker keeps what was found, for the reviewer.
    const found = await until('what was found', async () => {
      const reviewed = await recipientToReview(gateway.deps, recipient_id);
      return reviewed !== null && reviewed.listVersion !== null && reviewed;
    });
    expect(found.recipient.screening_status).toBe(status);
  });

  describe('a screening that answers later', () => {
    const NAME = { recipient_name: 'Late Review', recipient_country: 'DE' };
    const { screen } = createSimulatedScreening();
    /** Registers with it, and asks it as the worker does. */
    async function register() {
      const { apiKey } = gateway.partners[0];
      const { partnerId } = (await gateway.deps.principals.find(apiKey)) as { partnerId: string };
      const deps = { ...gateway.deps, screening: { screen } };
      const { row } = await unitOfWork(deps, partnerScope(partnerId), async (unit) =>
        registerRecipient(deps, unit, partnerId, NAME),
      );
      const payload = { recipient_id: row.recipient_id, round: row.screening_round };
      const outcome = await screenRecipientHandler(deps).perform({ payload } as Intent<'recipient.screen'>);
      const answer = async () => {
        if (outcome.kind !== 'confirmed') throw new Error(outcome.kind);
        await unitOfWork(deps, SYSTEM, async (unit) => outcome.followUp?.(unit));
      };
      return { row, answer };
    }

    it('leaves a new recipient pending', async () => {
      expect((await register()).row.screening_status).toBe('pending');
    });

    it('does not overrule what was decided meanwhile', async () => {
      const { row, answer } = await register();
      await unitOfWork(gateway.deps, SYSTEM, (unit) =>
        decideScreening(unit, row.recipient_id, 'screening_cleared', 'simulator'),
      );
      await answer();
      expect((await read(row.recipient_id)).screening_status).toBe('clear');
    });
  });

  // Proves C3.5, C4.7 row 4, C2.11 rule 3.
  it('writes a new version on PATCH, screens it again, and leaves an unchanged one alone', async () => {
    const id = await idOf({ recipient_id_number: 'X-1111-2222' });
    await screened(id, 'clear');
    const same = await gateway.call('PATCH', `${RECIPIENTS}/${id}`, { body: { recipient_country: 'ES' } });
    expect(same.body.data.version).toBe(1);
    const changed = await gateway.call('PATCH', `${RECIPIENTS}/${id}`, {
      body: { recipient_name: 'Needs Review', recipient_id_number: null },
    });
    expect(changed.body.data).toMatchObject({
      version: 2,
      recipient_name: 'Needs Review',
      recipient_country: 'ES',
      recipient_id_number_masked: null,
      screening_status: 'review',
    });
    await screened(id, 'review');
  });

  it('keeps a blocked recipient blocked under a new name', async () => {
    const id = await idOf({ recipient_name: 'Blocked One' });
    await screened(id, 'blocked');
    const renamed = await gateway.call('PATCH', `${RECIPIENTS}/${id}`, { body: { recipient_name: 'Ann' } });
    expect(renamed.body.data).toMatchObject({ version: 2, screening_status: 'blocked' });
  });

  // Proves C2.11 rule 3, trap 26.
  it('keeps every version: the database refuses to change one', async () => {
    const id = await idOf({ recipient_name: 'Original Name' });
    await gateway.call('POST', `${RECIPIENTS}/${id}/destinations`, { body: SEPA });
    const admin = new pg.Client({ connectionString: gateway.databaseUrl });
    await admin.connect();
    try {
      for (const sql of [
        `UPDATE recipient_versions SET recipient_country = 'FR'`,
        'DELETE FROM recipient_versions',
        `UPDATE recipient_destinations SET rail = 'pix'`,
        'TRUNCATE recipient_destinations',
      ]) {
        await expect(admin.query(sql)).rejects.toThrow('append-only');
      }
    } finally {
      await admin.end();
    }
  });

  // Proves trap 26, C3.5.
  it('never changes an order: a PATCH does not reach it, and the database refuses to', async () => {
    const post = async (path: string, body: object) => {
      const answer = await gateway.call('POST', `/api/v1${path}`, { body });
      expect(answer.status, answer.text).toBe(200);
      return answer.body.data;
    };
    const { id: sender } = await post('/partner/users', { email: 'sender@example.com' });
    await post(`/sandbox/users/${sender}/kyc-status`, { status: 'VERIFIED' });
    // Registered, given an account and quoted without waiting.
    const id = await idOf({ recipient_name: 'Original Name' });
    const destination = await post(`/partner/recipients/${id}/destinations`, SEPA);
    const quote = await post('/partner/offramp/quote', {
      crypto_currency: 'USDC',
      fiat_currency: 'EUR',
      fiat_amount: '100.00',
      sender_id: sender,
      recipient_id: id,
      recipient_destination_id: destination.recipient_destination_id,
    });
    const { order_id: orderId } = await post('/partner/offramp/initiate', { quote_id: quote.quote_id });
    const contextOf = async () =>
      (await gateway.call('GET', `/api/v1/partner/orders/${orderId}`)).body.data.recipient_context;
    const before = await contextOf();
    expect(before.recipient).toMatchObject({ recipient_name: 'Original Name', version: 1 });
    const patched = await gateway.call('PATCH', `${RECIPIENTS}/${id}`, {
      body: { recipient_name: 'Another Name', recipient_country: 'FR' },
    });
    expect(patched.body.data).toMatchObject({ recipient_name: 'Another Name', version: 2 });
    expect(await contextOf()).toEqual(before);

    const admin = new pg.Client({ connectionString: gateway.databaseUrl });
    await admin.connect();
    try {
      for (const change of [
        `recipient_context_sealed = 'another'`,
        'recipient_id = NULL, recipient_context_sealed = NULL',
        'recipient_id = NULL, recipient_context_sealed = NULL, payment_details_id = 1',
        'user_id = (SELECT user_id FROM users WHERE user_id <> orders.user_id LIMIT 1)',
      ]) {
        const sql = `UPDATE orders SET ${change} WHERE order_id = $1`;
        await expect(admin.query(sql, [orderId])).rejects.toThrow('keeps the payee it was quoted with');
      }
    } finally {
      await admin.end();
    }
  });

  it('counts the characters of names and numbers, not bytes or UTF-16 units', async () => {
    for (const character of ['😀', '𠀀', '𰻝', 'é']) {
      const whole = {
        recipient_name: character.repeat(200),
        recipient_native_name: character.repeat(200),
        recipient_id_number: character.repeat(100),
      };
      const created = await create(whole);
      expect(created.status, created.text).toBe(200);
      expect(created.body.data).toMatchObject({
        recipient_name: whole.recipient_name,
        recipient_native_name: whole.recipient_native_name,
      });
      for (const [field, value] of Object.entries(whole)) {
        const path = `${RECIPIENTS}/${created.body.data.recipient_id}`;
        const body = { [field]: value + character };
        for (const refused of [await create(body), await gateway.call('PATCH', path, { body })]) {
          expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
          expect(JSON.stringify(refused.body.error.details.fields)).toContain(field);
        }
      }
    }
  });

  // Proves C3.5, C4.7 row 5, C4.7 rule 5, C7 RECIPIENT_NOT_FOUND, D3.4.
  it('archives: no longer listed, read, changed or added to; archiving again is harmless', async () => {
    const id = await idOf();
    const gone = await gateway.call('DELETE', `${RECIPIENTS}/${id}`);
    expect([gone.status, gone.body.data]).toEqual([200, {}]);
    expect((await gateway.call('DELETE', `${RECIPIENTS}/${id}`)).status).toBe(200);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { recipient_name: 'X' }],
      ['GET', '/destinations', undefined],
      ['POST', '/destinations', SEPA],
    ] as const) {
      const answer = await gateway.call(method, `${RECIPIENTS}/${id}${path}`, { body });
      expect([answer.status, answer.body.error.code]).toEqual([404, 'RECIPIENT_NOT_FOUND']);
    }
  });

  // Proves C4.7 rows 6 and 7, C4.7 rule 1, C2.11 rule 3, C4.1 rule 1.
  it('masks destinations, checks them against the rail, and never guesses an institution', async () => {
    const id = await idOf();
    const added = await gateway.call('POST', `${RECIPIENTS}/${id}/destinations`, { body: SEPA });
    expect(added.body.data).toMatchObject({ rail: 'iban-sepa', version: 1, details: { iban: '****3000' } });
    const list = await gateway.call('GET', `${RECIPIENTS}/${id}/destinations`);
    expect(list.body.data.destinations).toEqual([added.body.data]);
    expect(list.text).not.toContain(IBAN);
    const required = await gateway.call('POST', `${RECIPIENTS}/${id}/destinations`, {
      body: { rail: 'ghana-transfer', currency: 'GHS', country_code: 'GH', details: {} },
    });
    expect([required.status, required.body.error.message]).toEqual([
      422,
      'institution_id is required for this rail.',
    ]);
    const malformed = await gateway.call('POST', `${RECIPIENTS}/${id}/destinations`, {
      body: { ...SEPA, details: { full_name: 'A B', iban: 'DE1' } },
    });
    expect(malformed.body.error.code).toBe('INVALID_RECIPIENT_FIELDS');
  });

  // Proves C4.7 row 1, D5.2.
  it('finds by name, beginning, native name, identifier and account number, and filters', async () => {
    const anna = await idOf(
      { recipient_name: 'Anna-María Ødegård', recipient_id_number: 'nin 4711-0815', recipient_country: 'NO' },
      second,
    );
    const ming = await idOf(
      { recipient_name: 'Wang Xiaoming', recipient_native_name: '王小明', recipient_country: 'CN' },
      second,
    );
    await gateway.call('POST', `${RECIPIENTS}/${anna}/destinations`, { body: SEPA, key: second });
    const found = async (text: string) =>
      (await search(`search=${encodeURIComponent(text)}`)).recipients.map(
        ({ recipient_id }: { recipient_id: string }) => recipient_id,
      );
    for (const text of [
      'anna',
      'ANNA maria',
      'Mar',
      'NIN-4711 0815',
      IBAN,
      'de89 3704 0044 0532 0130 00',
      anna,
    ]) {
      expect([text, await found(text)]).toEqual([text, [anna]]);
    }
    for (const text of ['wang', '王小明', '小明', '明', 'xiao wang']) {
      expect([text, await found(text)]).toEqual([text, [ming]]);
    }
    for (const text of ['an', 'anna wang', 'nna', '4711', '!!!', '%', ' ']) {
      expect([text, await found(text)]).toEqual([text, []]);
    }
    expect((await search('recipient_country=cn')).recipients).toHaveLength(1);
    expect((await search('currency=eur')).recipients).toHaveLength(1);
    expect((await search('rail=iban-sepa&recipient_country=NO')).pagination.total).toBe(1);
    expect((await search('rail=pix')).pagination.total).toBe(0);
    expect((await search('limit=1&offset=1')).pagination).toEqual({ total: 2, limit: 1, offset: 1 });
    for (const query of ['', '&search=anna']) {
      const { recipients, pagination } = await search(`offset=${MAX_OFFSET}${query}`);
      expect([recipients, pagination.offset]).toEqual([[], MAX_OFFSET]);
    }
    // The same words find no other recipient.
    expect((await search('search=anna', gateway.partners[0].apiKey)).recipients).toEqual([]);
    await gateway.call('PATCH', `${RECIPIENTS}/${anna}`, { body: { recipient_name: 'Berta' }, key: second });
    expect(await found('anna')).toEqual([]);
    expect(await found('berta')).toEqual([anna]);
    expect(await found(IBAN)).toEqual([anna]);
  });

  // Proves C8 rows 4 and 5.
  it.each([
    'limit=0',
    'limit=101',
    'offset=-1',
    'screening_status=fine',
    'recipient_country=DEU',
    'currency=EU',
  ])('answers 400 for %s', async (query) => {
    expect((await gateway.call('GET', `${RECIPIENTS}?${query}`)).status).toBe(400);
  });

  // Proves D11.3, D8.8.
  it('lets a sandbox user set the screening status', async () => {
    const id = await idOf();
    await screened(id, 'clear');
    for (const screening_status of ['review', 'blocked', 'pending', 'clear']) {
      const set = await gateway.call('POST', `/api/v1/sandbox/recipients/${id}/screening-status`, {
        body: { screening_status },
      });
      expect(set.body.data.screening_status).toBe(screening_status);
    }
  });

  // Proves D3.1, C5 rule 5, trap 6.
  it('answers another partner’s recipient and a missing one with the same bytes on every route', async () => {
    const id = await idOf();
    const missing = '00000000-0000-7000-8000-000000000000';
    for (const [method, path, body] of [
      ['GET', `${RECIPIENTS}/ID`, undefined],
      ['PATCH', `${RECIPIENTS}/ID`, { recipient_name: 'X' }],
      ['DELETE', `${RECIPIENTS}/ID`, undefined],
      ['GET', `${RECIPIENTS}/ID/destinations`, undefined],
      ['POST', `${RECIPIENTS}/ID/destinations`, SEPA],
      ['POST', '/api/v1/sandbox/recipients/ID/screening-status', { screening_status: 'clear' }],
    ] as const) {
      const foreign = await gateway.call(method, path.replace('ID', id), { body, key: second });
      const absent = await gateway.call(method, path.replace('ID', missing), { body, key: second });
      expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    }
  });
});
