// Token decimals, rate scale and fiat minor units add up to far less than this.
const HIGHEST_EXPONENT = 128;

// A table, because 10n ** n allocates and multiplies on every price.
const POWERS: readonly bigint[] = Array.from(
  { length: HIGHEST_EXPONENT + 1 },
  (_, exponent) => 10n ** BigInt(exponent),
);

export function powerOfTen(exponent: number): bigint {
  const power = POWERS[exponent];
  if (power === undefined)
    throw new RangeError(`exponent must be an integer within 0..${HIGHEST_EXPONENT}, got ${exponent}`);
  return power;
}
