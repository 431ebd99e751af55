export const ONRAMP_STATUSES = [
  'awaiting_liquidity_provider',
  'awaiting_vendor_escrow_funding',
  'awaiting_fiat_transfer',
  'fiat_transfer_pending',
  'fiat_received_confirmed',
  'crypto_release_pending',
  'completed',
  'send_out_pending',
  'send_out_completed',
  'send_out_failed',
  'cancelled',
  'failed',
  'dispute_started',
] as const;
export type OnrampStatus = (typeof ONRAMP_STATUSES)[number];
