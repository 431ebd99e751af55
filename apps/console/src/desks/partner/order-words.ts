/** Words for people, of what the API names for programs. What is not here is shown as it is named. */
export const ACTION_WORDS: Readonly<Record<string, string>> = {
  submit_payer_details: 'Say who pays',
  confirm_payment_sent: 'Confirm that the payment was sent',
  authorize_crypto_transfer: 'Sign the transfer into escrow',
  confirm_fiat_received: 'Confirm that the money arrived',
  authorize_refund: 'Sign the refund',
  authorize_release: 'Sign the release',
  deposit_to_user_account: 'The customer pays into its own account',
  wait: 'Wait',
  none: 'Nothing',
};

export const ORDER_TYPE_WORDS: Readonly<Record<string, string>> = {
  onramp: 'On-ramp',
  offramp: 'Off-ramp',
  payment_request: 'Payment request',
};

export const ACTOR_WORDS: Readonly<Record<string, string>> = {
  partner: 'you',
  customer: 'the customer',
  vendor: 'the vendor',
  provider: 'the payment provider',
  operator: 'the operator',
  bank: 'the bank',
  chain: 'the chain',
  clock: 'time',
  system: 'the service',
  simulator: 'the sandbox',
};

/** What the books call an account, without its id. */
const ACCOUNT_WORDS: Readonly<Record<string, string>> = {
  escrow: 'escrow of the order',
  partner: 'your wallet',
  vendor: 'the vendor',
  treasury: 'platform fees',
  customer: 'the customer',
};

export function accountWords(account: string): string {
  // What lies outside the books is named after whom it belongs to.
  const [kind, owner] = account.split(':');
  return ACCOUNT_WORDS[(kind === 'outside' ? owner : kind) ?? ''] ?? account;
}

export const MOVEMENT_WORDS: Readonly<Record<string, string>> = {
  vendor_escrow_funded: 'The vendor locked its crypto in escrow',
  partner_escrow_funded: 'Your crypto was locked in escrow',
  customer_deposit_applied: 'The customer’s deposit was used',
  customer_deposit_returned: 'The customer has its deposit back',
  escrow_released: 'The escrow paid out',
  escrow_refunded: 'The escrow was refunded',
  escrow_returned_to_vendor: 'The escrow went back to the vendor',
  send_out_settled: 'The crypto arrived on the other network',
  deposit_held: 'A deposit is kept apart',
  deposit_accepted: 'A deposit was accepted',
  deposit_returned: 'A deposit was sent back',
};

export const SANDBOX_EVENT_WORDS: Readonly<Record<string, string>> = {
  vendor_accepts: 'Vendor accepts',
  escrow_funded: 'Vendor funds the escrow',
  vendor_confirms_fiat: 'Vendor has the money',
  bridge_settles: 'Bridge pays out',
  bridge_fails: 'Bridge fails',
  buyer_submits_proof: 'Vendor submits a payment proof',
  admin_reviews_proof: 'Operator reviews the proof',
  proof_accepted: 'Proof is accepted',
  proof_rejected: 'Proof is refused',
  provider_confirms_fiat: 'Provider says the money arrived',
  dispute_opened: 'A dispute is opened',
  escrow_error: 'The escrow fails',
  order_expires: 'Time runs out',
  hold_for_review: 'Hold it for review',
  release_hold: 'End the hold',
  reprice: 'The price moves 25 % against it',
};
