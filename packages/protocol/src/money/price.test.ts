import { describe, expect, test } from 'vitest';
import { formatAmount, parsePositiveAmount } from './amount.ts';
import {
  PRICE_REFUSAL_CODES,
  priceOfframpCryptoAnchored,
  priceOfframpFiatAnchored,
  priceOnrampCryptoAnchored,
  priceOnrampFiatAnchored,
  priceTerms,
} from './price.ts';
import { parsePercent, parseRate } from './rate.ts';
import type { Result } from './result.ts';

const USDC = { code: 'USDC', decimals: 6 };
const USDC_ON_BNB = { code: 'USDC', decimals: 18 };
const USD = { code: 'USD', decimals: 2 };
const JPY = { code: 'JPY', decimals: 0 };
const KWD = { code: 'KWD', decimals: 3 };

function accepted<Value>(result: Result<Value, string>): Value {
  if (!result.ok) throw new Error(result.reason);
  return result.value;
}

function terms(rate: string, platformPct: string, partnerPct: string, crypto = USDC, fiat = USD) {
  return priceTerms({
    rate: accepted(parseRate(rate)),
    crypto,
    fiat,
    platformFee: accepted(parsePercent(platformPct)),
    partnerFee: accepted(parsePercent(partnerPct)),
  });
}

const atomic = (text: string, asset: typeof USDC) => accepted(parsePositiveAmount(text, asset)).atomic;
const usdc = (units: bigint) => formatAmount({ atomic: units, asset: USDC });

describe('worked examples', () => {
  // Proves C2.10 rules 2 and 4, D1.5.
  test('on-ramp, fiat-anchored: 100 USD at 1.02 with 1 % and 0.5 %', () => {
    const price = accepted(priceOnrampFiatAnchored(atomic('100', USD), terms('1.02', '1', '0.5')));
    expect(price.fiatAmount).toBe(10_000n);
    expect(usdc(price.cryptoAmount)).toBe('98.039215');
    expect(usdc(price.platformFee)).toBe('0.980392');
    expect(usdc(price.partnerFee)).toBe('0.490196');
    expect(usdc(price.totalFee)).toBe('1.470588');
    expect(usdc(price.receipt)).toBe('96.568627');
  });

  test('on-ramp, crypto-anchored: 100 USDC are delivered to the atomic unit', () => {
    const price = accepted(priceOnrampCryptoAnchored(atomic('100', USDC), terms('1.02', '1', '0.5')));
    expect(usdc(price.receipt)).toBe('100.000000');
    expect(usdc(price.cryptoAmount)).toBe('101.522842');
    expect(usdc(price.platformFee)).toBe('1.015228');
    expect(usdc(price.partnerFee)).toBe('0.507614');
    // 101.522842 * 1.02 = 103.55329884, up to the cent
    expect(price.fiatAmount).toBe(10_356n);
  });

  // Proves C2.10 rule 3.
  test('off-ramp, fiat-anchored: 100 USD are paid out, the deposit carries the partner fee on top', () => {
    const price = accepted(priceOfframpFiatAnchored(atomic('100', USD), terms('0.98', '1', '0.5')));
    expect(price.fiatAmount).toBe(10_000n);
    expect(usdc(price.cryptoAmount)).toBe('103.071532');
    expect(usdc(price.platformFee)).toBe('1.030715');
    expect(usdc(price.partnerFee)).toBe('0.515357');
    expect(usdc(price.deposit)).toBe('103.586889');
  });

  // Proves C2.10 rule 1.
  test('off-ramp, crypto-anchored: both fees are carved out of a deposit of 100 USDC', () => {
    const price = accepted(priceOfframpCryptoAnchored(atomic('100', USDC), terms('0.98', '1', '0.5')));
    expect(usdc(price.deposit)).toBe('100.000000');
    expect(usdc(price.cryptoAmount)).toBe('99.502488');
    expect(usdc(price.partnerFee)).toBe('0.497512');
    expect(usdc(price.platformFee)).toBe('0.995024');
    // 98.507464 * 0.98 = 96.53731472, down to the cent
    expect(price.fiatAmount).toBe(9_653n);
  });

  test('without a partner fee the deposit is the base and the fee is zero', () => {
    const price = accepted(priceOfframpCryptoAnchored(atomic('100', USDC), terms('1', '1', '0')));
    expect([price.cryptoAmount, price.partnerFee]).toEqual([100_000_000n, 0n]);
  });

  // Proves D1 row 4.
  test('the dust of a pinned deposit goes to the partner fee', () => {
    // 50 %: a base of 1 needs 1, a base of 2 needs 3; a deposit of 2 leaves one unit over
    const price = accepted(priceOfframpCryptoAnchored(2n, terms('1000000', '0', '50', USDC, JPY)));
    expect([price.cryptoAmount, price.partnerFee, price.deposit]).toEqual([1n, 1n, 2n]);
  });

  test('yen have no decimals, dinars three', () => {
    const yen = accepted(priceOnrampCryptoAnchored(atomic('1', USDC), terms('151.2', '0', '0', USDC, JPY)));
    expect(yen.fiatAmount).toBe(152n);
    const dinar = accepted(
      priceOnrampCryptoAnchored(atomic('1', USDC), terms('0.30719', '0', '0', USDC, KWD)),
    );
    expect(dinar.fiatAmount).toBe(308n);
  });

  test('an 18-decimal token keeps all its decimals', () => {
    const price = accepted(priceOnrampFiatAnchored(atomic('100', USD), terms('3', '0', '0', USDC_ON_BNB)));
    expect(price.cryptoAmount).toBe(33_333_333_333_333_333_333n);
  });

  test('a fiat currency with more decimals than token and rate together is priced as exactly', () => {
    const coarse = { code: 'COARSE', decimals: 0 };
    const price = accepted(priceOnrampCryptoAnchored(7n, terms('2', '0', '0', coarse, KWD)));
    expect(price.fiatAmount).toBe(14_000n);
  });
});

describe('refusals', () => {
  const hundred = 100_000_000n;

  test.each(['100', '100.000001', '250'])(
    'a partner fee of %s %% is refused wherever it is capped',
    (pct) => {
      const refused = { ok: false, reason: 'partner_fee_not_below_100' };
      expect(priceOnrampFiatAnchored(10_000n, terms('1', '1', pct))).toEqual(refused);
      expect(priceOnrampCryptoAnchored(hundred, terms('1', '1', pct))).toEqual(refused);
      expect(priceOfframpCryptoAnchored(hundred, terms('1', '1', pct))).toEqual(refused);
    },
  );

  // Proves C4.6 rule 1.
  test('a fiat-anchored off-ramp has no cap: the deposit grows', () => {
    const price = accepted(priceOfframpFiatAnchored(10_000n, terms('1', '0', '250')));
    expect(usdc(price.deposit)).toBe('350.000000');
  });

  test.each([
    ['1', '99'],
    ['50', '50'],
    ['60', '99.999999'],
  ])('platform %s %% and partner %s %% leave no receipt', (platformPct, partnerPct) => {
    const refused = { ok: false, reason: 'fees_leave_no_receipt' };
    expect(priceOnrampFiatAnchored(10_000n, terms('1', platformPct, partnerPct))).toEqual(refused);
    expect(priceOnrampCryptoAnchored(hundred, terms('1', platformPct, partnerPct))).toEqual(refused);
  });

  // Proves trap 13.
  test('fees are judged after rounding: where both round to nothing there is a receipt', () => {
    const price = accepted(priceOnrampFiatAnchored(1n, terms('1000000', '60', '60', USDC, JPY)));
    expect([price.cryptoAmount, price.totalFee, price.receipt]).toEqual([1n, 0n, 1n]);
    expect(accepted(priceOnrampCryptoAnchored(1n, terms('1', '60', '60'))).receipt).toBe(1n);
  });

  test('fees that leave less than a minor unit are told from an amount that is too small anyway', () => {
    // 1 JPY per USDC: 1 USDC is worth a yen, its fees take that away; half a USDC is worth no yen at all
    const yen = terms('1', '0', '1', USDC, JPY);
    expect(priceOfframpCryptoAnchored(1_000_000n, yen)).toEqual({
      ok: false,
      reason: 'fees_leave_no_payout',
    });
    expect(priceOfframpCryptoAnchored(500_000n, yen)).toEqual({ ok: false, reason: 'amount_too_small' });
    expect(priceOfframpCryptoAnchored(1_010_000n, yen).ok).toBe(true);
  });

  test('an amount that buys less than one atomic unit is too small', () => {
    expect(priceOnrampFiatAnchored(1n, terms('10001', '0', '0'))).toEqual({
      ok: false,
      reason: 'amount_too_small',
    });
    expect(priceOnrampFiatAnchored(1n, terms('10000', '0', '0')).ok).toBe(true);
  });

  test.each([0n, -1n])('an anchor of %s is too small in all four cases', (anchor) => {
    const refused = { ok: false, reason: 'amount_too_small' };
    for (const price of [
      priceOnrampFiatAnchored,
      priceOnrampCryptoAnchored,
      priceOfframpFiatAnchored,
      priceOfframpCryptoAnchored,
    ]) {
      expect(price(anchor, terms('1', '1', '1'))).toEqual(refused);
    }
  });

  test('a platform fee of everything is refused in all four cases and never loops', () => {
    const all = terms('1', '100', '1');
    expect(priceOnrampFiatAnchored(10_000n, all)).toEqual({ ok: false, reason: 'fees_leave_no_receipt' });
    expect(priceOnrampCryptoAnchored(hundred, all)).toEqual({ ok: false, reason: 'fees_leave_no_receipt' });
    expect(priceOfframpFiatAnchored(10_000n, all)).toEqual({
      ok: false,
      reason: 'platform_fee_not_below_100',
    });
    expect(priceOfframpCryptoAnchored(hundred, all)).toEqual({ ok: false, reason: 'fees_leave_no_payout' });
  });

  // Proves D1.1.
  test('every fee refusal a partner causes is INVALID_PARTNER_FEE', () => {
    expect(PRICE_REFUSAL_CODES).toEqual({
      partner_fee_not_below_100: 'INVALID_PARTNER_FEE',
      fees_leave_no_receipt: 'INVALID_PARTNER_FEE',
      fees_leave_no_payout: 'INVALID_PARTNER_FEE',
      amount_too_small: 'AMOUNT_OUT_OF_RANGE',
      platform_fee_not_below_100: 'INTERNAL_ERROR',
    });
  });

  test('a rate that is not above zero is a programming error', () => {
    const input = {
      crypto: USDC,
      fiat: USD,
      platformFee: { millionths: 0n },
      partnerFee: { millionths: 0n },
    };
    expect(() => priceTerms({ ...input, rate: { numerator: 0n, scale: 0 } })).toThrow(
      'a rate must be above zero',
    );
  });
});
