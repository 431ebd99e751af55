export const OFFRAMP_STATUSES = [
  'created',
  'awaiting_liquidity_provider',
  'awaiting_crypto_transfer_authorization',
  'crypto_transfer_authorization_pending',
  'crypto_received',
  'fiat_payment_started',
  'fiat_payment_review_started',
  'awaiting_fiat_received_confirmation',
  'fiat_received_confirmed',
  'crypto_release_pending',
  'completed',
  'cancelled',
  'failed',
  'dispute_started',
] as const;
export type OfframpStatus = (typeof OFFRAMP_STATUSES)[number];
