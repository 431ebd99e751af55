/**
 * The four fee cases once more, by definition and by search, on rationals: slow, simple and written without a look at the
 * code under test. Everything is exact; nothing is shared with the program but the rules in the settled decisions.
 */
export interface ReferenceInput {
  readonly direction: 'onramp' | 'offramp';
  readonly anchor: 'fiat' | 'crypto';
  /** Decimal strings. */
  readonly amount: string;
  readonly rate: string;
  readonly platformPct: string;
  readonly partnerPct: string;
  readonly cryptoDecimals: number;
  readonly fiatDecimals: number;
}

/** Atomic units. */
export interface ReferencePrice {
  readonly crypto: bigint;
  readonly fiat: bigint;
  readonly platformFee: bigint;
  readonly partnerFee: bigint;
}

/** n / d, d above zero. */
type Rational = readonly [n: bigint, d: bigint];

const times = ([a, b]: Rational, [c, d]: Rational): Rational => [a * c, b * d];
const over = ([a, b]: Rational, [c, d]: Rational): Rational => [a * d, b * c];
const minus = ([a, b]: Rational, [c, d]: Rational): Rational => [a * d - c * b, b * d];
const whole = (n: bigint): Rational => [n, 1n];
const ONE = whole(1n);

function floor([n, d]: Rational): bigint {
  const q = n / d;
  return n < 0n && q * d !== n ? q - 1n : q;
}
const ceil = ([n, d]: Rational): bigint => -floor([-n, d]);

function rational(text: string): Rational {
  const [integer = '', fraction = ''] = text.split('.');
  return [BigInt(integer + fraction), 10n ** BigInt(fraction.length)];
}

/** Undefined where the rules leave nothing to deliver or to pay. */
export function referencePrice(input: ReferenceInput): ReferencePrice | undefined {
  const platform = over(rational(input.platformPct), whole(100n));
  const partner = over(rational(input.partnerPct), whole(100n));
  const cryptoUnit = 10n ** BigInt(input.cryptoDecimals);
  const fiatUnit = 10n ** BigInt(input.fiatDecimals);
  /** Minor units of fiat for one atomic unit of crypto. */
  const price = over(times(rational(input.rate), whole(fiatUnit)), whole(cryptoUnit));
  const platformOf = (c: bigint) => floor(times(whole(c), platform));
  const partnerOf = (c: bigint) => floor(times(whole(c), partner));
  const unit = input.anchor === 'fiat' ? fiatUnit : cryptoUnit;
  const given = floor(times(rational(input.amount), whole(unit)));
  const cannotTakeAll = input.direction === 'onramp' || input.anchor === 'crypto';
  if (cannotTakeAll && partner[0] >= partner[1]) return undefined;

  if (input.direction === 'onramp') {
    const kept = minus(minus(ONE, platform), partner);
    const receiptOf = (c: bigint) => c - platformOf(c) - partnerOf(c);
    if (input.anchor === 'fiat') {
      const crypto = floor(over(whole(given), price));
      if (receiptOf(crypto) <= 0n) return undefined;
      return { crypto, fiat: given, platformFee: platformOf(crypto), partnerFee: partnerOf(crypto) };
    }
    if (kept[0] <= 0n) return undefined;
    // The receipt is at least kept * C and less than that plus 2.
    let crypto = floor(over(whole(given - 2n), kept));
    if (crypto < 1n) crypto = 1n;
    while (receiptOf(crypto) !== given) crypto += 1n;
    const fiat = ceil(times(whole(crypto), price));
    return { crypto, fiat, platformFee: platformOf(crypto), partnerFee: partnerOf(crypto) };
  }

  if (input.anchor === 'fiat') {
    const pays = (c: bigint) => {
      const [n, d] = times(whole(c - platformOf(c)), price);
      return n >= given * d;
    };
    // Before rounding the payout is (1 - platform) * C * price, and rounding the fee adds less than one unit of C.
    let crypto = floor(
      minus(over(over(whole(given), price), minus(ONE, platform)), over(ONE, minus(ONE, platform))),
    );
    if (crypto < 1n) crypto = 1n;
    while (!pays(crypto)) crypto += 1n;
    return { crypto, fiat: given, platformFee: platformOf(crypto), partnerFee: partnerOf(crypto) };
  }
  let crypto = ceil(over(whole(given + 1n), [partner[0] + partner[1], partner[1]]));
  while (crypto + partnerOf(crypto) > given) crypto -= 1n;
  const fiat = floor(times(whole(crypto - platformOf(crypto)), price));
  if (crypto <= 0n || fiat <= 0n) return undefined;
  return { crypto, fiat, platformFee: platformOf(crypto), partnerFee: given - crypto };
}
