import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { partnerScope, reading } from '../../db/database.ts';
import { senderFieldProblems, senderIdentityDetails } from '../payment-details/validation/mask-details.ts';
import { identityFields, isSuppliable } from './kyc-fields.ts';
import { readIdentity } from './submission.ts';
import { SUBMISSION } from './testing/kyc-samples.ts';

describe('the identity of a paying customer on the Chinese wallets', () => {
  let gateway: TestGateway;
  let userId: string;
  beforeAll(async () => {
    gateway = await startGateway();
    const { body } = await gateway.call('POST', '/api/v1/partner/users', {
      body: { email: 'sender@example.com', first_name: '😀'.repeat(60), last_name: '𠀀'.repeat(61) },
    });
    userId = body.data.id;
  });
  afterAll(() => gateway?.stop());

  const patch = (body: unknown) => gateway.call('PATCH', `/api/v1/partner/users/${userId}/kyc`, { body });

  async function ask() {
    const { deps, partners } = gateway;
    const { partnerId } = (await deps.principals.find(partners[0].apiKey)) as { partnerId: string };
    const rail = deps.currencies.current().reference.catalogue.rail('alipay-china');
    const ceilings = rail?.formats?.[0]?.senderIdentity;
    if (ceilings === undefined) throw new Error('the rail names no ceilings');
    const { identity } = await readIdentity(reading(deps.db, partnerScope(partnerId)), deps.vaults, userId);
    return senderIdentityDetails(senderFieldProblems(identityFields(identity), ceilings), (field) =>
      isSuppliable(field, identity.kyc),
    );
  }

  // Proves trap 10.
  it('counts characters, not bytes or UTF-16 units, and lists what the KYC patch can supply', async () => {
    // 70 characters that are 280 bytes and 140 UTF-16 units, exactly at the ceiling.
    await patch({ address: '𠀀'.repeat(70), city: '😀'.repeat(51), postal_code: '1'.repeat(200) });
    expect(await ask()).toEqual({
      missing_fields: ['last_name', 'city', 'id_number', 'phone_number'],
      kyc_fields: ['last_name', 'city', 'id_number', 'phone_number'],
      field_limits: { last_name: 60, city: 50, id_number: 30 },
    });
    await patch({ city: '😀'.repeat(50) });
    expect(await ask()).toMatchObject({
      missing_fields: ['last_name', 'id_number', 'phone_number'],
      kyc_fields: ['last_name', 'id_number', 'phone_number'],
    });
  });

  describe('at initiate', () => {
    const ALIPAY = {
      rail: 'alipay-china',
      currency: 'CNY',
      country_code: 'CN',
      details: { full_name: 'Wang Wei', account_number: '13800138000', mobile_number: '+8613800138000' },
    };
    /** Every field exactly at its ceiling, in characters that are two UTF-16 units and four bytes each. */
    const AT_CEILING = {
      ...SUBMISSION,
      first_name: '😀'.repeat(60),
      last_name: '𠀀'.repeat(60),
      address: '𰻝'.repeat(70),
      city: '😀'.repeat(50),
      id_number: '𪛖'.repeat(30),
    };
    let senders = 0;

    const post = (path: string, body: unknown) => gateway.call('POST', `/api/v1${path}`, { body });

    async function quoteFrom(changes: object): Promise<{ sender: string; initiate: () => Promise<Answer> }> {
      const user = await post('/partner/users', { email: `ceiling-${senders++}@example.com` });
      const sender = user.body.data.id as string;
      const submitted = await post(`/partner/users/${sender}/kyc`, { ...AT_CEILING, ...changes });
      expect(submitted.status, submitted.text).toBe(200);
      await post(`/sandbox/users/${sender}/kyc-status`, { status: 'VERIFIED' });
      const recipient = await post('/partner/recipients', {
        recipient_name: 'Wang Wei',
        recipient_country: 'CN',
      });
      const { recipient_id } = recipient.body.data;
      await post(`/sandbox/recipients/${recipient_id}/screening-status`, { screening_status: 'clear' });
      const added = await post(`/partner/recipients/${recipient_id}/destinations`, ALIPAY);
      const quote = await post('/partner/offramp/quote', {
        crypto_currency: 'USDC',
        fiat_currency: 'CNY',
        fiat_amount: '700.00',
        sender_id: sender,
        recipient_id,
        recipient_destination_id: added.body.data.recipient_destination_id,
        sender_recipient_relationship: 'family',
      });
      expect(quote.status, quote.text).toBe(200);
      const { quote_id } = quote.body.data;
      return { sender, initiate: () => post('/partner/offramp/initiate', { quote_id }) };
    }

    // Proves C8 row 6, trap 10.
    it('a sender whose every field is as long as it may be is named', async () => {
      const { initiate } = await quoteFrom({});
      const order = await initiate();
      expect(order.status, order.text).toBe(200);
    });

    // Proves C4.6 rule 6, C8 row 6, C7 rule 2, C7 SENDER_IDENTITY_REQUIRED, trap 10.
    it.each([
      ['first_name', 60, '😀'],
      ['last_name', 60, '𠀀'],
      ['address', 70, '𰻝'],
      ['city', 50, '😀'],
      ['id_number', 30, '𪛖'],
    ])('one character more in %s than %i counts as missing', async (field, ceiling, character) => {
      const { initiate } = await quoteFrom({ [field]: character.repeat(ceiling + 1) });
      const refused = await initiate();
      expect([refused.status, refused.body.error.code]).toEqual([422, 'SENDER_IDENTITY_REQUIRED']);
      expect(refused.body.error.details).toEqual({
        missing_fields: [field],
        // No document has so long a number: there is nothing to shorten it to.
        kyc_fields: field === 'id_number' ? [] : [field],
        field_limits: { [field]: ceiling },
      });
    });

    // Proves C4.6 rule 6, trap 3.
    it.each([
      ['city', '😀'.repeat(51), '😀'.repeat(50)],
      ['first_name', '𠀀'.repeat(61), '𠀀'.repeat(60)],
      ['last_name', `de ${'𠀀'.repeat(30)} y ${'😀'.repeat(30)}`, `${'𠀀'.repeat(30)} y`],
    ])(
      'a refused quote is unharmed: with %s shortened by the KYC patch, the same one is initiated',
      async (field, long, short) => {
        const { sender, initiate } = await quoteFrom({ [field]: long });
        expect((await initiate()).status).toBe(422);
        const patched = await gateway.call('PATCH', `/api/v1/partner/users/${sender}/kyc`, {
          body: { [field]: short },
        });
        expect(patched.body.data, patched.text).toEqual({ updated_fields: [field] });
        const order = await initiate();
        expect(order.status, order.text).toBe(200);
      },
    );
  });
});
