import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { until } from '../../../../../test/harness/until.ts';
import { startWebhookSink, type WebhookSink } from '../../../../../test/harness/webhook-sink.ts';
import { documentOf, fileOf, SUBMISSION } from './testing/kyc-samples.ts';

describe('KYC over HTTP', () => {
  let gateway: TestGateway;
  let sink: WebhookSink;
  let users = 0;

  beforeAll(async () => {
    gateway = await startGateway({ worker: true });
    sink = await startWebhookSink({ tls: true, secret: gateway.partners[0].webhookSecret });
    await gateway.call('POST', '/api/v1/partner/webhooks', { body: { url: sink.url } });
  });
  afterAll(async () => {
    await gateway?.stop();
    await sink?.close();
  });

  async function newUser(): Promise<string> {
    const { body } = await gateway.call('POST', '/api/v1/partner/users', {
      body: { email: `kyc-${users++}@example.com` },
    });
    return `/api/v1/partner/users/${body.data.id}`;
  }
  const post = (path: string, body: unknown) => gateway.call('POST', path, { body });
  const submit = (user: string, changes: object = {}) =>
    post(`${user}/kyc-submissions`, { ...SUBMISSION, ...changes });
  const statusOf = async (user: string) =>
    (await gateway.call('GET', `${user}/verification-status`)).body.data;
  const reaches = (user: string, status: string) =>
    until(`${status}`, async () => {
      const now = await statusOf(user);
      return now.status === status && now;
    });

  // Proves C4.4 rows 2 to 5, C2.11 rule 1, C6 row 3, D8.2, D8.3.
  it('waits for the documents it lists, then verifies, and says so by webhook', async () => {
    const user = await newUser();
    const submitted = await submit(user, { id_type: 'NATIONAL_ID' });
    expect(submitted.body.data).toMatchObject({
      kyc_status: 'PENDING_DOCUMENTS',
      method: 'direct_data',
      required_documents: ['ID_FRONT', 'ID_BACK', 'SELFIE'],
    });
    const front = await post(`${user}/kyc/documents`, documentOf('ID_FRONT'));
    expect(front.body.data).toMatchObject({
      document_type: 'ID_FRONT',
      kyc_status: 'PENDING_DOCUMENTS',
      required_documents: ['ID_BACK', 'SELFIE'],
    });
    await post(`${user}/documents`, documentOf('ID_BACK', 'image/png'));
    const last = await post(`${user}/documents`, documentOf('SELFIE', 'image/webp'));
    expect(last.body.data).toMatchObject({ kyc_status: 'IN_PROGRESS', required_documents: [] });
    await reaches(user, 'VERIFIED');
    const read = await gateway.call('GET', user);
    expect(read.body.data.kyc.status).toBe('VERIFIED');
    const id = read.body.data.id;
    const event = await until('the webhook', () =>
      sink.received.find(({ event }) => event?.data?.user_id === id),
    );
    expect(event.event).toMatchObject({
      event_type: 'user.kyc.updated',
      data: { user_id: id, kyc_status: 'VERIFIED' },
    });
  });

  // Proves D8.5, D11.5.
  it.each([
    ['Rejected', 'REJECTED', ['DOCUMENT_FORGED']],
    ['Review', 'UNDER_REVIEW', undefined],
    ['Resubmit', 'VERIFICATION_REJECTED', ['DOCUMENT_UNREADABLE']],
  ])('gives the last name %s the status %s', async (last_name, status, reasons) => {
    const user = await newUser();
    await submit(user, { last_name });
    await post(`${user}/documents`, documentOf('ID_FRONT'));
    await post(`${user}/documents`, documentOf('SELFIE'));
    expect((await reaches(user, status)).rejection_reasons).toEqual(reasons);
    const again = await submit(user);
    if (status === 'VERIFICATION_REJECTED') {
      // A fresh start: the documents that were not good enough do not count.
      expect(again.body.data).toMatchObject({
        kyc_status: 'PENDING_DOCUMENTS',
        required_documents: ['ID_FRONT', 'SELFIE'],
      });
    } else {
      expect([again.status, again.body.error.code, again.body.error.details.status]).toEqual([
        409,
        'INVALID_STATUS',
        status,
      ]);
    }
  });

  it('keeps documents through a correction of the data', async () => {
    const user = await newUser();
    await submit(user, { id_type: 'NATIONAL_ID' });
    await post(`${user}/documents`, documentOf('ID_FRONT'));
    await post(`${user}/documents`, documentOf('SELFIE'));
    const corrected = await submit(user, { id_type: 'PASSPORT' });
    expect(corrected.body.data).toMatchObject({ kyc_status: 'IN_PROGRESS', required_documents: [] });
  });

  // Proves D8.2, C4.4 row 2.
  it('hands a hosted link to the customer and verifies without documents', async () => {
    const user = await newUser();
    const { body } = await post(`${user}/kyc`, { method: 'hosted_link', first_name: 'A', last_name: 'B' });
    expect(body.data).toMatchObject({ kyc_status: 'IN_PROGRESS', required_documents: [] });
    const path = new URL(body.data.verification_url).pathname;
    expect((await gateway.call('GET', path, { key: null })).status).toBe(200);
    expect((await gateway.call('GET', `${path.slice(0, -1)}~`, { key: null })).status).toBe(404);
    await reaches(user, 'VERIFIED');
  });

  // Proves D11.3.
  it('knows the test values whatever auto_advance says, and a sandbox user’s word comes first', async () => {
    await gateway.call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
    const user = await newUser();
    await post(`${user}/kyc`, { ...SUBMISSION, method: 'hosted_link' });
    await reaches(user, 'VERIFIED');
    await gateway.call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: true } });
    const set = await post(`/api/v1/sandbox/users/${user.split('/').at(-1)}/kyc-status`, {
      status: 'REJECTED',
      rejection_reasons: ['BY_HAND'],
    });
    expect(set.body.data.status).toBe('REJECTED');
    expect(await statusOf(user)).toMatchObject({ status: 'REJECTED', rejection_reasons: ['BY_HAND'] });
  });

  it('stores what it was sent, sealed, in the document store and nowhere else', async () => {
    const user = await newUser();
    await submit(user);
    const uploaded = await post(`${user}/documents`, documentOf('ID_FRONT'));
    const documentId = uploaded.body.data.document_id as string;
    const home = gateway.env.CAUSEWAY_HOME as string;
    const folder = join(home, 'documents', documentId.slice(-2));
    await until('the file', async () =>
      (await readdir(folder).catch((): string[] => [])).includes(`${documentId}.sealed`),
    );
    const sealed = await readFile(join(folder, `${documentId}.sealed`));
    expect(sealed.includes('not a real picture')).toBe(false);
    expect(sealed.length).toBe(fileOf('image/jpeg').length + 28);
  });

  // Proves D8.3.
  it.each([
    ['content_type', { ...documentOf('ID_FRONT'), content_type: 'image/png' }],
    ['content', { ...documentOf('ID_FRONT'), content: 'not base64!' }],
    [
      'content',
      { ...documentOf('ID_FRONT'), content: Buffer.from('plain text'.repeat(20)).toString('base64') },
    ],
    ['document_type', { ...documentOf('LETTER') }],
    ['content_type', { ...documentOf('ID_FRONT'), content_type: 'text/html' }],
  ])('refuses a document whose %s does not fit', async (path, body) => {
    const user = await newUser();
    await submit(user);
    const refused = await post(`${user}/documents`, body);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(refused.body.error.details.fields[0].path).toBe(path);
  });

  // Proves D4.2, C7 PAYLOAD_TOO_LARGE.
  it('takes large documents on the document routes only, and has a limit there too', async () => {
    const user = await newUser();
    await submit(user);
    const large = {
      ...documentOf('ID_FRONT'),
      content: fileOf('image/jpeg', 'x'.repeat(200_000)).toString('base64'),
    };
    expect(JSON.stringify(large).length).toBeGreaterThan(1_048_576);
    expect((await post(`${user}/documents`, large)).status).toBe(200);
    const padding = { ...SUBMISSION, ignored: 'x'.repeat(1_100_000) };
    expect((await post(`${user}/kyc`, padding)).status).toBe(413);
    // Whatever fits into a body of 10 MiB, to its last byte.
    const LIMIT = 10 * 1024 * 1024;
    const bodyOf = (bytes: number) => {
      const start = fileOf('image/jpeg');
      const content = Buffer.concat([start, Buffer.alloc(bytes - start.length)]).toString('base64');
      return JSON.stringify({ ...documentOf('SELFIE'), content });
    };
    const rest = LIMIT - bodyOf(fileOf('image/jpeg').length).length;
    const largest = bodyOf(fileOf('image/jpeg').length + Math.floor(rest / 4) * 3).padEnd(LIMIT);
    expect(largest.length).toBe(LIMIT);
    expect((await gateway.call('POST', `${user}/documents`, { rawBody: largest })).status).toBe(200);
    const refused = await gateway.call('POST', `${user}/documents`, { rawBody: `${largest} ` });
    expect([refused.status, refused.body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('takes no documents before there is a submission', async () => {
    const refused = await post(`${await newUser()}/documents`, documentOf('SELFIE'));
    expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATUS']);
  });

  // Proves D8.4.
  it.each([
    ['last_name', { last_name: '  ' }],
    ['date_of_birth', { date_of_birth: '2020-02-30' }],
    ['date_of_birth', { date_of_birth: '2999-01-01' }],
    ['nationality', { nationality: 'XX' }],
    ['id_type', { id_type: 'LIBRARY_CARD' }],
    ['method', { method: 'carrier_pigeon' }],
  ])('refuses a submission whose %s does not fit', async (path, changes) => {
    const refused = await submit(await newUser(), changes);
    expect(refused.status).toBe(400);
    expect(refused.body.error.details.fields[0].path).toBe(path);
  });

  it('takes a verdict once, and refuses one that the provider did not sign', async () => {
    const forged = await gateway.call('POST', '/api/v1/kyc/provider/callback', {
      key: null,
      body: { outcome: 'verification_passed' },
      headers: { 'x-simulated-kyc-signature': '00' },
    });
    expect([forged.status, forged.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  // Proves C4.4 row 8, D8.7.
  it('lists what is known of a customer and what is missing', async () => {
    const created = await post('/api/v1/partner/users', { email: 'identity@example.com', first_name: 'Ida' });
    const user = `/api/v1/partner/users/${created.body.data.id}`;
    await gateway.call('PATCH', `${user}/kyc`, { body: { city: 'Lagos' } });
    const { body } = await gateway.call('GET', `${user}/identity`);
    expect(body.data.items).toContainEqual({ field: 'first_name', status: 'present', source: 'profile' });
    expect(body.data.items).toContainEqual({ field: 'city', status: 'present', source: 'kyc' });
    expect(body.data.missing).toContain('id_number');
    expect(body.data.missing).not.toContain('city');
    expect(body.data.missing).toHaveLength(body.data.items.length - 2);
  });

  describe('PATCH kyc', () => {
    const patch = async (body: unknown) => {
      const user = await newUser();
      return { user, answer: await gateway.call('PATCH', `${user}/kyc`, { body }) };
    };

    // Proves C4.4 row 6, C4.4 rules 1 to 3.
    it('answers the names that were written, and leaves blank ones out', async () => {
      const { answer } = await patch({
        gender: 'F',
        nationality: 'ng',
        id_issue_country: 'NG',
        source_of_funds: 'GIFT',
        id_type: 'RESIDENCE_PERMIT',
        address: '  1 Marina ',
        city: '',
        postal_code: '   ',
        shoe_size: '43',
      });
      expect([answer.status, answer.body.data.updated_fields.toSorted()]).toEqual([
        200,
        ['address', 'gender', 'id_issue_country', 'id_type', 'nationality', 'source_of_funds'],
      ]);
    });

    // Proves C4.4 rule 3.
    it.each([[{ gender: '', city: ' ' }], [{}], [{ gender: null }]])('is a no-op for %j', async (body) => {
      const { answer } = await patch(body);
      expect([answer.status, answer.body.data]).toEqual([200, { updated_fields: [] }]);
    });

    // Proves C4.4 rule 4, D8.4, C7 invalid_gender, C7 invalid_country_code, C7 invalid_source_of_funds,
    // C7 invalid_field_value.
    it.each([
      ['invalid_gender', { gender: 'X' }],
      ['invalid_gender', { gender: true }],
      ['invalid_country_code', { nationality: 'Germany' }],
      ['invalid_country_code', { id_issue_country: 'ZZ' }],
      ['invalid_country_code', { nationality: 'ß' }],
      ['invalid_source_of_funds', { source_of_funds: 'LOTTERY' }],
      ['invalid_field_value', { address: { street: 'x' } }],
      ['invalid_field_value', { gender: ['M'] }],
      ['invalid_field_value', { city: [] }],
      ['invalid_field_value', { id_type: 'LIBRARY_CARD' }],
    ])('answers %s for %j and writes nothing', async (code, bad) => {
      const { user, answer } = await patch({ postal_code: '10115', ...bad });
      expect([answer.status, answer.body.error.code]).toEqual([400, code]);
      const identity = await gateway.call('GET', `${user}/identity`);
      expect(identity.body.data.missing).toContain('postal_code');
    });

    // Proves C4.4 rule 5.
    it('has no length ceilings', async () => {
      const { answer } = await patch({ address: '街'.repeat(5_000), city: '😀'.repeat(1_000) });
      expect(answer.body.data.updated_fields).toEqual(['address', 'city']);
    });

    it('does not take a body that is no object', async () => {
      for (const body of [[], 'text', 5, null]) expect((await patch(body)).answer.status).toBe(400);
    });
  });
});
