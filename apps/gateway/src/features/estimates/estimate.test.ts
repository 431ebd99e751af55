import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixedMarket, startFixedMarket } from '../../../../../test/harness/fixed-market.ts';

const PATHS = ['/api/v1/partner/onramp/estimate', '/api/v1/partner/offramp/estimate'];
const TERMS = { crypto_currency: 'usdc', fiat_currency: 'eur', fiat_amount: '100.00', partner_fee_pct: 1.5 };
const PER_MINUTE = 40;

describe('estimates', () => {
  let market: FixedMarket;
  beforeAll(async () => {
    market = await startFixedMarket({ env: { RATE_LIMIT_PUBLIC_PER_MINUTE: String(PER_MINUTE) } });
    await market.setRates({ EUR: '0.9' });
  });
  afterAll(() => market?.stop());

  const ask = (path: string, body: object = TERMS, key: string | null = null) =>
    market.gateway.call('POST', path, { key, body });

  // Proves C4.3 rules 1 and 3, C4.3 rows 2 and 3, C2.9, C5 rule 2, D6.1.
  it.each(PATHS)('%s needs no key, looks at no customer and leaves nothing behind', async (path) => {
    const tables = async () =>
      (
        await market.owner.query(
          'SELECT (SELECT count(*) FROM quotes) AS q, (SELECT count(*) FROM orders) AS o',
        )
      ).rows[0];
    const before = await tables();
    const { status, body } = await ask(path, { ...TERMS, user_uuid: 'not even a uuid' });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ is_indicative: true, provider_scope: 'all', fiat_amount: '100.00' });
    expect(body.data).not.toHaveProperty('quote_id');
    expect(await tables()).toEqual(before);
  });

  // Proves C5 rule 2, D2.1.
  it('ignores an unknown key and honours a partner’s own terms', async () => {
    const [path = ''] = PATHS;
    const anonymous = await ask(path);
    expect((await ask(path, TERMS, 'cw_test_unknown')).text).toBe(anonymous.text);
    await market.owner.query('UPDATE partners SET platform_fee_pct = 2.25 WHERE name = $1', [
      market.gateway.partners[1].name,
    ]);
    await market.gateway.deps.principals.refresh();
    const own = await ask(path, TERMS, market.gateway.partners[1].apiKey);
    expect(own.body.data.fee_breakdown.platform_fee_pct).toBe(2.25);
    expect(anonymous.body.data.fee_breakdown.platform_fee_pct).not.toBe(2.25);
  });

  // Proves C4.5 rule 2.
  it('take the filters of quotes: method, network, scope and country', async () => {
    const [path = ''] = PATHS;
    const filters = {
      payment_network_slug: 'iban-sepa',
      payment_method_slug: 'commerzbank',
      provider_scope: 'direct',
    };
    const { status, body } = await ask(path, { ...TERMS, ...filters, country_code: 'DE' });
    expect([status, body.data]).toMatchObject([200, filters]);
    const abroad = await ask(path, { ...TERMS, country_code: 'JP' });
    expect([abroad.status, abroad.body.error.details.excluded_by]).toMatchObject([
      422,
      [{ condition: 'country' }],
    ]);
  });

  it('are limited for each address', async () => {
    let limited: Awaited<ReturnType<typeof ask>> | undefined;
    for (let turn = 0; turn <= PER_MINUTE && limited === undefined; turn += 1) {
      const answer = await ask(PATHS[turn % 2] as string);
      if (answer.status !== 200) limited = answer;
    }
    expect([limited?.status, limited?.body.error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
