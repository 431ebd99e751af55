import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixedMarket, startFixedMarket } from '../../../../../test/harness/fixed-market.ts';
import { until } from '../../../../../test/harness/until.ts';

const QUOTE = '/api/v1/partner/offramp/quote';
const RECIPIENTS = '/api/v1/partner/recipients';
const SEPA = {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  details: { full_name: 'Erika Mustermann', iban: 'DE89370400440532013000' },
};
const WALLET_DETAILS = { full_name: 'Wang Wei', account_number: '13800138000', mobile_number: '13800138000' };

describe('off-ramp quotes', () => {
  let market: FixedMarket;
  let userId: string;
  let detailsId: number;
  beforeAll(async () => {
    market = await startFixedMarket({ worker: true });
    await market.setRates({ EUR: '0.9', CNY: '7' });
    userId = await market.newCustomer();
    detailsId = await savedDetails(userId);
  });
  afterAll(() => market?.stop());

  const call = (body: object, key = market.gateway.partners[0].apiKey) =>
    market.gateway.call('POST', QUOTE, {
      key,
      body: { crypto_currency: 'USDC', fiat_currency: 'EUR', crypto_amount: '100', ...body },
    });

  async function savedDetails(user: string, body: object = SEPA, key = market.gateway.partners[0].apiKey) {
    const path = `/api/v1/partner/users/${user}/payment-details`;
    return (await market.gateway.call('POST', path, { key, body })).body.data.id as number;
  }

  async function recipient(destination: object = SEPA, name = 'Max Power', country = 'DE') {
    const created = await market.gateway.call('POST', RECIPIENTS, {
      body: { recipient_name: name, recipient_country: country },
    });
    const id = created.body.data.recipient_id as string;
    const added = await market.gateway.call('POST', `${RECIPIENTS}/${id}/destinations`, {
      body: destination,
    });
    expect(added.status, added.text).toBe(200);
    await until('screening', async () => {
      const { body } = await market.gateway.call('GET', `${RECIPIENTS}/${id}`);
      return body.data.screening_status !== 'pending';
    });
    return {
      sender_id: userId,
      recipient_id: id,
      recipient_destination_id: added.body.data.recipient_destination_id as string,
    };
  }

  const stored = async (quoteId: string) =>
    (await market.owner.query('SELECT * FROM quotes WHERE quote_id = $1', [quoteId])).rows[0];

  // Proves C4.6 row 1, D6.3.
  it('pays the customer’s own profile: its rail, institution and country decide who serves', async () => {
    const quoted = await call({ user_uuid: userId, payment_details_id: detailsId });
    expect(quoted.status, quoted.text).toBe(200);
    expect(quoted.body.data).toMatchObject({
      payment_network_slug: 'iban-sepa',
      payment_method_slug: 'other-bank',
      anchor_type: 'crypto',
      has_fiat_settlement_notification: expect.any(Boolean),
    });
    expect(await stored(quoted.body.data.quote_id)).toMatchObject({
      direction: 'offramp',
      payment_details_id: String(detailsId),
      country_code: 'DE',
      sender_recipient_relationship: 'self',
    });
  });

  // Proves D6.3.
  it('takes the number as a string too, and says fiat where the payout is pinned', async () => {
    const quoted = await call({
      user_uuid: userId,
      payment_details_id: String(detailsId),
      crypto_amount: undefined,
      fiat_amount: '50.00',
    });
    expect(quoted.body.data).toMatchObject({ anchor_type: 'fiat', fiat_amount: '50.00' });
  });

  // Proves C2.10 rule 5, D6.1.
  it('matches only providers that send settlement notifications where that is asked for', async () => {
    const quoted = await call({
      user_uuid: userId,
      payment_details_id: detailsId,
      has_fiat_settlement_notification: true,
    });
    expect(quoted.body.data.has_fiat_settlement_notification).toBe(true);
    const impossible = await call({
      user_uuid: userId,
      payment_details_id: detailsId,
      has_fiat_settlement_notification: true,
      provider_scope: 'p2p',
    });
    expect([impossible.status, impossible.body.error.code]).toEqual([422, 'NO_OFFERS_AVAILABLE']);
    // Either filter alone can be met, so changing either is enough.
    expect(impossible.body.error.details).toEqual({
      excluded_by: [
        { condition: 'provider_scope', available: ['direct'] },
        { condition: 'settlement_notification' },
      ],
    });
  });

  // Proves C7 PAYMENT_DETAILS_NOT_FOUND, C5 rule 5.
  it('finds payment details by customer and number: another customer’s answer as unknown ones', async () => {
    const other = await market.newCustomer();
    const foreign = await call({ user_uuid: other, payment_details_id: detailsId });
    const unknown = await call({ user_uuid: other, payment_details_id: 999_999 });
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'PAYMENT_DETAILS_NOT_FOUND']);
    expect(foreign.text).toBe(unknown.text);
    for (const impossible of ['9223372036854775808', 1e30]) {
      const answer = await call({ user_uuid: other, payment_details_id: impossible });
      expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    }
  });

  // Proves C4.5 rule 4, C7 KYC_NOT_CLEARED, C7 rule 1.
  it('refuses a customer that is not cleared, and hides another partner’s', async () => {
    const { gateway } = market;
    const created = await gateway.call('POST', '/api/v1/partner/users', {
      body: { email: 'new@example.com' },
    });
    const unverified = created.body.data.id as string;
    const details = await savedDetails(unverified);
    const refused = await call({ user_uuid: unverified, payment_details_id: details });
    expect(refused.body.error).toMatchObject({
      code: 'KYC_NOT_CLEARED',
      details: { kyc_status: 'NOT_INITIATED' },
    });
    const foreign = await call(
      { user_uuid: userId, payment_details_id: detailsId },
      gateway.partners[1].apiKey,
    );
    const unknown = await call({
      user_uuid: '00000000-0000-7000-8000-000000000000',
      payment_details_id: detailsId,
    });
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'USER_NOT_FOUND']);
    expect(foreign.text).toBe(unknown.text);
  });

  // Proves D6.2, D8.10, D3.2.
  it.each([
    ['no payee at all', {}, ['user_uuid', 'payment_details_id']],
    ['no payment details', { user_uuid: true }, ['payment_details_id']],
    ['half a third party', { sender_id: true }, ['recipient_id', 'recipient_destination_id']],
    ['both kinds of payee', { third: true, payment_details_id: 1 }, ['payment_details_id']],
    ['another customer beside the sender', { third: true, user_uuid: 'other' }, ['user_uuid']],
    ['a currency the details do not have', { own: true, fiat_currency: 'USD' }, ['fiat_currency']],
    ['another rail', { own: true, payment_network_slug: 'ach-us' }, ['payment_network_slug']],
    ['another country', { own: true, country_code: 'FR' }, ['country_code']],
    [
      'an unknown relationship',
      { own: true, sender_recipient_relationship: 'boss' },
      ['sender_recipient_relationship'],
    ],
    ['an unknown purpose', { own: true, purpose_of_payment: 'fun' }, ['purpose_of_payment']],
  ])('names the fields of %s', async (_what, requested: Record<string, unknown>, paths) => {
    const { own, third, ...rest } = requested;
    const id = '00000000-0000-7000-8000-000000000001';
    const body = {
      ...(own === true ? { user_uuid: userId, payment_details_id: detailsId } : {}),
      ...(third === true ? { sender_id: userId, recipient_id: id, recipient_destination_id: id } : {}),
      ...rest,
      ...(rest.user_uuid === true ? { user_uuid: userId } : {}),
      ...(rest.user_uuid === 'other' ? { user_uuid: id } : {}),
      ...(rest.sender_id === true ? { sender_id: userId } : {}),
    };
    const refused = await call(body);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(refused.body.error.details.fields.map(({ path }: { path: string }) => path)).toEqual(paths);
  });

  // Proves C4.6 row 1, C4.7 rule 2, C2.11 rule 3.
  it('keeps a third party as it was: no later version of it changes the quote', async () => {
    const payee = await recipient();
    const quoted = await call({
      ...payee,
      sender_recipient_relationship: 'friend',
      purpose_of_payment: 'gift',
    });
    expect(quoted.status, quoted.text).toBe(200);
    const before = await stored(quoted.body.data.quote_id);
    expect(before).toMatchObject({
      user_id: userId,
      recipient_id: payee.recipient_id,
      recipient_version: 1,
      recipient_destination_version: 1,
      sender_recipient_relationship: 'friend',
      purpose_of_payment: 'gift',
    });
    expect(before.recipient_context_sealed).not.toContain('Power');
    await market.gateway.call('PATCH', `${RECIPIENTS}/${payee.recipient_id}`, {
      body: { recipient_name: 'Another Name' },
    });
    expect(await stored(quoted.body.data.quote_id)).toEqual(before);
    const { rows: columns } = await market.owner.query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'quotes'
        AND column_name NOT IN ('status', 'vendor_id', 'serving_offer_id')`,
    );
    expect(columns.length).toBeGreaterThan(20);
    for (const { name } of columns) {
      const change = `UPDATE quotes SET ${name} = ${name} WHERE quote_id = $1`;
      await expect(market.owner.query(change, [before.quote_id]), name).rejects.toThrow();
    }
  });

  // Proves D8.8, C7 RECIPIENT_NOT_CLEARED.
  it.each([
    ['Blocked Person', 'blocked'],
    ['Person to Review', 'review'],
  ])('refuses a recipient whose screening is not clear (%s)', async (name) => {
    const refused = await call(await recipient(SEPA, name));
    expect([refused.status, refused.body.error.code]).toEqual([422, 'RECIPIENT_NOT_CLEARED']);
  });

  // Proves C3.5, C7 RECIPIENT_NOT_FOUND, C7 DESTINATION_NOT_FOUND.
  it('refuses archived and foreign recipients and destinations of another recipient, all as unknown', async () => {
    const first = await recipient();
    const second = await recipient();
    const mixed = await call({ ...first, recipient_destination_id: second.recipient_destination_id });
    expect([mixed.status, mixed.body.error.code]).toEqual([404, 'DESTINATION_NOT_FOUND']);
    await market.gateway.call('DELETE', `${RECIPIENTS}/${first.recipient_id}`);
    const archived = await call(first);
    const unknown = await call({ ...second, recipient_id: '00000000-0000-7000-8000-000000000000' });
    expect([archived.status, archived.body.error.code]).toEqual([404, 'RECIPIENT_NOT_FOUND']);
    expect(archived.text).toBe(unknown.text);
    const otherPartner = market.gateway.partners[1].apiKey;
    const theirs = await call({ ...second, sender_id: await market.newCustomer(otherPartner) }, otherPartner);
    expect(theirs.text).toBe(unknown.text);
  });

  // Proves C4.6 rule 7, D8.11, C7 RELATIONSHIP_NOT_ALLOWED.
  it('pays a WeChat wallet to the sender or to family only', async () => {
    const payee = await recipient(
      { rail: 'wechat-china', currency: 'CNY', country_code: 'CN', details: WALLET_DETAILS },
      'Wang Wei',
      'CN',
    );
    const quote = (relationship?: string) =>
      call({ ...payee, fiat_currency: 'CNY', sender_recipient_relationship: relationship });
    for (const allowed of ['self', 'family']) expect((await quote(allowed)).status).toBe(200);
    for (const refused of ['friend', 'employee', 'supplier', 'customer', 'other']) {
      const { status, body } = await quote(refused);
      expect([status, body.error.code], refused).toEqual([422, 'RELATIONSHIP_NOT_ALLOWED']);
    }
    const { status, body } = await quote(undefined);
    expect([status, body.error.details.fields[0].path]).toEqual([400, 'sender_recipient_relationship']);
  });

  // Proves C4.6 rule 7, D8.10, D8.11.
  it('pays an Alipay wallet to the sender, to family and to a third party', async () => {
    const payee = await recipient(
      { rail: 'alipay-china', currency: 'CNY', country_code: 'CN', details: WALLET_DETAILS },
      'Wang Wei',
      'CN',
    );
    for (const relationship of ['self', 'family', 'friend', 'employee', 'supplier', 'customer', 'other']) {
      const { status, text } = await call({
        ...payee,
        fiat_currency: 'CNY',
        sender_recipient_relationship: relationship,
      });
      expect(status, `${relationship}: ${text}`).toBe(200);
    }
  });

  // Proves C4.1 rule 7.
  it('refuses an institution that has gone offline since the details were saved', async () => {
    const own = await market.newCustomer();
    const details = await savedDetails(own, { ...SEPA, institution_id: 'commerzbank' });
    expect((await call({ user_uuid: own, payment_details_id: details })).status).toBe(200);
    await market.owner.query(
      `UPDATE reference_records SET data = data || '{"live": false}' WHERE kind = 'institutions' AND id = 'commerzbank'`,
    );
    await until('the change', () => {
      const { catalogue } = market.gateway.deps.currencies.current().reference;
      return catalogue.institution('commerzbank')?.live === false;
    });
    const refused = await call({ user_uuid: own, payment_details_id: details });
    expect([refused.status, refused.body.error.code]).toEqual([422, 'INSTITUTION_NOT_AVAILABLE']);
  });
});
