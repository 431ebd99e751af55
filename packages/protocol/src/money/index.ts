export {
  type Amount,
  type AmountRefusal,
  type Asset,
  addAmounts,
  compareAmounts,
  formatAmount,
  formatAmountShortest,
  parseAmount,
  parsePositiveAmount,
  parseSignedAmount,
  subtractAmounts,
} from './amount.ts';
export {
  type Decimal,
  type DecimalRefusal,
  formatFixed,
  formatShortest,
  MAX_FRACTION_DIGITS,
  MAX_INTEGER_DIGITS,
  parseDecimal,
  parseSignedDecimal,
} from './decimal.ts';
export {
  formatPercent,
  MAX_PERCENT_INTEGER_DIGITS,
  PERCENT_DECIMALS,
  type Percent,
  type PercentRefusal,
  parsePercent,
  WHOLE_IN_MILLIONTHS,
  ZERO_PERCENT,
} from './percent.ts';
export { powerOfTen } from './powers-of-ten.ts';
export {
  type OfframpPrice,
  type OnrampPrice,
  PRICE_REFUSAL_CODES,
  type PriceRefusal,
  type PriceTerms,
  type PriceTermsInput,
  priceOfframpCryptoAnchored,
  priceOfframpFiatAnchored,
  priceOnrampCryptoAnchored,
  priceOnrampFiatAnchored,
  priceTerms,
} from './price.ts';
export { formatRate, parseRate, type Rate, type RateRefusal } from './rate.ts';
export { type Accepted, accept, type Refused, type Result, refuse } from './result.ts';
export { ceilDiv, floorDiv } from './rounding.ts';
export { costExceedsBound } from './settlement-bound.ts';
export { decimalToWireNumber } from './wire-number.ts';
