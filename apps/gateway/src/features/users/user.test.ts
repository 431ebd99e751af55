import { MAX_OFFSET } from '@causeway/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';

const USERS = '/api/v1/partner/users';

describe('users over HTTP', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway?.stop());

  const create = (body: unknown, key?: string) =>
    gateway.call('POST', USERS, { body, ...(key === undefined ? {} : { key }) });

  // Proves C4.4 row 1, D8.1.
  it('keeps every field of a new customer and answers it in one normal form', async () => {
    const created = await create({
      email: '  Ada@Example.COM ',
      first_name: 'Ada',
      last_name: 'Lovelace',
      phone_number: '+44 20 7946 0018',
      country_code: 'gb',
      reference_id: 'crm-1',
    });
    expect(created.status).toBe(200);
    expect(created.body.data).toMatchObject({
      email: 'ada@example.com',
      first_name: 'Ada',
      last_name: 'Lovelace',
      phone_number: '+442079460018',
      country_code: 'GB',
      reference_id: 'crm-1',
      kyc: { status: 'NOT_INITIATED' },
    });
    const read = await gateway.call('GET', `${USERS}/${created.body.data.id}`);
    expect(read.body).toEqual(created.body);
  });

  // Proves D8.1, C7 USER_ALREADY_EXISTS.
  it('refuses an email twice for one partner however it is typed, and takes it from another partner', async () => {
    expect((await create({ email: 'twice@example.com' })).status).toBe(200);
    const again = await create({ email: 'TWICE@example.com ' });
    expect([again.status, again.body.error.code]).toEqual([409, 'USER_ALREADY_EXISTS']);
    expect((await create({ email: 'twice@example.com' }, gateway.partners[1].apiKey)).status).toBe(200);
  });

  it('has one winner when the same email is created many times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ email: 'race@example.com' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
  });

  it.each([
    ['email', {}],
    ['email', { email: 'not an address' }],
    ['email', { email: 5 }],
    ['phone_number', { email: 'p@example.com', phone_number: 'call me' }],
    ['country_code', { email: 'c@example.com', country_code: 'XX' }],
    ['reference_id', { email: 'r@example.com', reference_id: 'a\u0000b' }],
  ])('names %s when it does not fit', async (path, body) => {
    const refused = await create(body);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(refused.body.error.details.fields).toEqual([expect.objectContaining({ path })]);
  });

  // Proves D5.3.
  it('lists newest first, page by page, with filters, and only the partner’s own', async () => {
    const key = gateway.partners[1].apiKey;
    for (let n = 0; n < 5; n++)
      await create({ email: `list-${n}@example.com`, reference_id: `ref-${n}` }, key);
    const first = await gateway.call('GET', `${USERS}?limit=2`, { key });
    expect(first.body.data.users.map(({ email }: { email: string }) => email)).toEqual([
      'list-4@example.com',
      'list-3@example.com',
    ]);
    const { total } = first.body.data.pagination;
    expect(first.body.data.pagination).toEqual({ page: 1, limit: 2, total });
    for (const page of [999, MAX_OFFSET]) {
      const beyond = await gateway.call('GET', `${USERS}?page=${page}&limit=100`, { key });
      expect(beyond.body.data).toEqual({ users: [], pagination: { page, limit: 100, total } });
    }
    const byEmail = await gateway.call('GET', `${USERS}?email=LIST-2%40example.com`, { key });
    expect(byEmail.body.data.users).toHaveLength(1);
    const byReference = await gateway.call('GET', `${USERS}?reference_id=ref-3`, { key });
    expect(byReference.body.data.users[0].email).toBe('list-3@example.com');
    const foreign = await gateway.call('GET', `${USERS}?reference_id=ref-3`);
    expect(foreign.body.data).toEqual({ users: [], pagination: { page: 1, limit: 20, total: 0 } });
    for (const query of ['page=0', 'limit=0', 'limit=101', 'page=x', 'kyc_status=NO']) {
      expect((await gateway.call('GET', `${USERS}?${query}`)).status).toBe(400);
    }
  });

  // Proves C5 rule 5, D3.1.
  it('answers another partner’s customer and a missing one with the same bytes', async () => {
    const { body } = await create({ email: 'mine@example.com' });
    const key = gateway.partners[1].apiKey;
    const foreign = await gateway.call('GET', `${USERS}/${body.data.id}`, { key });
    const missing = await gateway.call('GET', `${USERS}/00000000-0000-7000-8000-000000000000`, { key });
    expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
  });
});
