import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { untyped } from '../harness/sdk.ts';

const WALLETS = ['alipay-china', 'wechat-china'] as const;
const DETAILS = { full_name: 'Wang Wei', account_number: '13800138000', mobile_number: '+8613800138000' };
const BUSINESS = { recipient_name: 'Wang Trading Co', recipient_kind: 'business', recipient_country: 'CN' };
const ABROAD = { recipient_name: 'Wei Wang', recipient_kind: 'individual', recipient_country: 'US' };

describe('who is paid by a consumer wallet, and who pays', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway?.stop());

  let users = 0;

  async function customer(fields: object = {}): Promise<string> {
    const made = await gateway.partner.users.create({ email: `wallet-${users++}@example.com`, ...fields });
    const { id } = made.body.data;
    await gateway.partner.sandbox.kycStatus(id, { status: 'VERIFIED' });
    return id;
  }

  async function recipient(fields: object): Promise<string> {
    const made = await gateway.partner.recipients.create(untyped(fields));
    const { recipient_id: id } = made.body.data;
    await gateway.partner.sandbox.screeningStatus(id, { screening_status: 'clear' });
    return id;
  }

  const destination = (recipientId: string, rail: string) =>
    gateway.partner.recipients.createDestination(recipientId, {
      rail,
      currency: 'CNY',
      country_code: 'CN',
      details: DETAILS,
    });

  const quote = (sender: string, recipientId: string, destinationId: string) =>
    gateway.partner.offramp.quote({
      crypto_currency: 'USDC',
      fiat_currency: 'CNY',
      fiat_amount: '700.00',
      sender_id: sender,
      recipient_id: recipientId,
      recipient_destination_id: destinationId,
      sender_recipient_relationship: 'family',
    });

  describe.each(WALLETS)('%s', (rail) => {
    // Proves C4.6 rule 7, C4.1 rule 6, C7 RECIPIENT_NOT_ELIGIBLE.
    it.each([
      ['a business', BUSINESS, 'recipient_kind'],
      ['a recipient outside China', ABROAD, 'recipient_country'],
    ])('gives %s no destination', async (_who, fields, path) => {
      const id = await recipient(fields);
      const refused = await destination(id, rail);
      expect([refused.status, refused.body.error?.code]).toEqual([422, 'RECIPIENT_NOT_ELIGIBLE']);
      expect(refused.body.error.details.fields).toEqual([{ path, message: expect.stringContaining(rail) }]);
      const listed = await gateway.partner.recipients.listDestinations(id);
      expect(listed.body.data.destinations).toEqual([]);
    });

    it('refuses to quote for a payee that has moved out of China since the destination was added', async () => {
      const id = await recipient({ recipient_name: 'Wang Wei', recipient_country: 'CN' });
      const added = await destination(id, rail);
      const { recipient_destination_id: destinationId } = added.body.data;
      const sender = await customer();
      expect((await quote(sender, id, destinationId)).status).toBe(200);
      await gateway.partner.recipients.update(id, { recipient_country: 'US' });
      await gateway.partner.sandbox.screeningStatus(id, { screening_status: 'clear' });
      const refused = await quote(sender, id, destinationId);
      expect([refused.status, refused.body.error?.code]).toEqual([422, 'RECIPIENT_NOT_ELIGIBLE']);
    });
  });

  it('a business is paid by the bank rail of the same country', async () => {
    const id = await recipient(BUSINESS);
    const added = await gateway.partner.recipients.createDestination(id, {
      rail: 'cnaps',
      currency: 'CNY',
      country_code: 'CN',
      institution_id: 'bank-of-china',
      details: {
        beneficiary_type: 'business',
        company_name: 'Wang Trading Co',
        company_name_native: '王贸易有限公司',
        account_number: '6217001234567890123',
      },
    });
    expect(added.body.error?.code).not.toBe('RECIPIENT_NOT_ELIGIBLE');
  });

  /** Every field that any rail asks of the sender, with a value that fits. */
  const SENDER: Readonly<Record<string, string>> = {
    first_name: 'Ada',
    last_name: 'Lovelace',
    address: '12 St James’s Square',
    city: 'London',
    postal_code: 'SW1Y 4JH',
    id_number: 'P1234567',
    phone_number: '+442079460958',
  };

  it('a verified customer of whom nothing is known supplies every field that a rail asks for, one by one', async () => {
    const { catalogue } = gateway.deps.currencies.current().reference;
    const asking = catalogue.data.rails.flatMap(({ slug, formats = [] }) =>
      formats.flatMap(({ senderIdentity }) =>
        senderIdentity === undefined ? [] : [{ slug, fields: senderIdentity.requiredFields }],
      ),
    );
    expect(asking.map(({ slug }) => slug).toSorted()).toEqual([...WALLETS]);
    for (const { slug, fields } of asking) {
      const sender = await customer();
      const id = await recipient({ recipient_name: 'Wang Wei', recipient_country: 'CN' });
      const added = await destination(id, slug);
      const initiate = async () => {
        const quoted = await quote(sender, id, added.body.data.recipient_destination_id);
        return gateway.partner.offramp.initiate({ quote_id: quoted.body.data.quote_id });
      };
      const left = [...fields];
      while (left.length > 0) {
        const refused = await initiate();
        expect([refused.status, refused.body.error?.code]).toEqual([422, 'SENDER_IDENTITY_REQUIRED']);
        // Whatever is missing can be sent: no order is stuck.
        expect(refused.body.error.details).toMatchObject({ missing_fields: left, kyc_fields: left });
        const field = left.shift() as string;
        expect(SENDER, `${slug} asks for ${field}`).toHaveProperty(field);
        const patched = await gateway.partner.kyc.update(sender, { [field]: SENDER[field] });
        expect(patched.body.data, patched.text).toEqual({ updated_fields: [field] });
      }
      const order = await initiate();
      expect(order.status, order.text).toBe(200);
    }
  });

  it('a phone number can be changed later; what a verification has established cannot', async () => {
    const sender = await customer();
    const patch = async (body: object) => gateway.partner.kyc.update(sender, untyped(body));
    expect((await patch(SENDER)).body.data.updated_fields.toSorted()).toEqual(Object.keys(SENDER).toSorted());
    const again = {
      ...SENDER,
      first_name: 'Grace',
      last_name: 'Hopper',
      id_number: 'X1',
      phone_number: '+442079460000',
    };
    const { updated_fields: written } = (await patch(again)).body.data;
    expect(written.toSorted()).toEqual(['address', 'city', 'phone_number', 'postal_code']);
    for (const phone_number of ['call me', 5, { nested: 1 }]) {
      const refused = await patch({ phone_number });
      expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_field_value']);
    }
  });
});
