import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixedMarket, startFixedMarket } from '../../../../../test/harness/fixed-market.ts';

const THIRTY_DECIMALS = `1.${'0'.repeat(29)}1`;
const HUGE = '9'.repeat(60);

/** What is sent in place of a good field, and the fields or the code that the answer must name. */
const PROBLEMS: readonly [what: string, change: object, named: string | readonly string[]][] = [
  ['both anchors', { fiat_amount: '10', crypto_amount: '10' }, ['fiat_amount', 'crypto_amount']],
  ['no anchor', { fiat_amount: undefined }, ['fiat_amount', 'crypto_amount']],
  ['a negative amount', { fiat_amount: '-5' }, ['fiat_amount']],
  ['zero', { fiat_amount: '0' }, ['fiat_amount']],
  ['zero with decimals', { fiat_amount: '0.00' }, ['fiat_amount']],
  ['exponent notation', { fiat_amount: '1e2' }, ['fiat_amount']],
  ['a leading plus', { fiat_amount: '+10' }, ['fiat_amount']],
  ['30 decimals', { fiat_amount: THIRTY_DECIMALS }, ['fiat_amount']],
  ['a huge number', { fiat_amount: HUGE }, ['fiat_amount']],
  ['more digits than any schema takes', { fiat_amount: '9'.repeat(500) }, ['fiat_amount']],
  ['a blank amount', { fiat_amount: '' }, ['fiat_amount']],
  ['spaces for an amount', { fiat_amount: ' ' }, ['fiat_amount']],
  ['an amount with a comma', { fiat_amount: '1,5' }, ['fiat_amount']],
  ['digits of another script', { fiat_amount: '١٠' }, ['fiat_amount']],
  ['an amount that is a number', { fiat_amount: 10 }, ['fiat_amount']],
  ['an amount that is null', { fiat_amount: null }, ['fiat_amount']],
  ['an amount that is a list', { fiat_amount: ['10'] }, ['fiat_amount']],
  ['a third decimal of a euro', { fiat_amount: '10.001' }, ['fiat_amount']],
  ['a negative crypto amount', { fiat_amount: undefined, crypto_amount: '-1' }, ['crypto_amount']],
  ['crypto in exponent notation', { fiat_amount: undefined, crypto_amount: '1e2' }, ['crypto_amount']],
  ['a plus before crypto', { fiat_amount: undefined, crypto_amount: '+10' }, ['crypto_amount']],
  ['blank crypto', { fiat_amount: undefined, crypto_amount: '' }, ['crypto_amount']],
  ['crypto as a number', { fiat_amount: undefined, crypto_amount: 10 }, ['crypto_amount']],
  ['decimals that the currency does not have, even zeros', { fiat_amount: '10.000' }, ['fiat_amount']],
  ['zero crypto', { fiat_amount: undefined, crypto_amount: '0' }, ['crypto_amount']],
  ['a seventh decimal of a token', { fiat_amount: undefined, crypto_amount: '1.0000001' }, ['crypto_amount']],
  ['30 decimals of crypto', { fiat_amount: undefined, crypto_amount: THIRTY_DECIMALS }, ['crypto_amount']],
  ['huge crypto', { fiat_amount: undefined, crypto_amount: HUGE }, ['crypto_amount']],
  ['an unknown crypto currency', { crypto_currency: 'DOGE' }, 'UNSUPPORTED_CRYPTO_CURRENCY'],
  ['a long name for a crypto currency', { crypto_currency: 'UNSUPPORTED' }, 'UNSUPPORTED_CRYPTO_CURRENCY'],
  ['a crypto currency in letters like it', { crypto_currency: 'uſdc' }, 'UNSUPPORTED_CRYPTO_CURRENCY'],
  ['a blank crypto currency', { crypto_currency: '' }, ['crypto_currency']],
  ['no crypto currency', { crypto_currency: undefined }, ['crypto_currency']],
  ['an unknown fiat currency', { fiat_currency: 'XXX' }, 'UNSUPPORTED_FIAT_CURRENCY'],
  ['a blank fiat currency', { fiat_currency: '' }, ['fiat_currency']],
  ['no fiat currency', { fiat_currency: undefined }, ['fiat_currency']],
  ['an unknown method', { payment_method_slug: 'no-such-bank' }, ['payment_method_slug']],
  ['a blank method', { payment_method_slug: '' }, ['payment_method_slug']],
  ['an unknown network', { payment_network_slug: 'no-such-rail' }, ['payment_network_slug']],
  ['a blank network', { payment_network_slug: '' }, ['payment_network_slug']],
  ['a country that does not exist', { country_code: 'XQ' }, ['country_code']],
  ['a country in three letters', { country_code: 'DEU' }, ['country_code']],
  ['an unknown scope', { provider_scope: 'everybody' }, 'INVALID_PROVIDER_SCOPE'],
  ['a long scope', { provider_scope: 'x'.repeat(41) }, 'INVALID_PROVIDER_SCOPE'],
  ['a blank scope', { provider_scope: '' }, 'INVALID_PROVIDER_SCOPE'],
  ['a blank percentage', { partner_fee_pct: '' }, ['partner_fee_pct']],
  ['spaces for a percentage', { partner_fee_pct: ' ' }, ['partner_fee_pct']],
  ['a percentage in exponent notation', { partner_fee_pct: '1e2' }, ['partner_fee_pct']],
  ['a negative percentage', { partner_fee_pct: '-1' }, ['partner_fee_pct']],
  ['a negative percentage as a number', { partner_fee_pct: -1 }, ['partner_fee_pct']],
  ['a seventh decimal of a percentage', { partner_fee_pct: '0.0000001' }, ['partner_fee_pct']],
  ['a tiny number', { partner_fee_pct: 1e-7 }, ['partner_fee_pct']],
  ['a plus before a percentage', { partner_fee_pct: '+1' }, ['partner_fee_pct']],
  ['a huge percentage', { partner_fee_pct: HUGE }, ['partner_fee_pct']],
  [
    'crypto that no vendor serves',
    { fiat_amount: undefined, crypto_amount: '99999999999999' },
    'AMOUNT_OUT_OF_RANGE',
  ],
  ['an amount that no vendor serves', { fiat_amount: '99999999999999.00' }, 'AMOUNT_OUT_OF_RANGE'],
  ['one cent', { fiat_amount: '0.01' }, 'AMOUNT_OUT_OF_RANGE'],
];

/** Where the code says what is wrong, the message still names the field. */
const FIELD_OF_CODE: Readonly<Record<string, RegExp>> = {
  UNSUPPORTED_CRYPTO_CURRENCY: /crypto_currency/,
  UNSUPPORTED_FIAT_CURRENCY: /fiat_currency/,
  INVALID_PROVIDER_SCOPE: /provider_scope/,
  AMOUNT_OUT_OF_RANGE: /(fiat|crypto)_amount/,
};

/** Where the partner's fee is capped. */
const ALL_OF_IT = ['100', 100, '100.000001', '250', 99.999999, '99.999999'];

describe('bad input', () => {
  let market: FixedMarket;
  const payees: Record<string, object> = {};
  beforeAll(async () => {
    market = await startFixedMarket();
    await market.setRates({ EUR: '0.9' });
    const userId = await market.newCustomer();
    const saved = await market.gateway.call('POST', `/api/v1/partner/users/${userId}/payment-details`, {
      body: {
        rail: 'iban-sepa',
        currency: 'EUR',
        country_code: 'DE',
        details: { full_name: 'Erika Mustermann', iban: 'DE89370400440532013000' },
      },
    });
    payees['onramp/quote'] = { user_uuid: userId };
    payees['offramp/quote'] = { user_uuid: userId, payment_details_id: saved.body.data.id };
  });
  afterAll(() => market?.stop());

  const ask = (endpoint: string, change: object) =>
    market.gateway.call('POST', `/api/v1/partner/${endpoint}`, {
      body: {
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        fiat_amount: '100.00',
        ...payees[endpoint],
        ...change,
      },
    });

  describe.each(['onramp/estimate', 'offramp/estimate', 'onramp/quote', 'offramp/quote'])(
    'of %s',
    (endpoint) => {
      it('is what follows: without it the answer is a price', async () => {
        const answer = await ask(endpoint, {});
        expect(answer.status, answer.text).toBe(200);
      });

      // Proves C1 rule 1, C2.9, D1.1, D6.1, D6.2, C7 VALIDATION_ERROR, C7 UNSUPPORTED_CRYPTO_CURRENCY,
      // C7 UNSUPPORTED_FIAT_CURRENCY, C7 INVALID_PROVIDER_SCOPE, C7 AMOUNT_OUT_OF_RANGE.
      it.each(PROBLEMS)('%s is a 400 that names it', async (_what, change, named) => {
        const { status, body, text } = await ask(endpoint, change);
        expect(status, text).toBe(400);
        if (typeof named === 'string') {
          expect(body.error.code).toBe(named);
          expect(body.error.message).toMatch(FIELD_OF_CODE[named] ?? /$^/);
        } else {
          expect(body.error.code).toBe('VALIDATION_ERROR');
          expect(body.error.details.fields.map(({ path }: { path: string }) => path)).toEqual(named);
          for (const field of named) expect(body.error.message).toContain(field);
        }
      });
    },
  );

  // Proves C4.5 rule 3, C8 row 2, D1.1, C7 INVALID_PARTNER_FEE.
  it.each(ALL_OF_IT)('a fee of %s leaves an on-ramp customer nothing', async (partner_fee_pct) => {
    for (const endpoint of ['onramp/estimate', 'onramp/quote']) {
      for (const anchor of [{}, { fiat_amount: undefined, crypto_amount: '100' }]) {
        const { status, body } = await ask(endpoint, { partner_fee_pct, ...anchor });
        expect([status, body.error.code]).toEqual([400, 'INVALID_PARTNER_FEE']);
        expect(body.error.message).toContain('partner_fee_pct');
      }
    }
  });

  // Proves C4.6 rule 1, C8 row 2, D1.1.
  it.each(['100', 100, '250'])('a fee of %s consumes a pinned deposit', async (partner_fee_pct) => {
    for (const endpoint of ['offramp/estimate', 'offramp/quote']) {
      const { status, body } = await ask(endpoint, {
        partner_fee_pct,
        fiat_amount: undefined,
        crypto_amount: '100',
      });
      expect([status, body.error.code]).toEqual([400, 'INVALID_PARTNER_FEE']);
    }
  });

  it('a fee just below the whole leaves half of a pinned deposit', async () => {
    for (const endpoint of ['offramp/estimate', 'offramp/quote']) {
      const { status, body } = await ask(endpoint, {
        partner_fee_pct: '99.999999',
        fiat_amount: undefined,
        crypto_amount: '200',
      });
      expect(status).toBe(200);
      expect(body.data).toMatchObject({
        crypto_amount: '100.000001',
        fee_breakdown: { partner_fee: '99.999999', partner_fee_pct: 99.999999 },
      });
    }
  });

  // Proves C7 NO_OFFERS_AVAILABLE.
  it('why nothing serves a request is counted, and told by its conditions', async () => {
    const counted = async () => {
      const { values } = await market.gateway.deps.metrics.quotesRefusedTotal.get();
      return Object.fromEntries(
        values.map(({ labels, value }) => [`${labels.direction} ${labels.reason}`, value]),
      );
    };
    const before = await counted();
    const unserved = { payment_network_slug: 'pix' };
    const abroad = { country_code: 'JP' };
    for (const [change, told] of [
      [unserved, { condition: 'rail', available: expect.arrayContaining(['iban-sepa']) }],
      [abroad, { condition: 'country', available: expect.arrayContaining(['DE']) }],
      [unserved, { condition: 'rail', available: expect.not.arrayContaining(['pix']) }],
    ] as const) {
      const { status, body, text } = await ask('onramp/estimate', change);
      expect([status, body.error.code]).toEqual([422, 'NO_OFFERS_AVAILABLE']);
      expect(body.error.details).toEqual({ excluded_by: [told] });
      // What is told is enough: each value that would do, does.
      const [{ condition, available }] = body.error.details.excluded_by;
      const field = condition === 'rail' ? 'payment_network_slug' : 'country_code';
      expect((await ask('onramp/estimate', { [field]: available[0] })).status, text).toBe(200);
    }
    const after = await counted();
    const more = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
    expect([more('onramp payment_network'), more('onramp country')]).toEqual([2, 1]);
  });

  // Proves C4.6 rule 1, C8 row 2.
  it('a pinned payout has no cap: the deposit grows', async () => {
    for (const endpoint of ['offramp/estimate', 'offramp/quote']) {
      const { status, body } = await ask(endpoint, { partner_fee_pct: '250' });
      expect(status).toBe(200);
      expect(body.data.fee_breakdown.partner_fee_pct).toBe(250);
    }
  });

  it('an amount that no vendor serves is refused with the range that is served', async () => {
    const { body } = await ask('onramp/estimate', { fiat_amount: '0.01' });
    const range = {
      currency: 'EUR',
      min_amount: expect.stringMatching(/^[0-9.]+$/),
      max_amount: expect.stringMatching(/^[0-9.]+$/),
    };
    expect(body.error.details).toEqual({
      ...range,
      excluded_by: [{ condition: 'amount_range', ...range }],
    });
    const { status } = await ask('onramp/estimate', { fiat_amount: body.error.details.min_amount });
    expect(status).toBe(200);
  });
});
