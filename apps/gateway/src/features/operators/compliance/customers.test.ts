import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../../test/harness/gateway.ts';
import { until } from '../../../../../../test/harness/until.ts';
import { documentOf, fileOf, SUBMISSION } from '../../kyc/testing/kyc-samples.ts';
import { writeOrder } from '../../privacy/testing/written-order.ts';

const IBAN = 'DE89370400440532013000';
const SEPA = {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  details: { full_name: 'Grace Hopper', iban: IBAN },
};
const reason = 'ticket 4711';

describe('the operator and customers', () => {
  let gateway: TestGateway;
  let users = 0;
  beforeAll(async () => {
    gateway = await startGateway({ worker: true });
  });
  afterAll(() => gateway?.stop());

  const partner = (method: string, path: string, body?: unknown) =>
    gateway.call(method, `/api/v1/partner${path}`, { body });
  const operator = (method: string, path: string, body?: unknown) =>
    gateway.call(method, `/api/v1/operator${path}`, { body, key: gateway.sandbox.operatorKey });
  const statusOf = async (id: string) =>
    (await partner('GET', `/users/${id}/verification-status`)).body.data.status;
  async function newUser(last_name = 'Hopper'): Promise<string> {
    const { body } = await partner('POST', '/users', { email: `op-${users++}@example.com` });
    const id = body.data.id as string;
    await partner('POST', `/users/${id}/kyc`, { ...SUBMISSION, last_name });
    return id;
  }
  async function underReview(): Promise<string> {
    const id = await newUser('Review');
    await partner('POST', `/users/${id}/documents`, documentOf('ID_FRONT'));
    await partner('POST', `/users/${id}/documents`, documentOf('SELFIE'));
    await until('UNDER_REVIEW', async () => (await statusOf(id)) === 'UNDER_REVIEW');
    return id;
  }
  const audit = async (subject: string) =>
    (await operator('GET', `/audit?subject=${encodeURIComponent(subject)}`)).body.data.entries as {
      action: string;
      reason: string;
    }[];

  // Proves D12.3.
  it('lists who waits, shows documents with a reason, approves, and writes it all down', async () => {
    const id = await underReview();
    const { body } = await operator('GET', '/kyc-reviews?limit=100');
    const review = body.data.reviews.find(({ user_id }: { user_id: string }) => user_id === id);
    expect(review.documents.map((one: { document_type: string }) => one.document_type)).toEqual([
      'ID_FRONT',
      'SELFIE',
    ]);
    const documentId = review.documents[0].document_id;
    const shown = await operator('POST', `/users/${id}/documents/${documentId}/reveal`, { reason });
    expect(shown.body.data).toEqual({
      content_type: 'image/jpeg',
      content: fileOf('image/jpeg').toString('base64'),
    });
    const approved = await operator('POST', `/users/${id}/kyc-decision`, { decision: 'approve', reason });
    expect(approved.body.data.kyc_status).toBe('VERIFIED');
    expect(await statusOf(id)).toBe('VERIFIED');
    expect((await audit(`users/${id}`)).map(({ action }) => action)).toEqual([
      'kyc.approve',
      'document.reveal',
    ]);
    const again = await operator('POST', `/users/${id}/kyc-decision`, { decision: 'approve', reason });
    expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    expect(again.body.error.details).toEqual({ status: 'VERIFIED', allowed_actions: ['reject'] });
    expect(await audit(`users/${id}`)).toHaveLength(2);
  });

  it('rejects only with reasons, which the partner reads', async () => {
    const id = await underReview();
    const silent = await operator('POST', `/users/${id}/kyc-decision`, { decision: 'reject', reason });
    expect([silent.status, silent.body.error.details.fields[0].path]).toEqual([400, 'rejection_reasons']);
    await operator('POST', `/users/${id}/kyc-decision`, {
      decision: 'reject',
      rejection_reasons: ['SANCTIONS_MATCH'],
      reason,
    });
    const read = await partner('GET', `/users/${id}`);
    expect(read.body.data.kyc).toMatchObject({ status: 'REJECTED', rejection_reasons: ['SANCTIONS_MATCH'] });
  });

  it('shows unmasked values only with a reason, and never to a partner', async () => {
    const id = await newUser();
    await partner('POST', `/users/${id}/payment-details`, SEPA);
    const refused = await operator('POST', `/users/${id}/reveal`, {});
    expect([refused.status, refused.body.error.details.fields[0].path]).toEqual([400, 'reason']);
    const shown = await operator('POST', `/users/${id}/reveal`, { reason });
    expect(shown.body.data).toMatchObject({
      kyc: { id_number: SUBMISSION.id_number },
      payment_details: [{ rail: 'iban-sepa', details: { iban: IBAN } }],
    });
    expect((await audit(`users/${id}`))[0]).toMatchObject({ action: 'user.reveal', reason });
    const asPartner = await gateway.call('POST', `/api/v1/operator/users/${id}/reveal`, { body: { reason } });
    expect(asPartner.status).toBe(401);
  });

  // Proves D12.3.
  it('decides screenings, and shows a recipient with a reason', async () => {
    const created = await partner('POST', '/recipients', {
      recipient_name: 'Maybe Review',
      recipient_country: 'DE',
      recipient_id_number: 'ID-998877',
    });
    const id = created.body.data.recipient_id as string;
    const listed = await until('the review', async () => {
      const { body } = await operator('GET', '/screening-reviews');
      return body.data.reviews.find((one: { recipient_id: string }) => one.recipient_id === id);
    });
    expect(listed.recipient_name_masked).toBe('****view');
    const cleared = await operator('POST', `/recipients/${id}/screening-decision`, {
      decision: 'clear',
      reason,
    });
    expect(cleared.body.data.screening_status).toBe('clear');
    const shown = await operator('POST', `/recipients/${id}/reveal`, { reason });
    expect(shown.body.data.recipient).toMatchObject({ recipient_id_number: 'ID-998877' });
    expect((await audit(`recipients/${id}`)).map(({ action }) => action)).toEqual([
      'recipient.reveal',
      'screening.clear',
    ]);
    const unknown = '00000000-0000-7000-8000-000000000000';
    expect((await operator('POST', `/recipients/${unknown}/reveal`, { reason })).status).toBe(404);
  });

  it('erases a recipient: gone for every caller, unfindable, unreadable', async () => {
    const created = await partner('POST', '/recipients', {
      recipient_name: 'Erasable Fellow',
      recipient_country: 'DE',
    });
    const id = created.body.data.recipient_id as string;
    expect((await operator('POST', `/recipients/${id}/erase`, { reason })).status).toBe(200);
    expect((await partner('GET', `/recipients/${id}`)).status).toBe(404);
    expect((await operator('POST', `/recipients/${id}/reveal`, { reason })).status).toBe(404);
    expect((await partner('GET', '/recipients?search=erasable')).body.data.recipients).toEqual([]);
  });

  it('erases a customer and keeps the books; open orders come first', async () => {
    const { body } = await partner('POST', '/users', { email: 'erase-me@example.com', last_name: 'Gone' });
    const id = body.data.id as string;
    await partner('POST', `/users/${id}/kyc`, SUBMISSION);
    const uploaded = await partner('POST', `/users/${id}/documents`, documentOf('ID_FRONT'));
    await partner('POST', `/users/${id}/payment-details`, SEPA);
    await gateway.call('POST', `/api/v1/sandbox/users/${id}/kyc-status`, { body: { status: 'VERIFIED' } });
    const admin = new pg.Client({ connectionString: gateway.databaseUrl });
    await admin.connect();
    try {
      const orderId = await writeOrder(admin, id);
      const early = await operator('POST', `/users/${id}/erase`, { reason });
      expect([early.status, early.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      await admin.query(
        `UPDATE orders SET status = 'completed', payer_details_sealed = 'an account' WHERE order_id = $1`,
        [orderId],
      );

      const erased = await operator('POST', `/users/${id}/erase`, { reason });
      expect(erased.body.data).toEqual({ user_id: id, documents: 1 });
      for (const path of ['', '/identity', '/verification-status', '/payment-details']) {
        expect((await partner('GET', `/users/${id}${path}`)).status).toBe(404);
      }
      const { rows } = await admin.query(
        'SELECT data_key_sealed, profile_sealed, kyc_status FROM users WHERE user_id = $1',
        [id],
      );
      expect(rows).toEqual([{ data_key_sealed: null, profile_sealed: null, kyc_status: 'REJECTED' }]);
      const kept = await admin.query('SELECT payer_details_sealed FROM orders WHERE user_id = $1', [id]);
      expect(kept.rows).toEqual([{ payer_details_sealed: null }]);
      await until('the document to be deleted', async () => {
        const store = gateway.deps.documents;
        return (await store.get(uploaded.body.data.document_id)) === undefined;
      });
      expect((await partner('POST', '/users', { email: 'erase-me@example.com' })).status).toBe(200);
      expect((await operator('POST', `/users/${id}/erase`, { reason })).status).toBe(404);
    } finally {
      await admin.end();
    }
  });
});
