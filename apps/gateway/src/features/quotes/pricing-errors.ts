import type { ErrorCode } from '@causeway/protocol';

/** What pricing can refuse, in estimates and quotes alike. */
export const PRICING_ERRORS: readonly ErrorCode[] = [
  'INVALID_PARTNER_FEE',
  'UNSUPPORTED_CRYPTO_CURRENCY',
  'UNSUPPORTED_FIAT_CURRENCY',
  'INVALID_PROVIDER_SCOPE',
  'AMOUNT_OUT_OF_RANGE',
  'NO_OFFERS_AVAILABLE',
  'SERVICE_UNAVAILABLE',
];
