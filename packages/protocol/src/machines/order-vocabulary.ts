/** Carried by order.status.changed: the contract's seventeen. */
export const PUBLISHED_ORDER_STATUSES = [
  'created',
  'awaiting_liquidity_provider',
  'awaiting_vendor_escrow_funding',
  'awaiting_fiat_transfer',
  'fiat_transfer_pending',
  'awaiting_crypto_transfer_authorization',
  'crypto_received',
  'fiat_payment_started',
  'fiat_payment_review_started',
  'awaiting_fiat_received_confirmation',
  'completed',
  'cancelled',
  'failed',
  'dispute_started',
  'send_out_pending',
  'send_out_completed',
  'send_out_failed',
] as const;
export const MID_FLIGHT_ORDER_STATUSES = [
  'crypto_transfer_authorization_pending',
  'fiat_received_confirmed',
  'crypto_release_pending',
] as const;
export const ORDER_STATUSES = [...PUBLISHED_ORDER_STATUSES, ...MID_FLIGHT_ORDER_STATUSES] as const;
export type PublishedOrderStatus = (typeof PUBLISHED_ORDER_STATUSES)[number];
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** Facts in the past tense; one vocabulary for both directions. */
export const ORDER_TRIGGERS = [
  'order_initiated',
  'liquidity_checked',
  'vendor_accepted',
  'vendor_declined',
  'escrow_funded',
  'payer_details_submitted',
  'payment_sent_confirmed',
  'deposit_matched',
  'deposit_held',
  'deposit_hold_released',
  'vendor_payment_started',
  'vendor_payment_sent',
  'vendor_payment_refused',
  'fiat_confirmed_by_vendor',
  'transfer_authorized',
  'transfer_failed',
  'transfer_authorization_lapsed',
  'deposit_finalized',
  'payout_requested',
  'payout_details_requested',
  'proof_submitted',
  'proof_review_started',
  'proof_accepted',
  'proof_rejected',
  'fiat_received_confirmed_by_partner',
  'fiat_received_confirmed_by_provider',
  'release_authorized',
  'release_started',
  'release_confirmed',
  'release_failed',
  'bridge_authorized',
  'bridge_settled',
  'bridge_failed',
  'bridge_authorization_lapsed',
  'cancelled_by_partner',
  'order_expired',
  'escrow_failed',
  'cost_bound_exceeded',
  'cost_bound_met',
  'dispute_opened',
  'dispute_resolved_to_buyer',
  'dispute_resolved_to_seller',
  'refund_authorized',
  'refund_signed_by_vendor',
  'refund_confirmed',
  'refund_failed',
  'escrow_settled_elsewhere',
  'hold_placed',
  'hold_released',
  'kyc_waived',
  'screening_lost',
] as const;
export type OrderTrigger = (typeof ORDER_TRIGGERS)[number];

/** What interrupts an order rather than taking it further. */
const INTERRUPTIONS: ReadonlySet<OrderTrigger> = new Set<OrderTrigger>([
  'vendor_declined',
  'cancelled_by_partner',
  'order_expired',
  'escrow_failed',
  'cost_bound_exceeded',
  'cost_bound_met',
  'dispute_opened',
  'hold_placed',
  'deposit_held',
  'transfer_failed',
  'transfer_authorization_lapsed',
  'release_failed',
  'refund_failed',
  'escrow_settled_elsewhere',
  'refund_signed_by_vendor',
  'bridge_failed',
]);

export function interruptsOrder(trigger: OrderTrigger): boolean {
  return INTERRUPTIONS.has(trigger);
}
