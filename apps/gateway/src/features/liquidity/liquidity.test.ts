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
