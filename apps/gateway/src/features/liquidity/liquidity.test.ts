import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixedMarket, startFixedMarket } from '../../../../../test/harness/fixed-market.ts';
import { until } from '../../../../../test/harness/until.ts';

interface Pair {
  crypto_currency_code: string;
  fiat_currency_code: string;
  trade_type: 'BUY' | 'SELL';
  min_amount: number;
  max_amount: number;
  min_amount_usd: number;
  max_amount_usd: number;
  payment_methods: string[];
}

describe('liquidity', () => {
  let market: FixedMarket;
  beforeAll(async () => {
    market = await startFixedMarket();
    await market.setRates({ EUR: '0.5' });
  });
  afterAll(() => market?.stop());

  const read = async () => {
    const answer = await market.gateway.call('GET', '/api/v1/partner/liquidity', { key: null });
    expect(answer.status).toBe(200);
    return answer.body.data.pairs as Pair[];
  };
  const pair = async (trade_type: string) =>
    (await read()).find(
      (one) =>
        one.crypto_currency_code === 'USDC' &&
        one.fiat_currency_code === 'EUR' &&
        one.trade_type === trade_type,
    );

  // Proves C4.3 row 1, C4.3 rules 1 and 2, C2.7, C5 rule 2.
  it('is public and aggregates what the database holds, in the partner’s terms', async () => {
    const { rows } = await market.owner.query(
      `SELECT min(min_amount)::float8 AS min, max(max_amount)::float8 AS max FROM offers
        WHERE side = 'SELL' AND crypto_currency = 'USDC' AND fiat_currency = 'EUR'`,
    );
    const buy = await pair('BUY');
    expect(buy).toMatchObject({ min_amount: rows[0].min, max_amount: rows[0].max });
    // One euro is two dollars here.
    expect(buy).toMatchObject({ min_amount_usd: rows[0].min * 2, max_amount_usd: rows[0].max * 2 });
    expect(buy?.payment_methods).toEqual([...new Set(buy?.payment_methods)].toSorted());
    expect(buy?.payment_methods).toContain('commerzbank');
    expect(await pair('SELL')).toBeDefined();
  });

  // Proves C2.5.
  it('is marked on the formats of a rail: by direction, by institution type, by who is there to serve', async () => {
    const marks = async (direction: string) => {
      const path = `/api/v1/supported/payment-rails?currency=GHS&direction=${direction}`;
      const { body } = await market.gateway.call('GET', path, { key: null });
      const formats: { id: string; has_liquidity?: boolean }[] = body.data.rails.flatMap(
        (rail: { formats?: [] }) => rail.formats ?? [],
      );
      return Object.fromEntries(formats.map(({ id, has_liquidity }) => [id, has_liquidity]));
    };
    const BOTH = { 'ghana-bank': true, 'ghana-mobile-money': true };
    expect(await marks('offramp')).toEqual(BOTH);
    await market.owner.query(
      `UPDATE offers SET payment_options = '[{"network_slug":"ghana-transfer","method_slugs":["mtn-momo-ghana"]}]'
        WHERE fiat_currency = 'GHS' AND side = 'BUY'`,
    );
    await until('the bank format without liquidity', async () => !(await marks('offramp'))['ghana-bank']);
    expect(await marks('offramp')).toEqual({ 'ghana-bank': false, 'ghana-mobile-money': true });
    expect(await marks('onramp')).toEqual(BOTH);
    await market.owner.query(`UPDATE offers SET authorized = false WHERE fiat_currency = 'GHS'`);
    await until('no liquidity', async () => !Object.values(await marks('onramp')).some(Boolean));
    expect(await marks('offramp')).toEqual({ 'ghana-bank': false, 'ghana-mobile-money': false });
  });

  // Proves C2.7.
  it('shows no price and no vendor', async () => {
    const names = new Set((await read()).flatMap((one) => Object.keys(one)));
    expect([...names].toSorted()).toEqual([
      'crypto_currency_code',
      'fiat_currency_code',
      'max_amount',
      'max_amount_usd',
      'min_amount',
      'min_amount_usd',
      'payment_methods',
      'trade_type',
    ]);
  });

  // Proves C4.3 rule 2.
  it('agrees with an aggregation of every pair by the database itself', async () => {
    const { rows } = await market.owner.query(
      `SELECT crypto_currency, fiat_currency, CASE side WHEN 'SELL' THEN 'BUY' ELSE 'SELL' END AS trade_type,
              min(min_amount)::float8 AS min, max(max_amount)::float8 AS max
         FROM offers JOIN vendors USING (vendor_id)
        WHERE authorized AND NOT withdrawn AND active AND online AND fiat_currency IN ('EUR', 'USD')
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    );
    const told = (await read()).map((one) => ({
      crypto_currency: one.crypto_currency_code,
      fiat_currency: one.fiat_currency_code,
      trade_type: one.trade_type,
      min: one.min_amount,
      max: one.max_amount,
    }));
    expect(told).toEqual(rows);
    expect(rows.length).toBeGreaterThan(6);
  });

  // Proves C4.1 row 6.
  it('has a best price for every corridor of a pair, which follows the offers', async () => {
    const corridor = async () => {
      const { body } = await market.gateway.call('GET', '/api/v1/supported/corridors', { key: null });
      return body.data.corridors.find(
        (one: Record<string, string>) =>
          one.crypto_currency === 'USDC' && one.fiat_currency === 'EUR' && one.country === 'DE',
      );
    };
    const estimate = async (direction: string) => {
      const { body } = await market.gateway.call('POST', `/api/v1/partner/${direction}/estimate`, {
        key: null,
        body: { crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00', country_code: 'DE' },
      });
      return body.data.rate as string;
    };
    const before = await corridor();
    // The market is at 0.5: what is above it on the way in, and below it on the way out, is the spread.
    expect(Number(before.onramp.rate) / 0.5 - 1).toBeCloseTo(before.onramp.spread_pct / 100, 8);
    expect(1 - Number(before.offramp.rate) / 0.5).toBeCloseTo(before.offramp.spread_pct / 100, 8);
    await market.owner.query(
      `UPDATE offers SET fixed_price = 0.48, margin_pct = NULL, min_amount = 10, max_amount = 1000,
              available_balance = 100000, countries = '{DE}'
        WHERE offer_id = (SELECT offer_id FROM offers JOIN vendors USING (vendor_id)
          WHERE side = 'SELL' AND crypto_currency = 'USDC' AND fiat_currency = 'EUR' AND authorized AND active AND online
          ORDER BY offer_id LIMIT 1)`,
    );
    await until('the better price', async () => (await corridor()).onramp.rate === '0.48');
    expect(await corridor()).toMatchObject({
      onramp: { rate: '0.48', spread_pct: -4 },
      offramp: before.offramp,
    });
    expect(await estimate('onramp')).toBe('0.48');
    await market.owner.query(
      `UPDATE offers SET authorized = false WHERE side = 'BUY' AND fiat_currency = 'EUR'`,
    );
    await until('no vendor buys', async () => (await corridor()).offramp === null);
    await market.owner.query(
      `UPDATE offers SET authorized = true WHERE side = 'BUY' AND fiat_currency = 'EUR'`,
    );
    await until('they buy again', async () => (await corridor()).offramp !== null);
  });

  // Proves C4.3 rule 2.
  it('counts only offers that are authorized, of vendors that are active and online', async () => {
    await market.owner.query(
      `UPDATE offers SET authorized = false WHERE side = 'SELL' AND fiat_currency = 'EUR'`,
    );
    await until('no more euros to buy with', async () => (await pair('BUY')) === undefined);
    expect(await pair('SELL')).toBeDefined();
    await market.owner.query('UPDATE vendors SET online = false');
    await until('nothing at all', async () => (await read()).length === 0);
    await market.owner.query('UPDATE vendors SET online = true, active = false');
    expect(await read()).toEqual([]);
  });
});
