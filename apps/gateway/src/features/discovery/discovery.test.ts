import { gunzipSync } from 'node:zlib';
import {
  BlockchainListSchema,
  BridgeCryptoCurrencyListSchema,
  ConversionSchema,
  CorridorListSchema,
  CountryListSchema,
  CryptoCurrencyListSchema,
  CryptoCurrencyNetworksSchema,
  CurrencyCountriesSchema,
  CurrencyListSchema,
  CurrencyMethodsSchema,
  CurrencyNetworksSchema,
  FiatCurrencyListSchema,
  InstitutionListSchema,
  MAX_OFFSET,
  PaymentMethodListSchema,
  PaymentMethodOptionListSchema,
  PaymentMethodOptionPageSchema,
  PaymentMethodSchema,
  PaymentMethodTypeListSchema,
  PaymentRailsSchema,
  RateHistorySchema,
  RateListSchema,
  SupportedPairListSchema,
} from '@causeway/protocol';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import {
  type DiscoveryGateway,
  startDiscoveryGateway,
  TEST_LOCAL_CHAIN,
} from './testing/discovery-gateway.ts';

let gateway: DiscoveryGateway;
beforeAll(async () => {
  gateway = await startDiscoveryGateway();
});
afterAll(() => gateway.stop());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what the wire gives
  readonly body: any;
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${gateway.baseUrl}/api/v1${path}`, { headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

async function data(path: string) {
  const { status, body } = await get(path);
  expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
  expect(body.success).toBe(true);
  return body.data;
}

const LISTINGS: [string, TSchema][] = [
  ['/supported/crypto-currencies', CryptoCurrencyListSchema],
  ['/supported/blockchains', BlockchainListSchema],
  ['/supported/fiat-currencies', FiatCurrencyListSchema],
  ['/supported/payment-rails?currency=EUR&direction=offramp', PaymentRailsSchema],
  ['/supported/payment-rails?country=CN&direction=offramp', PaymentRailsSchema],
  ['/supported/institutions?rail=imps-neft-india&limit=100', InstitutionListSchema],
  ['/supported/institutions?rail=iban-sepa', InstitutionListSchema],
  ['/supported/corridors', CorridorListSchema],
  ['/rates', RateListSchema],
  ['/rates?base=usdc', RateListSchema],
  ['/rates?quote=KES', RateListSchema],
  ['/rates?base=USDC&quote=KES', RateListSchema],
  ['/rates/history?base=USDC&quote=KES', RateHistorySchema],
  ['/currency/convert?from=USDC&to=JPY&amount=1.5', ConversionSchema],
  ['/currencies', CurrencyListSchema],
  ['/cryptocurrencies', CryptoCurrencyNetworksSchema],
  ['/bridge-cryptocurrencies', BridgeCryptoCurrencyListSchema],
  ['/countries-with-currencies', CountryListSchema],
  ['/payment-methods?limit=100', PaymentMethodListSchema],
  ['/payment-methods/1810', PaymentMethodSchema],
  ['/payment-methods/by-slug/mtn-momo-ghana', PaymentMethodSchema],
  ['/payment-methods/by-fiat/GHS', PaymentMethodListSchema],
  ['/payment-methods/by-network/ghana-transfer/fiat/GHS', PaymentMethodListSchema],
  ['/payment-methods/types', PaymentMethodTypeListSchema],
  ['/payment-methods/1810/options', PaymentMethodOptionListSchema],
  ['/payment-methods/all-options', PaymentMethodOptionPageSchema],
  ['/get-currency-and-payment-methods-with-networks?limit=100', CurrencyMethodsSchema],
  ['/get-currency-and-payment-networks-with-methods?limit=100', CurrencyNetworksSchema],
  ['/get-supported-pairs?limit=500', SupportedPairListSchema],
  ['/get-fiat-currency-countries-with-payment-methods', CurrencyCountriesSchema],
];

describe.each(LISTINGS)('GET %s', (path, schema) => {
  // Proves C1 rule 5, C4.1 rows 1 to 6, C4.2, C2.2, C2.3, C2.4, C2.5, C2.6, D2.1.
  test('answers its documented shape without a key, and ignores an unknown key', async () => {
    const answer = await data(path);
    expect([...Value.Errors(schema, answer)]).toEqual([]);
    expect((await get(path, { 'x-api-key': 'cw_test_unknown' })).status).toBe(200);
  });

  test('says nothing when nothing changed, and is open to pages of any origin', async () => {
    const first = await get(path);
    expect(first.headers.get('access-control-allow-origin')).toBe('*');
    expect(first.headers.get('vary')).toBe('accept-encoding');
    expect(first.headers.get('cache-control')).toContain('must-revalidate');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    // Rates move, so their answers may have changed between the two questions.
    if (/rates|convert|corridors/.test(path)) return;
    const second = await get(path, { 'if-none-match': etag });
    expect(second).toMatchObject({ status: 304, body: null });
    expect(second.headers.get('etag')).toBe(etag);
  });
});

test('a compressed answer is the same answer', async () => {
  const url = `${gateway.baseUrl}/api/v1/supported/fiat-currencies`;
  const { request } = await import('undici');
  const plain = await (await request(url)).body.text();
  const packed = await request(url, { headers: { 'accept-encoding': 'gzip' } });
  expect(packed.headers['content-encoding']).toBe('gzip');
  const bytes = Buffer.from(await packed.body.arrayBuffer());
  expect(bytes.length).toBeLessThan(plain.length / 3);
  expect(gunzipSync(bytes).toString()).toBe(plain);
});

test('letters outside ASCII arrive as they are, also in an answer that is short enough to be written as text', async () => {
  const ask = async (encoding: string) => {
    const response = await fetch(
      `${gateway.baseUrl}/api/v1/supported/payment-rails?country=GH&direction=offramp`,
      { headers: { 'accept-encoding': encoding } },
    );
    return Buffer.from(await response.arrayBuffer());
  };
  const plain = await ask('identity');
  expect(plain.length).toBeLessThan(4_096);
  expect(plain.some((byte) => byte > 127)).toBe(true);
  // The compressed form is made from the bytes and never was text.
  expect(plain.equals(await ask('gzip'))).toBe(true);
});

test('a page that sends a key is told that it may', async () => {
  const response = await fetch(`${gateway.baseUrl}/api/v1/supported/corridors`, { method: 'OPTIONS' });
  expect(response.status).toBe(204);
  expect(response.headers.get('access-control-allow-headers')).toContain('x-api-key');
});

// Proves D11.2.
test('the local chain stands for the listed one', async () => {
  const chains = await data('/supported/blockchains');
  const local = chains.find(({ slug }: { slug: string }) => slug === TEST_LOCAL_CHAIN.slug);
  expect(local.crypto_currencies).toMatchObject([{ contract: TEST_LOCAL_CHAIN.tokens[0]?.address }]);
});

// Proves C2.2.
test('the aggregate listing shows the contract on the first chain', async () => {
  const [assets, chains] = [await data('/supported/crypto-currencies'), await data('/supported/blockchains')];
  for (const asset of assets) {
    const first = chains.find(({ slug }: { slug: string }) => slug === asset.blockchains[0]);
    const token = first.crypto_currencies.find(({ code }: { code: string }) => code === asset.code);
    expect(token.contract).toBe(asset.contract);
  }
});

// Proves C2.1 row 2, C4.1 rows 4 and 5, C8 row 4, D3.3.
test.each<[string, string]>([
  ['/supported/payment-rails', 'invalid_direction'],
  ['/supported/payment-rails?country=GH', 'invalid_direction'],
  ['/supported/payment-rails?country=GH&direction=both', 'invalid_direction'],
  [`/supported/payment-rails?country=GH&direction=${'x'.repeat(3_000)}`, 'invalid_direction'],
  ['/supported/payment-rails?direction=onramp', 'missing_country_or_currency'],
  ['/supported/payment-rails?direction=onramp&country=', 'missing_country_or_currency'],
  ['/supported/payment-rails?direction=onramp&country=ZZ', 'invalid_country'],
  ['/supported/payment-rails?direction=onramp&country=%EF%BC%A7%EF%BC%A8', 'invalid_country'],
  ['/supported/payment-rails?direction=onramp&country=GH&country=NG', 'validation_error'],
  ['/supported/payment-rails?direction=onramp&currency=USDC', 'invalid_currency'],
  ['/supported/payment-rails?direction=onramp&currency=%E2%82%AC', 'invalid_currency'],
  ['/supported/payment-rails?direction=onramp&direction=onramp&currency=EUR', 'validation_error'],
  ['/supported/institutions', 'invalid_rail'],
  ['/supported/institutions?rail=nothing', 'invalid_rail'],
  ['/supported/institutions?rail=pix&rail=pix', 'validation_error'],
  ['/supported/institutions?rail=pix&limit=0', 'validation_error'],
  ['/supported/institutions?rail=pix&limit=101', 'validation_error'],
  ['/supported/institutions?rail=pix&limit=ten', 'validation_error'],
  ['/supported/institutions?rail=pix&limit=%D9%A3', 'validation_error'],
  ['/supported/institutions?rail=pix&offset=-1', 'validation_error'],
  ['/supported/institutions?rail=pix&offset=1&offset=2', 'validation_error'],
  [`/supported/institutions?rail=pix&code=${'9'.repeat(40)}`, 'validation_error'],
  [`/supported/institutions?rail=pix&search=${'%F0%9F%8F%A6'.repeat(60)}`, 'validation_error'],
  ['/supported/institutions?rail=pix&country=BRA', 'invalid_country'],
  ['/supported/institutions?rail=pix&currency=B', 'invalid_currency'],
])('GET %s answers %s', async (path, key) => {
  const { status, body, headers } = await get(path);
  expect(status).toBe(400);
  expect(body).toEqual({ success: false, data: { error_key: key } });
  expect(headers.get('access-control-allow-origin')).toBe('*');
});

test('an ISO code that is not served gives an empty list', async () => {
  expect(await data('/supported/payment-rails?country=AQ&direction=onramp')).toMatchObject({
    country: 'AQ',
    rails: [],
  });
});

// Proves C2.6, C4.1 row 5, D5.2.
test('institutions are found by name whatever the accents, by code and by id, and paged', async () => {
  const search = await data('/supported/institutions?rail=iban-sepa&search=societe%20generale');
  expect(search.institutions[0].name).toBe('Société Générale');
  const code = await data('/supported/institutions?rail=imps-neft-india&code=hdfc');
  expect(code.institutions.map(({ code: found }: { code: string }) => found)).toEqual(['HDFC']);
  expect(code.institutions[0]).not.toHaveProperty('payment_method_id');
  const all = await data('/supported/institutions?rail=nip-nigeria&limit=100');
  const page = await data('/supported/institutions?rail=nip-nigeria&limit=5&offset=10');
  expect(page.institutions).toEqual(all.institutions.slice(10, 15));
  expect(page.pagination).toEqual({ total: all.pagination.total, limit: 5, offset: 10 });
  for (const offset of [1_000_001, MAX_OFFSET]) {
    const beyond = await data(`/supported/institutions?rail=nip-nigeria&offset=${offset}`);
    const pagination = { total: all.pagination.total, limit: 20, offset };
    expect(beyond).toEqual({ institutions: [], pagination });
    expect((await data(`/payment-methods?offset=${offset}`)).payment_methods).toEqual([]);
  }
});

// Proves C7 PAYMENT_METHOD_NOT_FOUND, C7 UNSUPPORTED_FIAT_CURRENCY.
test.each<[string, number, string]>([
  ['/payment-methods/abc', 400, 'VALIDATION_ERROR'],
  ['/payment-methods/0', 400, 'VALIDATION_ERROR'],
  ['/payment-methods/99999999999999999999', 400, 'VALIDATION_ERROR'],
  ['/payment-methods/999999', 404, 'PAYMENT_METHOD_NOT_FOUND'],
  ['/payment-methods/999999/options', 404, 'PAYMENT_METHOD_NOT_FOUND'],
  ['/payment-methods/by-slug/nobody', 404, 'PAYMENT_METHOD_NOT_FOUND'],
  ['/payment-methods/by-slug/__proto__', 404, 'PAYMENT_METHOD_NOT_FOUND'],
  [`/payment-methods/by-slug/${'s'.repeat(200)}`, 400, 'VALIDATION_ERROR'],
  ['/payment-methods/by-fiat/ZZZ', 400, 'UNSUPPORTED_FIAT_CURRENCY'],
  ['/payment-methods/by-fiat/dollars', 400, 'VALIDATION_ERROR'],
  ['/payment-methods/by-network/nothing/fiat/GHS', 404, 'PAYMENT_METHOD_NOT_FOUND'],
  ['/payment-methods/by-network/pix/fiat/ZZZ', 400, 'UNSUPPORTED_FIAT_CURRENCY'],
  ['/payment-methods?limit=0', 400, 'VALIDATION_ERROR'],
  ['/payment-methods?limit=101', 400, 'VALIDATION_ERROR'],
  ['/payment-methods?limit=5&limit=6', 400, 'VALIDATION_ERROR'],
  ['/payment-methods?offset=-1', 400, 'VALIDATION_ERROR'],
  ['/payment-methods?type=CASH', 400, 'VALIDATION_ERROR'],
  ['/payment-methods?country=%F0%9F%87%AC', 400, 'VALIDATION_ERROR'],
  ['/get-supported-pairs?crypto_currency_code=BTC', 400, 'UNSUPPORTED_CRYPTO_CURRENCY'],
  ['/get-supported-pairs?fiat_currency_code=ZZZ', 400, 'UNSUPPORTED_FIAT_CURRENCY'],
  [
    '/get-currency-and-payment-methods-with-networks?fiat_currency_code=ZZZ',
    400,
    'UNSUPPORTED_FIAT_CURRENCY',
  ],
  ['/rates?base=ZZZ', 400, 'VALIDATION_ERROR'],
  ['/rates?base=USD&base=EUR', 400, 'VALIDATION_ERROR'],
  ['/rates/history', 400, 'VALIDATION_ERROR'],
  ['/rates/history?base=USDC&quote=KES&from=yesterday', 400, 'VALIDATION_ERROR'],
  [
    '/rates/history?base=USDC&quote=KES&from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z',
    400,
    'VALIDATION_ERROR',
  ],
  ['/rates/history?base=USDC&quote=KES&limit=1001', 400, 'VALIDATION_ERROR'],
  // What PostgreSQL or a Date cannot hold, or not alike.
  ...[
    '0001-01-01T00:00:00Z',
    '0000-12-31T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '9999-12-31T23:59:59Z',
    '2016-12-31T23:59:60Z',
    '2026-02-30T00:00:00Z',
    '2026-11-15T10:00:00',
  ].flatMap((date): [string, number, string][] => [
    [`/rates/history?base=USDC&quote=KES&to=${date}`, 400, 'VALIDATION_ERROR'],
    [`/rates/history?base=USDC&quote=KES&from=${date}`, 400, 'VALIDATION_ERROR'],
  ]),
  ['/currency/convert?from=USDC&to=KES', 400, 'VALIDATION_ERROR'],
  ['/currency/convert?from=USDC&to=KES&amount=1.2345678', 400, 'VALIDATION_ERROR'],
  ['/currency/convert?from=USDC&to=KES&amount=-1', 400, 'VALIDATION_ERROR'],
  ['/currency/convert?from=USDC&to=KES&amount=1e3', 400, 'VALIDATION_ERROR'],
  ['/currency/convert?from=USDC&to=KES&amount=%D9%A1', 400, 'VALIDATION_ERROR'],
  [`/currency/convert?from=USDC&to=KES&amount=${'9'.repeat(73)}`, 400, 'VALIDATION_ERROR'],
  ['/currency/convert?from=JPY&to=KES&amount=1.5', 400, 'VALIDATION_ERROR'],
])('GET %s answers %i %s', async (path, status, code) => {
  const answer = await get(path);
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ success: false, error: { code } });
  if (code === 'VALIDATION_ERROR') expect(answer.body.error.details.fields.length).toBeGreaterThan(0);
});

test('a conversion is exact: the shown rate times the amount, rounded down to the currency’s own decimals', async () => {
  const { rate, converted_amount: converted } = await data(
    '/currency/convert?from=USDC&to=KWD&amount=1000.000001',
  );
  const [whole, fraction = ''] = rate.split('.');
  const product = (1_000_000_001n * BigInt(whole + fraction)) / 10n ** BigInt(fraction.length + 3);
  expect(converted).toBe(`${product / 1000n}.${(product % 1000n).toString().padStart(3, '0')}`);
  expect((await data('/currency/convert?from=USDC&to=JPY&amount=0')).converted_amount).toBe('0');
});

test('pages of a list are pieces of one list', async () => {
  const first = await data('/payment-methods?limit=3');
  const second = await data('/payment-methods?limit=3&offset=3');
  const both = await data('/payment-methods?limit=6');
  expect([...first.payment_methods, ...second.payment_methods]).toEqual(both.payment_methods);
  expect((await data('/payment-methods?limit=3&offset=1000000')).payment_methods).toEqual([]);
});

describe('what the operator changes', () => {
  const auditOf = statement<
    [subject: string],
    { action: string; reason: string; before: unknown; after: unknown }
  >(
    'testing.audit_of',
    'SELECT action, reason, before, after FROM operator_audit WHERE subject = $1 ORDER BY at',
  );

  async function operator(
    method: string,
    path: string,
    body?: unknown,
    key = gateway.operatorKey,
  ): Promise<Answer> {
    const response = await fetch(`${gateway.baseUrl}/api/v1/operator/reference${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  async function withinSeconds(what: () => Promise<boolean>): Promise<void> {
    const start = performance.now();
    while (!(await what())) {
      expect(performance.now() - start).toBeLessThan(10_000);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  test('is in force within a second, is audited, and changes the tag', async () => {
    const path = '/supported/institutions?rail=ghana-transfer&search=telecel';
    const before = await get(path);
    const { data: record } = (await operator('GET', '/institutions/telecel-cash')).body.data;
    const change = { data: { ...record, live: false }, reason: 'Outage announced' };
    const changed = await operator('PUT', '/institutions/telecel-cash', change);
    expect(changed).toMatchObject({
      status: 200,
      body: { data: { source: 'operator', data: { live: false } } },
    });
    await withinSeconds(async () => (await data(path)).pagination.total === 0);
    const stale = await get(path, { 'if-none-match': before.headers.get('etag') ?? '' });
    expect(stale.status).toBe(200);
    const audit = await gateway.db.query(SYSTEM, auditOf, ['institutions/telecel-cash']);
    expect(audit).toMatchObject([
      { action: 'reference.replace', reason: 'Outage announced', after: { live: false } },
    ]);
    expect(audit[0]?.before).not.toHaveProperty('live');
  });

  test('may be something new', async () => {
    const { data: record } = (await operator('GET', '/institutions/absa-bank-ghana')).body.data;
    const added = {
      ...record,
      slug: 'harbour-bank-ghana',
      name: 'Harbour Bank Ghana',
      payment_method_id: 900_001,
    };
    const put = await operator('PUT', '/institutions/harbour-bank-ghana', {
      data: added,
      reason: 'New partner',
    });
    expect(put.status).toBe(200);
    await withinSeconds(
      async () =>
        (await data('/supported/institutions?rail=ghana-transfer&search=harbour')).pagination.total === 1,
    );
    expect((await data('/payment-methods/900001')).slug).toBe('harbour-bank-ghana');
  });

  test.each<[string, string, object]>([
    ['a record that lacks fields', '/rails/pix', { slug: 'pix' }],
    ['an id that differs from the path', '/institutions/telecel-cash', { slug: 'other' }],
    ['a rail that does not exist', '/institutions/at-money', { supported_rails: ['nowhere'] }],
    [
      'a pattern that could hang',
      '/rails/pix',
      {
        fields: [{ key: 'x', label: 'x', type: 'text', required: true, pattern: '^(a+)+$', max_length: 20 }],
      },
    ],
    ['a payment method id that is taken', '/institutions/at-money', { payment_method_id: 1810 }],
  ])('is refused when it is %s, and nothing changes', async (name, path, change) => {
    const before = (await operator('GET', path)).body.data;
    const replace = name.includes('lacks') || name.includes('differs');
    const body = { data: replace ? change : { ...before.data, ...change }, reason: 'test' };
    const refused = await operator('PUT', path, body);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    expect((await operator('GET', path)).body.data).toEqual(before);
  });

  test('needs an operator’s key, a known kind and a reason', async () => {
    expect((await operator('GET', '/rails/pix', undefined, 'cw_test_nobody')).status).toBe(401);
    expect((await operator('GET', '/secrets')).status).toBe(400);
    expect((await operator('GET', '/rails/nothing')).status).toBe(404);
    expect((await operator('PUT', '/rails/pix', { data: {} })).status).toBe(400);
  });

  test('can be listed in pages', async () => {
    const { body } = await operator('GET', '/institutions?limit=2&offset=1');
    expect(body.data.records).toHaveLength(2);
    expect(body.data.pagination.total).toBeGreaterThan(2_500);
  });
});
