import type { ErrorCode } from '../errors/catalogue.ts';
import type { Asset } from './amount.ts';
import { ceilDiv, floorDiv, powerOfTen } from './decimal.ts';
import { type Percent, type Rate, WHOLE_IN_MILLIONTHS } from './rate.ts';
import { smallestBaseForReceipt } from './receipt-base.ts';
import { accept, type Result, refuse } from './result.ts';

/**
 * The four fee cases. Both fees have one base, crypto_amount, and one rounding each, down:
 * platform_fee = floor(crypto_amount * platform_fee_pct / 100), partner_fee likewise.
 * All figures are atomic units: of the token for crypto and fees, of the currency's minor unit for fiat.
 */

/** Everything but the anchor, brought to whole numbers once: fiatAtomic = cryptoAtomic * rateNumerator / rateDenominator. */
export interface PriceTerms {
  readonly rateNumerator: bigint;
  readonly rateDenominator: bigint;
  readonly platformFee: Percent;
  readonly partnerFee: Percent;
}

export interface PriceTermsInput {
  /** Fiat per 1 crypto, the customer's rate, spread included. */
  readonly rate: Rate;
  readonly crypto: Asset;
  readonly fiat: Asset;
  readonly platformFee: Percent;
  readonly partnerFee: Percent;
}

interface Price {
  readonly cryptoAmount: bigint;
  readonly fiatAmount: bigint;
  readonly platformFee: bigint;
  readonly partnerFee: bigint;
  readonly totalFee: bigint;
}

export interface OnrampPrice extends Price {
  /** What the end user gets: cryptoAmount - platformFee - partnerFee. */
  readonly receipt: bigint;
}

export interface OfframpPrice extends Price {
  /** What the partner puts into escrow: cryptoAmount + partnerFee. */
  readonly deposit: bigint;
}

export type PriceRefusal =
  /** The partner's fee alone takes everything. */
  | 'partner_fee_not_below_100'
  /** After rounding, the two fees leave the end user nothing, or can never leave what was asked for. */
  | 'fees_leave_no_receipt'
  /** After rounding, the fees leave less than one minor unit to pay out. */
  | 'fees_leave_no_payout'
  /** Even without fees the amount rounds to nothing in the other currency. */
  | 'amount_too_small'
  /** The deployment's own fee leaves nothing to pay out: a setting to correct, not the partner's doing. */
  | 'platform_fee_not_below_100';

/** The error a partner sees for each refusal. */
export const PRICE_REFUSAL_CODES = {
  partner_fee_not_below_100: 'INVALID_PARTNER_FEE',
  fees_leave_no_receipt: 'INVALID_PARTNER_FEE',
  fees_leave_no_payout: 'INVALID_PARTNER_FEE',
  amount_too_small: 'AMOUNT_OUT_OF_RANGE',
  platform_fee_not_below_100: 'INTERNAL_ERROR',
} as const satisfies Record<PriceRefusal, ErrorCode>;

export function priceTerms(input: PriceTermsInput): PriceTerms {
  const { rate, crypto, fiat, platformFee, partnerFee } = input;
  if (rate.numerator <= 0n) throw new RangeError('a rate must be above zero');
  // Shared powers of ten are cancelled: smaller numbers multiply and divide faster.
  const shift = rate.scale + crypto.decimals - fiat.decimals;
  return {
    rateNumerator: shift >= 0 ? rate.numerator : rate.numerator * powerOfTen(-shift),
    rateDenominator: shift >= 0 ? powerOfTen(shift) : 1n,
    platformFee,
    partnerFee,
  };
}

/** The customer pays exactly `fiatAmount`; what it buys is rounded down. */
export function priceOnrampFiatAnchored(
  fiatAmount: bigint,
  terms: PriceTerms,
): Result<OnrampPrice, PriceRefusal> {
  if (isWholeOrMore(terms.partnerFee)) return refuse('partner_fee_not_below_100');
  if (fiatAmount <= 0n) return refuse('amount_too_small');
  const cryptoAmount = floorDiv(fiatAmount * terms.rateDenominator, terms.rateNumerator);
  if (cryptoAmount === 0n) return refuse('amount_too_small');
  return onrampPrice(cryptoAmount, fiatAmount, terms);
}

/** The end user receives exactly `receipt`; the base is sized up so that both fees fit in, the fiat is rounded up. */
export function priceOnrampCryptoAnchored(
  receipt: bigint,
  terms: PriceTerms,
): Result<OnrampPrice, PriceRefusal> {
  if (isWholeOrMore(terms.partnerFee)) return refuse('partner_fee_not_below_100');
  if (isWholeOrMore(terms.platformFee)) return refuse('fees_leave_no_receipt');
  if (receipt <= 0n) return refuse('amount_too_small');
  const cryptoAmount = smallestBaseForReceipt(
    receipt,
    terms.platformFee.millionths,
    terms.partnerFee.millionths,
  );
  if (cryptoAmount === null) return refuse('fees_leave_no_receipt');
  const fiatAmount = ceilDiv(cryptoAmount * terms.rateNumerator, terms.rateDenominator);
  return onrampPrice(cryptoAmount, fiatAmount, terms);
}

/** The recipient is paid exactly `fiatAmount`; the partner's fee comes on top of the base, so it has no cap. */
export function priceOfframpFiatAnchored(
  fiatAmount: bigint,
  terms: PriceTerms,
): Result<OfframpPrice, PriceRefusal> {
  if (isWholeOrMore(terms.platformFee)) return refuse('platform_fee_not_below_100');
  if (fiatAmount <= 0n) return refuse('amount_too_small');
  // The smallest C with (C - platform_fee(C)) * rate >= F. The buyer's part is a whole number, so it has to reach
  // n = ceil(F / rate); and C - floor(C * a) is ceil(C * (1 - a)), which reaches n once C * (1 - a) > n - 1.
  const buyerPart = ceilDiv(fiatAmount * terms.rateDenominator, terms.rateNumerator);
  const keptShare = WHOLE_IN_MILLIONTHS - terms.platformFee.millionths;
  const cryptoAmount = floorDiv((buyerPart - 1n) * WHOLE_IN_MILLIONTHS, keptShare) + 1n;
  const platformFee = feeOn(cryptoAmount, terms.platformFee);
  return accept(offrampPrice(cryptoAmount, fiatAmount, platformFee, feeOn(cryptoAmount, terms.partnerFee)));
}

/** The partner deposits exactly `deposit`; both fees are carved out of it and the payout is rounded down. */
export function priceOfframpCryptoAnchored(
  deposit: bigint,
  terms: PriceTerms,
): Result<OfframpPrice, PriceRefusal> {
  if (isWholeOrMore(terms.partnerFee)) return refuse('partner_fee_not_below_100');
  if (deposit <= 0n) return refuse('amount_too_small');
  // The largest C with C + floor(C * b) <= X, which is floor(C * (1 + b)) < X + 1, so C * (1 + b) < X + 1.
  const grownShare = WHOLE_IN_MILLIONTHS + terms.partnerFee.millionths;
  const cryptoAmount = floorDiv((deposit + 1n) * WHOLE_IN_MILLIONTHS - 1n, grownShare);
  const platformFee = feeOn(cryptoAmount, terms.platformFee);
  const fiatAmount = floorDiv((cryptoAmount - platformFee) * terms.rateNumerator, terms.rateDenominator);
  if (fiatAmount <= 0n) {
    const payableWithoutFees = deposit * terms.rateNumerator >= terms.rateDenominator;
    return refuse(payableWithoutFees ? 'fees_leave_no_payout' : 'amount_too_small');
  }
  // The atomic unit that no C can use belongs to the partner, so that the parts still add up to the deposit.
  return accept(offrampPrice(cryptoAmount, fiatAmount, platformFee, deposit - cryptoAmount));
}

function onrampPrice(
  cryptoAmount: bigint,
  fiatAmount: bigint,
  terms: PriceTerms,
): Result<OnrampPrice, 'fees_leave_no_receipt'> {
  const platformFee = feeOn(cryptoAmount, terms.platformFee);
  const partnerFee = feeOn(cryptoAmount, terms.partnerFee);
  const totalFee = platformFee + partnerFee;
  const receipt = cryptoAmount - totalFee;
  // Judged after rounding: fees that sum to 100 % or more can still leave a unit of a very small amount.
  if (receipt <= 0n) return refuse('fees_leave_no_receipt');
  return accept({ cryptoAmount, fiatAmount, platformFee, partnerFee, totalFee, receipt });
}

function offrampPrice(
  cryptoAmount: bigint,
  fiatAmount: bigint,
  platformFee: bigint,
  partnerFee: bigint,
): OfframpPrice {
  return {
    cryptoAmount,
    fiatAmount,
    platformFee,
    partnerFee,
    totalFee: platformFee + partnerFee,
    deposit: cryptoAmount + partnerFee,
  };
}

function feeOn(base: bigint, fee: Percent): bigint {
  return floorDiv(base * fee.millionths, WHOLE_IN_MILLIONTHS);
}

function isWholeOrMore(fee: Percent): boolean {
  return fee.millionths >= WHOLE_IN_MILLIONTHS;
}

/**
 * The contract's 1.20 safety bound for a fiat-anchored off-ramp order: it fails only when the crypto cost is above
 * 1.20 times the expected amount, so exactly 1.20 still settles. Whole numbers on both sides, nothing is rounded.
 */
export function costExceedsBound(costAtomic: bigint, expectedAtomic: bigint): boolean {
  return costAtomic * 100n > expectedAtomic * 120n;
}
