/**
 * The API's words as far as the command line completes and explains them; a test compares them with packages/protocol.
 * Others may come from a newer service, and are shown as they are.
 */
export const ORDER_STATUSES: readonly string[] = [
  ...['created', 'awaiting_liquidity_provider', 'awaiting_vendor_escrow_funding', 'awaiting_fiat_transfer'],
  ...['fiat_transfer_pending', 'awaiting_crypto_transfer_authorization', 'crypto_received'],
  ...['fiat_payment_started', 'fiat_payment_review_started', 'awaiting_fiat_received_confirmation'],
  ...['completed', 'cancelled', 'failed', 'dispute_started', 'send_out_pending', 'send_out_completed'],
  ...['send_out_failed', 'crypto_transfer_authorization_pending', 'fiat_received_confirmed'],
  'crypto_release_pending',
];

/** Where an order has ended unless its partner has something to sign; a send-out may still follow. */
const ENDED: readonly string[] = [
  'completed',
  'cancelled',
  'failed',
  'send_out_completed',
  'send_out_failed',
];
const NOTHING_TO_DO: readonly string[] = ['none', 'wait'];

export function hasEnded({ status, next_action }: { readonly status: string; readonly next_action: string }) {
  return ENDED.includes(status) && NOTHING_TO_DO.includes(next_action);
}

export const EVENT_TYPES: readonly string[] = [
  ...['order.status.changed', 'order.refund.required', 'order.release.required', 'user.kyc.updated'],
  ...['retail.settlement.completed', 'webhook.test'],
];

export const DELIVERY_STATUSES: readonly string[] = ['pending', 'delivered', 'failed', 'cancelled'];

export const ORDER_TYPES: readonly string[] = ['onramp', 'offramp', 'payment_request'];

/** What a partner does next, in words. */
export const NEXT_ACTIONS: Readonly<Record<string, string>> = {
  submit_payer_details: 'say from which account the customer pays',
  confirm_payment_sent: 'once the customer has paid, confirm it',
  authorize_crypto_transfer: 'sign the transfer of the crypto into escrow',
  confirm_fiat_received: 'once the recipient has the money, confirm it',
  authorize_refund: 'sign the refund of the crypto',
  authorize_release: 'sign the release of the crypto',
  deposit_to_user_account: 'the customer pays into their own account',
  wait: 'nothing to do, it goes on by itself',
  none: 'nothing, it has ended',
};

export const HOLD_REASONS: Readonly<Record<string, string>> = {
  COMPLIANCE_REVIEW:
    'A person reviews the order. What led to the review is not told; wait, or ask the operator.',
  KYC_REVIEW:
    'The customer is no longer VERIFIED, as its KYC status says; complete the verification, then an operator releases the order.',
  DEPOSIT_REVIEW: 'A deposit on the customer’s account could pay several orders; an operator decides which.',
  FIAT_TRANSFER_REVIEW:
    'The customer’s deposit could not be paid on to the vendor; an operator settles it with the bank.',
  SETTLEMENT_REVIEW:
    'A movement of crypto failed, is overdue, or would contradict a payment that the vendor says it made; an operator looks where the money is.',
  CANCELLATION_REVIEW:
    'The order was cancelled when its vendor knew already where to pay. An operator asks: a vendor that has paid disputes the order; where it has not, the refund is asked for.',
};
