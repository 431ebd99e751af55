import { type Decimal, powerOfTen } from '@causeway/protocol';

/**
 * Offers state fiat and crypto as decimals without saying how many decimals the asset has, so the book keeps both at
 * one scale that holds every asset: ISO 4217 knows at most 4 minor digits, tokens at most 36.
 */
export const FIAT_SCALE = 6;
export const CRYPTO_SCALE = 36;

/** Null where the decimal has more digits than the scale: nothing is cut off. */
export function atScale(decimal: Decimal, scale: number): bigint | null {
  return decimal.scale > scale ? null : decimal.unscaled * powerOfTen(scale - decimal.scale);
}
