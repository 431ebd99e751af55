import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type LocalYente,
  startLocalYente,
} from '../../apps/gateway/src/features/screening/names/testing/local-yente.ts';
import type { TestGateway } from '../harness/gateway.ts';
import type { OrdersDriver } from './orders-driver.ts';
import { startOrdersFixture } from './orders-fixture.ts';
import type { OrderParties } from './orders-parties.ts';

const CANADIAN = { fiat_currency: 'CAD', payment_network_slug: 'interac-canada' };
/** Of the right length, by no one. */
const OTHERS = `0x${'11'.repeat(64)}1b`;
const EMMA = { full_name: 'Emma Tremblay', email: 'emma@example.ca' };

describe('what is said of a payer or a payee fits the rail', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;

  beforeAll(async () => {
    ({ gateway, driver, parties } = await startOrdersFixture());
  });
  afterAll(() => gateway?.stop());

  async function canadianDetails(userId: string): Promise<number> {
    const made = await gateway.partner.paymentDetails.create(userId, {
      rail: 'interac-canada',
      currency: 'CAD',
      country_code: 'CA',
      details: EMMA,
    });
    expect(made.status, made.text).toBe(200);
    return made.body.data.id as number;
  }

  describe('submit-payer-details', () => {
    let userId: string;
    let orderId: string;
    beforeAll(async () => {
      userId = await driver.user();
      orderId = await driver.onrampOrder({ ...CANADIAN, user_uuid: userId });
      for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(orderId, event);
      await driver.reaches(orderId, 'awaiting_fiat_transfer');
    });

    const submit = (body: object) => driver.act(orderId, 'submit-payer-details', body);

    // Proves C4.5 row 3, C7 INVALID_PAYER_DETAILS.
    it.each([
      ['only fields that the rail does not have', { foo: 'bar' }, ['full_name', 'email', 'phone_number']],
      ['an e-mail that is none', { ...EMMA, email: 'not-an-email' }, ['email']],
      ['no name', { email: EMMA.email }, ['full_name']],
      ['neither e-mail nor phone', { full_name: EMMA.full_name }, ['email', 'phone_number']],
      ['a value that is no text', { ...EMMA, email: { nested: true } }, ['email']],
    ])('refuses %s and names the fields', async (_what, payment_details, fields) => {
      const refused = await submit({ payment_details });
      expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_PAYER_DETAILS']);
      const paths = refused.body.error.details.fields.map(({ path }: { path: string }) => path);
      expect(paths).toEqual(fields.map((field) => `payment_details.${field}`));
      expect(await driver.read(orderId)).toMatchObject({ next_action: 'submit_payer_details' });
    });

    it('refuses a saved profile of another rail, and another customer’s as if it were not there', async () => {
      const sepa = await submit({ payment_details_id: await driver.ownDetails(userId) });
      expect([sepa.status, sepa.body.error.code]).toEqual([400, 'INVALID_PAYER_DETAILS']);
      expect(sepa.body.error.details.fields).toEqual([
        { path: 'payment_details_id', message: expect.stringContaining('interac-canada') },
      ]);
      const foreign = await submit({ payment_details_id: await canadianDetails(await driver.user()) });
      const missing = await submit({ payment_details_id: 999_999_999 });
      expect([foreign.status, foreign.body.error.code]).toEqual([404, 'PAYMENT_DETAILS_NOT_FOUND']);
      expect(foreign.text).toBe(missing.text);
      expect(await driver.read(orderId)).toMatchObject({ next_action: 'submit_payer_details' });
    });

    // Proves trap 43.
    it('refuses a payer who is not cleared: the vendor’s bank will read the name', async () => {
      const details = { ...EMMA, full_name: 'Blocked Person' };
      const saved = await gateway.partner.paymentDetails.create(userId, {
        rail: 'interac-canada',
        currency: 'CAD',
        country_code: 'CA',
        details,
      });
      for (const body of [{ payment_details: details }, { payment_details_id: saved.body.data.id }]) {
        const refused = await submit(body);
        expect([refused.status, refused.body.error.code]).toEqual([422, 'RECIPIENT_NOT_CLEARED']);
      }
      expect(await driver.read(orderId)).toMatchObject({ next_action: 'submit_payer_details' });
    });

    it('takes what fits, and tells the vendor that and nothing else', async () => {
      const given = await submit({ payment_details: { ...EMMA, email: 'Emma@Example.ca', foo: 'bar' } });
      expect(given.status, given.text).toBe(200);
      const vendor = await parties.vendorOf(orderId);
      const told = await vendor.get('payment-instructions');
      expect(told.status, told.text).toBe(200);
      expect(told.text).toContain('Emma Tremblay');
      expect(told.text).not.toContain('bar');
      const saved = await submit({ payment_details_id: await canadianDetails(userId) });
      expect(saved.status, saved.text).toBe(200);
    });
  });

  describe('accept', () => {
    it('refuses payment details that lack what the rail requires or are malformed, and keeps the offer', async () => {
      const orderId = await driver.onrampOrder();
      const vendor = await parties.vendorOf(orderId);
      const refund_signature = await vendor.sign('refund');
      for (const [payment_details, path] of [
        [{ iban: 'DE02120300000000202051' }, 'payment_details.full_name'],
        [{ full_name: 'Harbour Liquidity', iban: 'DE00120300000000202051' }, 'payment_details.iban'],
        [{ foo: 'bar' }, 'payment_details.full_name'],
      ] as const) {
        const refused = await vendor.post('accept', { refund_signature, payment_details });
        // A signature that does not fit either is not what the vendor is told of: it would sign again for nothing.
        const unsigned = await vendor.post('accept', { refund_signature: OTHERS, payment_details });
        expect(unsigned.body).toEqual(refused.body);
        expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
        const paths = refused.body.error.details.fields.map((field: { path: string }) => field.path);
        expect(paths).toContain(path);
      }
      expect(await driver.read(orderId)).toMatchObject({ status: 'awaiting_liquidity_provider' });
      const payment_details = {
        full_name: 'Harbour Liquidity',
        iban: 'de02 1203 0000 0000 2020 51',
        reference: 'invoice 7',
      };
      const accepted = await vendor.post('accept', { refund_signature, payment_details });
      expect(accepted.status, accepted.text).toBe(200);
      await driver.event(orderId, 'escrow_funded');
      expect((await driver.reaches(orderId, 'awaiting_fiat_transfer')).vendor_payment_details).toEqual({
        full_name: 'Harbour Liquidity',
        iban: 'DE02120300000000202051',
        reference: 'invoice 7',
      });
    });
  });
});

describe('a payer given inline, where names are screened by a service', () => {
  let yente: LocalYente;
  let gateway: TestGateway;
  let driver: OrdersDriver;

  beforeAll(async () => {
    const listed = { id: 'Q1', schema: 'Person', names: ['Emile Listed'], datasets: ['ca_list'] } as const;
    yente = await startLocalYente({ entities: [listed], collection: 'sanctions' });
    ({ gateway, driver } = await startOrdersFixture({ YENTE_URL: yente.url, YENTE_DATASET: 'sanctions' }));
  });
  afterAll(async () => {
    await gateway?.stop();
    await yente?.close();
  });

  // Proves trap 43.
  it('is refused when listed, and while the service does not answer; the order goes on with a clear one', async () => {
    const orderId = await driver.onrampOrder(CANADIAN);
    for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(orderId, event);
    await driver.reaches(orderId, 'awaiting_fiat_transfer');
    const submit = async (payment_details: object) => {
      const { status, body } = await driver.act(orderId, 'submit-payer-details', { payment_details });
      return [status, body.error?.code];
    };
    expect(await submit({ ...EMMA, full_name: 'Emile Listed' })).toEqual([422, 'RECIPIENT_NOT_CLEARED']);
    yente.interfere(/POST \/match/, { status: 500, body: 'broken' });
    expect(await submit(EMMA)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(await driver.read(orderId)).toMatchObject({ next_action: 'submit_payer_details' });
    expect(await submit(EMMA)).toEqual([200, undefined]);
    expect(await driver.read(orderId)).not.toMatchObject({ next_action: 'submit_payer_details' });
  });
});
