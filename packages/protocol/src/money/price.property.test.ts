import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type OfframpPrice,
  type OnrampPrice,
  priceOfframpCryptoAnchored,
  priceOfframpFiatAnchored,
  priceOnrampCryptoAnchored,
  priceOnrampFiatAnchored,
  priceTerms,
} from './price.ts';

const RUNS = { numRuns: 2000 };

/** An independent reference: fractions in lowest terms, straight from the written rules. */
class Fraction {
  readonly n: bigint;
  readonly d: bigint;
  constructor(n: bigint, d = 1n) {
    const g = gcd(n < 0n ? -n : n, d);
    this.n = n / g;
    this.d = d / g;
  }
  times(other: Fraction): Fraction {
    return new Fraction(this.n * other.n, this.d * other.d);
  }
  over(other: Fraction): Fraction {
    return new Fraction(this.n * other.d, this.d * other.n);
  }
  atLeast(other: Fraction): boolean {
    return this.n * other.d >= other.n * this.d;
  }
  floor(): bigint {
    return (this.n - (((this.n % this.d) + this.d) % this.d)) / this.d;
  }
  ceil(): bigint {
    return -new Fraction(-this.n, this.d).floor();
  }
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a || 1n : gcd(b, a % b);
}

interface Market {
  readonly rateNumerator: bigint;
  readonly rateScale: number;
  readonly cryptoDecimals: number;
  readonly fiatDecimals: number;
  readonly platformPct: bigint;
  readonly partnerPct: bigint;
}

const market = (highestPlatformPct: bigint, highestPartnerPct: bigint): fc.Arbitrary<Market> =>
  fc.record({
    rateNumerator: fc.bigInt({ min: 1n, max: 10n ** 9n }),
    rateScale: fc.integer({ min: 0, max: 8 }),
    cryptoDecimals: fc.constantFrom(6, 18),
    fiatDecimals: fc.constantFrom(0, 2, 3),
    platformPct: pct(highestPlatformPct),
    partnerPct: pct(highestPartnerPct),
  });

/** Millionths of a percent: none, ordinary, with all six decimals, and up to the highest. */
const pct = (highest: bigint): fc.Arbitrary<bigint> =>
  fc.oneof(
    fc.constant(0n),
    fc.bigInt({ min: 0n, max: 5_000_000n }),
    fc.bigInt({ min: 0n, max: 50n }).map((tenths) => tenths * 100_000n),
    fc.bigInt({ min: 0n, max: highest }),
  );

const BELOW_100 = 99_999_999n;

/** From dust to a billion tokens of 18 decimals, every order of magnitude as likely. */
const anchor = fc
  .integer({ min: 0, max: 90 })
  .chain((bits) => fc.bigInt({ min: 1n, max: 1n << BigInt(bits) }));
const smallAnchor = fc.bigInt({ min: 1n, max: 60n });

function termsOf(m: Market) {
  return priceTerms({
    rate: { numerator: m.rateNumerator, scale: m.rateScale },
    crypto: { code: 'TOKEN', decimals: m.cryptoDecimals },
    fiat: { code: 'FIAT', decimals: m.fiatDecimals },
    platformFee: { millionths: m.platformPct },
    partnerFee: { millionths: m.partnerPct },
  });
}

/** Minor units of fiat per atomic unit of the token. */
function atomicRate(m: Market): Fraction {
  const rate = new Fraction(m.rateNumerator, 10n ** BigInt(m.rateScale));
  const minorUnits = new Fraction(10n ** BigInt(m.fiatDecimals));
  return rate.times(minorUnits).over(new Fraction(10n ** BigInt(m.cryptoDecimals)));
}

const share = (millionths: bigint) => new Fraction(millionths, 1_000_000n).over(new Fraction(100n));
const platformFeeOn = (m: Market, base: bigint) => share(m.platformPct).times(new Fraction(base)).floor();
const partnerFeeOn = (m: Market, base: bigint) => share(m.partnerPct).times(new Fraction(base)).floor();
const receiptOn = (m: Market, base: bigint) => base - platformFeeOn(m, base) - partnerFeeOn(m, base);
const pays = (m: Market, base: bigint, fiat: bigint) =>
  new Fraction(base - platformFeeOn(m, base)).times(atomicRate(m)).atLeast(new Fraction(fiat));

function expectOnrampAddsUp(m: Market, price: OnrampPrice): void {
  expect(price.platformFee).toBe(platformFeeOn(m, price.cryptoAmount));
  expect(price.partnerFee).toBe(partnerFeeOn(m, price.cryptoAmount));
  expect(price.totalFee).toBe(price.platformFee + price.partnerFee);
  expect(price.receipt + price.partnerFee + price.platformFee).toBe(price.cryptoAmount);
  expect(price.receipt > 0n && price.fiatAmount > 0n).toBe(true);
}

function expectOfframpAddsUp(m: Market, price: OfframpPrice): void {
  expect(price.platformFee).toBe(platformFeeOn(m, price.cryptoAmount));
  expect(price.totalFee).toBe(price.platformFee + price.partnerFee);
  const toBuyer = price.cryptoAmount - price.platformFee;
  expect(toBuyer + price.platformFee + price.partnerFee).toBe(price.deposit);
  expect(toBuyer > 0n && price.fiatAmount > 0n).toBe(true);
}

describe('on-ramp, fiat-anchored', () => {
  // Proves D1 row 1, C2.10 rule 2, trap 12.
  test('buys floor(F / rate), keeps F, and receipt and fees add up to it', () => {
    fc.assert(
      fc.property(market(BELOW_100, BELOW_100), anchor, (m, fiat) => {
        const base = new Fraction(fiat).over(atomicRate(m)).floor();
        const price = priceOnrampFiatAnchored(fiat, termsOf(m));
        if (base === 0n) {
          expect(price).toEqual({ ok: false, reason: 'amount_too_small' });
          return;
        }
        if (receiptOn(m, base) <= 0n) {
          expect(price).toEqual({ ok: false, reason: 'fees_leave_no_receipt' });
          return;
        }
        if (!price.ok) throw new Error(price.reason);
        expect([price.value.fiatAmount, price.value.cryptoAmount]).toEqual([fiat, base]);
        expectOnrampAddsUp(m, price.value);
      }),
      RUNS,
    );
  });

  test('paying more never buys less', () => {
    fc.assert(
      fc.property(market(10_000_000n, 50_000_000n), anchor, anchor, (m, fiat, more) => {
        const lower = priceOnrampFiatAnchored(fiat, termsOf(m));
        const higher = priceOnrampFiatAnchored(fiat + more, termsOf(m));
        if (lower.ok && higher.ok) expect(higher.value.cryptoAmount >= lower.value.cryptoAmount).toBe(true);
        expect(lower.ok && !higher.ok).toBe(false);
      }),
      RUNS,
    );
  });
});

describe('on-ramp, crypto-anchored', () => {
  // Proves D1 row 2, C2.10 rules 1 and 2.
  test('delivers exactly X; fiat is C * rate rounded up; fees add up', () => {
    fc.assert(
      fc.property(market(BELOW_100, BELOW_100), anchor, (m, receipt) => {
        const price = priceOnrampCryptoAnchored(receipt, termsOf(m));
        const solvable = m.platformPct + m.partnerPct < 100_000_000n || receipt === 1n;
        if (!solvable) {
          expect(price).toEqual({ ok: false, reason: 'fees_leave_no_receipt' });
          return;
        }
        if (!price.ok) throw new Error(price.reason);
        expect(price.value.receipt).toBe(receipt);
        expect(receiptOn(m, price.value.cryptoAmount)).toBe(receipt);
        expect(price.value.fiatAmount).toBe(
          new Fraction(price.value.cryptoAmount).times(atomicRate(m)).ceil(),
        );
        expectOnrampAddsUp(m, price.value);
        // One base less cannot be a solution either; the window below it is searched in receipt-base.test.ts.
        expect(receiptOn(m, price.value.cryptoAmount - 1n)).not.toBe(receipt);
      }),
      RUNS,
    );
  });

  // Proves D1 row 2.
  test('takes the smallest C of all that deliver X', () => {
    fc.assert(
      fc.property(market(30_000_000n, 60_000_000n), smallAnchor, (m, receipt) => {
        let smallest = 0n;
        while (receiptOn(m, smallest) !== receipt) smallest += 1n;
        const price = priceOnrampCryptoAnchored(receipt, termsOf(m));
        expect(price.ok && price.value.cryptoAmount).toBe(smallest);
      }),
      RUNS,
    );
  });

  test('receiving more always costs more crypto and never less fiat', () => {
    fc.assert(
      fc.property(market(10_000_000n, 89_000_000n), anchor, anchor, (m, receipt, more) => {
        const lower = priceOnrampCryptoAnchored(receipt, termsOf(m));
        const higher = priceOnrampCryptoAnchored(receipt + more, termsOf(m));
        if (!lower.ok || !higher.ok) throw new Error('fees below 100 % are always served');
        expect(higher.value.cryptoAmount > lower.value.cryptoAmount).toBe(true);
        expect(higher.value.fiatAmount >= lower.value.fiatAmount).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('off-ramp, fiat-anchored', () => {
  const uncapped = market(BELOW_100, 10n ** 15n - 1n);

  // Proves D1 row 3, C2.10 rule 3.
  test('pays exactly F with the smallest C that can, and the deposit is C + partner_fee', () => {
    fc.assert(
      fc.property(uncapped, anchor, (m, fiat) => {
        const price = priceOfframpFiatAnchored(fiat, termsOf(m));
        if (!price.ok) throw new Error(price.reason);
        const { cryptoAmount } = price.value;
        expect(price.value.fiatAmount).toBe(fiat);
        expect(pays(m, cryptoAmount, fiat)).toBe(true);
        // C - platform_fee(C) never falls, so failing at C - 1 means failing at every smaller C.
        expect(pays(m, cryptoAmount - 1n, fiat)).toBe(false);
        expect(price.value.partnerFee).toBe(partnerFeeOn(m, cryptoAmount));
        expect(price.value.deposit).toBe(cryptoAmount + price.value.partnerFee);
        expectOfframpAddsUp(m, price.value);
      }),
      RUNS,
    );
  });

  test('what the buyer gets never falls when the base grows', () => {
    fc.assert(
      fc.property(uncapped, anchor, (m, base) => {
        const toBuyer = (c: bigint) => c - platformFeeOn(m, c);
        expect(toBuyer(base + 1n) >= toBuyer(base)).toBe(true);
      }),
      RUNS,
    );
  });

  test('a larger payout never needs a smaller deposit', () => {
    fc.assert(
      fc.property(uncapped, anchor, anchor, (m, fiat, more) => {
        const lower = priceOfframpFiatAnchored(fiat, termsOf(m));
        const higher = priceOfframpFiatAnchored(fiat + more, termsOf(m));
        if (!lower.ok || !higher.ok) throw new Error('never refused');
        expect(higher.value.deposit >= lower.value.deposit).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('off-ramp, crypto-anchored', () => {
  // Proves D1 row 4, C2.10 rule 1.
  test('uses exactly X with the largest C that fits; dust of at most one unit goes to partner_fee', () => {
    fc.assert(
      fc.property(market(BELOW_100, BELOW_100), anchor, (m, deposit) => {
        const needs = (base: bigint) => base + partnerFeeOn(m, base);
        const price = priceOfframpCryptoAnchored(deposit, termsOf(m));
        if (!price.ok) {
          const worth = new Fraction(deposit).times(atomicRate(m)).floor();
          expect(price.reason).toBe(worth === 0n ? 'amount_too_small' : 'fees_leave_no_payout');
          return;
        }
        const { cryptoAmount, partnerFee, platformFee } = price.value;
        expect(needs(cryptoAmount) <= deposit).toBe(true);
        // C + partner_fee(C) always grows, so failing at C + 1 means failing at every larger C.
        expect(needs(cryptoAmount + 1n) > deposit).toBe(true);
        expect([cryptoAmount + partnerFee, price.value.deposit]).toEqual([deposit, deposit]);
        const dust = partnerFee - partnerFeeOn(m, cryptoAmount);
        expect(dust === 0n || dust === 1n).toBe(true);
        const payout = new Fraction(cryptoAmount - platformFee).times(atomicRate(m)).floor();
        expect(price.value.fiatAmount).toBe(payout);
        expectOfframpAddsUp(m, price.value);
      }),
      RUNS,
    );
  });

  // Proves trap 13.
  test('is refused exactly when the rounded payout is nothing', () => {
    // Rates around one minor unit per few atomic units, so that both outcomes are common.
    const coarse = market(60_000_000n, BELOW_100).map((m) => ({ ...m, cryptoDecimals: 6, rateScale: 2 }));
    fc.assert(
      fc.property(coarse, fc.bigInt({ min: 1n, max: 10n ** 6n }), (m, deposit) => {
        let base = deposit;
        if (m.partnerPct > 0n) {
          // Halving search for the largest base that fits: C + partner_fee(C) always grows.
          let [fits, tooBig] = [0n, deposit + 1n];
          while (tooBig - fits > 1n) {
            const middle = (fits + tooBig) / 2n;
            if (middle + partnerFeeOn(m, middle) <= deposit) fits = middle;
            else tooBig = middle;
          }
          base = fits;
        }
        const payout = new Fraction(base - platformFeeOn(m, base)).times(atomicRate(m)).floor();
        const price = priceOfframpCryptoAnchored(deposit, termsOf(m));
        expect(price.ok ? price.value.fiatAmount : 0n).toBe(payout);
      }),
      RUNS,
    );
  });

  test('a larger deposit never pays less', () => {
    fc.assert(
      fc.property(market(50_000_000n, BELOW_100), anchor, anchor, (m, deposit, more) => {
        const lower = priceOfframpCryptoAnchored(deposit, termsOf(m));
        const higher = priceOfframpCryptoAnchored(deposit + more, termsOf(m));
        expect(lower.ok && !higher.ok).toBe(false);
        if (lower.ok && higher.ok) expect(higher.value.fiatAmount >= lower.value.fiatAmount).toBe(true);
      }),
      RUNS,
    );
  });
});

test('the two off-ramp anchors agree: depositing what a payout needs pays at least that payout', () => {
  fc.assert(
    fc.property(market(50_000_000n, BELOW_100), anchor, (m, fiat) => {
      const forward = priceOfframpFiatAnchored(fiat, termsOf(m));
      if (!forward.ok) throw new Error(forward.reason);
      const back = priceOfframpCryptoAnchored(forward.value.deposit, termsOf(m));
      expect(back.ok && back.value.fiatAmount >= fiat).toBe(true);
    }),
    RUNS,
  );
});
