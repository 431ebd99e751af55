import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EarningSumRow } from './list-orders.store.ts';
import { pairLines, totalsOf } from './list-orders.ts';

const sums = (more: Partial<EarningSumRow>): EarningSumRow => ({
  direction: 'onramp',
  chain: 'bnb-mainnet',
  crypto_currency: 'USDT',
  crypto_decimals: 18,
  fiat_currency: 'EUR',
  fiat_decimals: 2,
  orders: '1',
  crypto_amount: '0',
  platform_fee: '0',
  fiat_amount: '0',
  ...more,
});

describe('what a vendor earned', () => {
  it('is written to the last of 18 decimals, however large', () => {
    const sold = sums({ crypto_amount: '123456789012345678901234567891', fiat_amount: '11' });
    expect(pairLines([sold])[0]).toMatchObject({
      crypto_amount: '123456789012.345678901234567891',
      fiat_amount: '0.11',
    });
  });

  it('a seller gives all of it, a buyer gets what the fee leaves; chains are not mixed', () => {
    const rows = [
      sums({ crypto_amount: '1000000000000000001', fiat_amount: '100' }),
      sums({ direction: 'offramp', crypto_amount: '3', platform_fee: '1', fiat_amount: '7' }),
      sums({ chain: 'base-mainnet', crypto_decimals: 6, crypto_amount: '1', fiat_amount: '1' }),
    ];
    expect(totalsOf(rows)).toEqual([
      { asset: 'EUR', received: '1.01', paid: '0.07' },
      { asset: 'USDT@base-mainnet', received: '0.000000', paid: '0.000001' },
      { asset: 'USDT@bnb-mainnet', received: '0.000000000000000002', paid: '1.000000000000000001' },
    ]);
  });

  it('sums are the sum of their parts, in any split', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 40n });
    fc.assert(
      fc.property(fc.array(amount, { minLength: 1, maxLength: 20 }), (amounts) => {
        const whole = amounts.reduce((sum, one) => sum + one, 0n);
        const parts = amounts.map((one) => sums({ crypto_amount: `${one}`, fiat_amount: `${one}` }));
        expect(totalsOf(parts)).toEqual(
          totalsOf([sums({ crypto_amount: `${whole}`, fiat_amount: `${whole}` })]),
        );
      }),
    );
  });
});
