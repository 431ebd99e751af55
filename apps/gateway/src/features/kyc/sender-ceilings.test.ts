import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { partnerScope } from '../../db/database.ts';
import { senderFieldProblems, senderIdentityDetails } from '../payment-details/validation/sender-fields.ts';
import { identityFields } from './identity.ts';
import { PATCHABLE_KYC_FIELDS } from './kyc-patch.ts';
import { readIdentity } from './kyc-profile.ts';

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
    const { identity } = await readIdentity(deps, partnerScope(partnerId), userId);
    return senderIdentityDetails(
      senderFieldProblems(identityFields(identity), ceilings),
      PATCHABLE_KYC_FIELDS,
    );
  }

  it('counts characters, not bytes or UTF-16 units, and lists what the KYC patch can supply', async () => {
    // 70 characters that are 280 bytes and 140 UTF-16 units, exactly at the ceiling.
    await patch({ address: '𠀀'.repeat(70), city: '😀'.repeat(51), postal_code: '1'.repeat(200) });
    expect(await ask()).toEqual({
      missing_fields: ['last_name', 'city', 'id_number', 'phone_number'],
      kyc_fields: ['city'],
      field_limits: { last_name: 60, city: 50, id_number: 30 },
    });
    await patch({ city: '😀'.repeat(50) });
    expect(await ask()).toMatchObject({
      missing_fields: ['last_name', 'id_number', 'phone_number'],
      kyc_fields: [],
    });
  });
});
