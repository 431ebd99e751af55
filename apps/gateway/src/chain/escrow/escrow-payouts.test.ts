import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { customerRelease, offrampRelease, onrampRelease, refund } from './escrow.ts';

const token = '0x00000000000000000000000000000000000000aa';
const treasury = '0x00000000000000000000000000000000000000bb';
const partnerWallet = '0x00000000000000000000000000000000000000cc';
const vendor = '0x00000000000000000000000000000000000000dd';
const common = { token, treasury, partnerWallet } as const;

const total = (transfers: { amount: bigint }[]) => transfers.reduce((sum, { amount }) => sum + amount, 0n);

/** An amount and two fees of it, the first never above the amount. */
const figures = fc
  .record({
    cryptoAmount: fc.bigInt({ min: 1n, max: 10n ** 30n }),
    share: fc.nat(1000),
    partnerFee: fc.bigInt({ min: 0n, max: 10n ** 30n }),
  })
  .map(({ cryptoAmount, share, partnerFee }) => ({
    cryptoAmount,
    platformFee: (cryptoAmount * BigInt(share)) / 1000n,
    partnerFee,
  }));

describe('payouts', () => {
  test('of an on-ramp release pay out exactly crypto_amount', () => {
    fc.assert(
      fc.property(figures, (amounts) => {
        const transfers = onrampRelease({ ...common, ...amounts });
        expect(total(transfers)).toBe(amounts.cryptoAmount);
        expect(transfers.every(({ amount }) => amount > 0n)).toBe(true);
      }),
    );
  });

  test('of an off-ramp release pay out exactly crypto_amount and partner_fee', () => {
    fc.assert(
      fc.property(figures, (amounts) => {
        const transfers = offrampRelease({ ...common, ...amounts, buyer: vendor });
        expect(total(transfers)).toBe(amounts.cryptoAmount + amounts.partnerFee);
        expect(transfers.every(({ amount }) => amount > 0n)).toBe(true);
      }),
    );
  });

  test('of an on-ramp release to a customer pay out exactly crypto_amount, the partner its fee and no more', () => {
    const customer = '0x00000000000000000000000000000000000000ee';
    fc.assert(
      fc.property(figures, fc.nat(1000), (amounts, share) => {
        const left = amounts.cryptoAmount - amounts.platformFee;
        const partnerFee = (left * BigInt(share)) / 1000n;
        const transfers = customerRelease({ ...common, ...amounts, partnerFee, buyer: customer });
        expect(total(transfers)).toBe(amounts.cryptoAmount);
        expect(total(transfers.filter(({ to }) => to === partnerWallet))).toBe(partnerFee);
        expect(total(transfers.filter(({ to }) => to === customer))).toBe(left - partnerFee);
      }),
    );
  });

  // Proves D1.3.
  test('give each party its own figure', () => {
    expect(onrampRelease({ ...common, cryptoAmount: 100n, platformFee: 3n })).toEqual([
      { token, to: partnerWallet, amount: 97n },
      { token, to: treasury, amount: 3n },
    ]);
    expect(
      offrampRelease({ ...common, cryptoAmount: 100n, platformFee: 3n, partnerFee: 7n, buyer: vendor }),
    ).toEqual([
      { token, to: vendor, amount: 97n },
      { token, to: treasury, amount: 3n },
      { token, to: partnerWallet, amount: 7n },
    ]);
    expect(refund({ token, deposit: 107n, seller: partnerWallet })).toEqual([
      { token, to: partnerWallet, amount: 107n },
    ]);
  });

  test('leave a fee of zero out', () => {
    expect(onrampRelease({ ...common, cryptoAmount: 100n, platformFee: 0n })).toHaveLength(1);
    expect(
      offrampRelease({ ...common, cryptoAmount: 100n, platformFee: 0n, partnerFee: 0n, buyer: vendor }),
    ).toHaveLength(1);
  });

  test('refuse a negative figure and an empty payout', () => {
    expect(() => onrampRelease({ ...common, cryptoAmount: 1n, platformFee: 2n })).toThrow('negative');
    expect(() => refund({ token, deposit: 0n, seller: vendor })).toThrow('moves something');
  });
});
