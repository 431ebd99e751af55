import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixedMarket, startFixedMarket } from '../../../../../test/harness/fixed-market.ts';
import { until } from '../../../../../test/harness/until.ts';

const OFFERS = '/api/v1/vendor/offers';
/** Far better than the market, so that it is used wherever it may be. */
const BARGAIN = {
  side: 'SELL',
  crypto_currency: 'usdc',
  fiat_currency: 'EUR',
  price: '0.25',
  min_amount: '20.00',
  max_amount: '500',
  payment_options: [{ network_slug: 'iban-sepa', method_slugs: ['commerzbank'] }],
  countries: ['de'],
  available_balance: '10000.5',
};

describe('offers of vendors', () => {
  let market: FixedMarket;
  let vendor: string;
  let otherVendor: string;
  beforeAll(async () => {
    market = await startFixedMarket();
    await market.setRates({ EUR: '0.5' });
    const [first, second] = market.gateway.sandbox.vendors;
    vendor = first!.apiKey;
    otherVendor = second!.apiKey;
  });
  afterAll(() => market?.stop());

  const as = (key: string, method: string, path: string, body?: object) =>
    market.gateway.call(method, path, { key, ...(body ? { body } : {}) });
  const operate = (method: string, path: string, body?: object) =>
    as(market.gateway.sandbox.operatorKey, method, path, body);
  const make = async (changes: object = {}) => {
    const made = await as(vendor, 'POST', OFFERS, { ...BARGAIN, ...changes });
    expect(made.status, made.text).toBe(200);
    return made.body.data;
  };
  const authorize = (offerId: string, more: object = {}) =>
    operate('POST', `/api/v1/operator/offers/${offerId}/authorization`, {
      authorized: true,
      reason: 'ticket 12',
      ...more,
    });
  const withdraw = (offerId: string) => as(vendor, 'DELETE', `${OFFERS}/${offerId}`);
  const bookHas = (offerId: string) => market.gateway.deps.offers.book().offer(offerId);
  const rate = async (): Promise<string> => {
    const { body, text } = await market.gateway.call('POST', '/api/v1/partner/onramp/estimate', {
      body: { crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00' },
    });
    expect(body.success, text).toBe(true);
    return body.data.rate;
  };
  const smallestBuy = async (): Promise<number | undefined> => {
    const { body } = await market.gateway.call('GET', '/api/v1/partner/liquidity', { key: null });
    return body.data.pairs.find(
      (pair: Record<string, unknown>) =>
        pair.crypto_currency_code === 'USDC' &&
        pair.fiat_currency_code === 'EUR' &&
        pair.trade_type === 'BUY',
    )?.min_amount;
  };

  // Proves D12.1.
  it('an offer is not used until the operator authorizes it, then estimates and liquidity show it', async () => {
    const before = await rate();
    const smallestBefore = await smallestBuy();
    const offer = await make({ min_amount: '0.01' });
    expect(offer).toMatchObject({
      crypto_currency: 'USDC',
      price: '0.25',
      margin_pct: null,
      countries: ['DE'],
      available_balance: '10000.5',
      payment_options: BARGAIN.payment_options,
      authorized: false,
      version: 1,
    });
    await until('the book to know it', async () => bookHas(offer.offer_id) !== undefined);
    expect(await rate()).toBe(before);
    expect(await smallestBuy()).toBe(smallestBefore);

    const waiting = await operate('GET', '/api/v1/operator/offers?authorized=false&limit=100');
    expect(waiting.body.data.offers).toContainEqual(
      expect.objectContaining({
        offer_id: offer.offer_id,
        vendor_name: market.gateway.sandbox.vendors[0]!.name,
      }),
    );
    expect((await authorize(offer.offer_id, { version: 7 })).body.error.code).toBe('OPERATION_NOT_ALLOWED');
    expect((await authorize(offer.offer_id, { version: 1 })).body.data).toEqual({
      offer_id: offer.offer_id,
      authorized: true,
      version: 2,
    });
    await until('the estimate to use it', async () => (await rate()) !== before);
    expect(await smallestBuy()).toBe(0.01);
    const audit = await operate('GET', `/api/v1/operator/audit?subject=offers/${offer.offer_id}`);
    expect(audit.body.data.entries).toEqual([
      expect.objectContaining({ action: 'offer.authorize', reason: 'ticket 12' }),
    ]);

    await as(vendor, 'PUT', '/api/v1/vendor/online', { online: false });
    await until('an offline vendor to disappear', async () => (await rate()) === before);
    expect(await smallestBuy()).toBe(smallestBefore);
    await as(vendor, 'PUT', '/api/v1/vendor/online', { online: true });
    await until('the vendor to be back', async () => (await rate()) !== before);

    expect((await withdraw(offer.offer_id)).status).toBe(200);
    await until('the withdrawn offer to be gone', async () => (await rate()) === before);
    expect((await withdraw(offer.offer_id)).body.error.code).toBe('OFFER_NOT_FOUND');
    expect((await authorize(offer.offer_id)).body.error.code).toBe('OFFER_NOT_FOUND');
  });

  it('a new price or balance counts at once; another range, rail or country waits for authorization again', async () => {
    const { offer_id } = await make();
    const change = (body: object) => as(vendor, 'PATCH', `${OFFERS}/${offer_id}`, body);
    await authorize(offer_id);
    const repriced = await change({ margin_pct: '-0.5' });
    expect(repriced.body.data).toMatchObject({
      price: null,
      margin_pct: '-0.5',
      authorized: true,
      version: 3,
    });
    await until('the book to have the new price', async () => bookHas(offer_id)?.version === 3);
    expect((await change({ available_balance: '5' })).body.data).toMatchObject({ authorized: true });
    expect((await change({ min_amount: '20', countries: ['DE'] })).body.data.authorized).toBe(true);
    for (const material of [
      { max_amount: '501' },
      { countries: ['DE', 'FR'] },
      { payment_options: [{ network_slug: 'iban-sepa' }] },
    ]) {
      expect((await change(material)).body.data).toMatchObject({ ...material, authorized: false });
      await authorize(offer_id);
    }
    await withdraw(offer_id);
  });

  // Proves C7 OFFER_NOT_FOUND.
  it('another vendor’s offer answers like one that never was', async () => {
    const { offer_id } = await make();
    for (const [method, body] of [
      ['PATCH', { price: '1' }],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await as(otherVendor, method, `${OFFERS}/${offer_id}`, body);
      const unknown = await as(otherVendor, method, `${OFFERS}/${randomUUID()}`, body);
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
      expect(foreign.body.error.code).toBe('OFFER_NOT_FOUND');
    }
    const listed = (key: string) => as(key, 'GET', `${OFFERS}?limit=100`);
    expect((await listed(otherVendor)).text).not.toContain(offer_id);
    expect((await listed(vendor)).text).toContain(offer_id);
    await withdraw(offer_id);
    expect((await listed(vendor)).text).not.toContain(offer_id);
  });

  it.each([
    ['price', { margin_pct: '1' }],
    ['margin_pct', { price: undefined }],
    ['price', { price: '0' }],
    ['price', { price: '1e2' }],
    ['margin_pct', { price: undefined, margin_pct: '100' }],
    ['margin_pct', { price: undefined, margin_pct: '-100' }],
    ['margin_pct', { price: undefined, margin_pct: '1.0000001' }],
    ['side', { side: 'HOLD' }],
    ['crypto_currency', { crypto_currency: 'DOGE' }],
    ['fiat_currency', { fiat_currency: 'XXX' }],
    ['min_amount', { min_amount: '-1' }],
    ['min_amount', { min_amount: '1.001' }],
    ['max_amount', { max_amount: '19.99' }],
    ['max_amount', { min_amount: '0', max_amount: '0' }],
    ['available_balance', { available_balance: '+5' }],
    ['countries', { countries: ['ZZ'] }],
    ['countries', { countries: [] }],
    ['payment_options', { payment_options: [] }],
    ['payment_options/0/network_slug', { payment_options: [{ network_slug: 'no-rail' }] }],
    ['payment_options/0/network_slug', { payment_options: [{ network_slug: 'cnaps' }] }],
    [
      'payment_options/1/network_slug',
      { payment_options: [{ network_slug: 'iban-sepa' }, { network_slug: 'iban-sepa' }] },
    ],
    [
      'payment_options/0/method_slugs',
      { payment_options: [{ network_slug: 'iban-sepa', method_slugs: ['no-bank'] }] },
    ],
  ])('a bad %s is a 400 that names it: %j', async (field, changes) => {
    const { status, body } = await as(vendor, 'POST', OFFERS, { ...BARGAIN, ...changes });
    expect([status, body.error?.code]).toEqual([400, 'VALIDATION_ERROR']);
    const paths: string[] = body.error.details.fields.map(({ path }: { path: string }) =>
      path.replaceAll('.', '/'),
    );
    expect(paths).toContain(field);
  });

  it('a change is judged as the whole it makes, and of nothing or of the pair it is refused', async () => {
    const { offer_id } = await make();
    for (const body of [
      {},
      { max_amount: '10' },
      { price: '1', margin_pct: '1' },
      { fiat_currency: 'USD' },
      { price: 1 },
    ]) {
      const answer = await as(vendor, 'PATCH', `${OFFERS}/${offer_id}`, body);
      expect([JSON.stringify(body), answer.status]).toEqual([JSON.stringify(body), 400]);
    }
    const online = await as(vendor, 'PUT', '/api/v1/vendor/online', { online: 'yes' });
    expect(online.status).toBe(400);
    await withdraw(offer_id);
  });
});
