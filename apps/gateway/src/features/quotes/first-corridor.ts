import { type Asset, parseRate, type Rate } from '@causeway/protocol';

/**
 * The one corridor of the walking skeleton: euros over SEPA for any stablecoin of the settlement chain, sold by one
 * vendor at a fixed price. The offers backend replaces this file.
 */
export interface Corridor {
  readonly fiat: Asset;
  readonly rate: Rate;
  readonly rateText: string;
  readonly paymentMethodSlug: string;
  readonly paymentNetworkSlug: string;
}

const RATE_TEXT = '0.92';
const rate = parseRate(RATE_TEXT);
if (!rate.ok) throw new Error('the first corridor has no valid rate');

export const FIRST_CORRIDOR: Corridor = {
  fiat: { code: 'EUR', decimals: 2 },
  rate: rate.value,
  rateText: RATE_TEXT,
  paymentMethodSlug: 'other-bank-sepa',
  paymentNetworkSlug: 'iban-sepa',
};
