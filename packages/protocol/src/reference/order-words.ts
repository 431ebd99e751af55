import type { NamedEnum } from './word-meanings.ts';

/** What the words of orders mean that no table and no catalogue explains. */
export const ORDER_WORDS: readonly NamedEnum[] = [
  {
    name: 'PartnerAction',
    meanings: {
      'submit-payer-details': 'Say from which account the end user pays; payment requests only.',
      'confirm-payment-sent': 'Report that the end user has sent the fiat.',
      'authorize-crypto-transfer': 'Sign the transfer of the crypto into escrow.',
      'confirm-fiat-received': 'Confirm that the fiat has reached the recipient.',
      'authorize-bridge': 'Sign the send-out of the crypto to another chain.',
      'authorize-refund': 'Sign the return of the crypto from escrow.',
      'authorize-release': 'Sign the release of the crypto after a dispute that was decided for you.',
      cancel: 'Cancel the order.',
    },
  },
  {
    name: 'CustomerAction',
    meanings: {
      'submit-payer-details': 'Say from which account the customer pays; payment requests only.',
      'confirm-payment-sent': 'Say that the fiat was sent.',
      cancel: 'Cancel the order.',
      'authorize-crypto-transfer': 'Sign the transfer of the crypto into escrow.',
      'confirm-fiat-received': 'Say that the fiat has arrived.',
      'authorize-refund': 'Sign the return of the crypto from escrow.',
      'authorize-release':
        'Sign the release of the crypto after a dispute that was decided for the customer.',
    },
  },
  {
    name: 'OrderPhase',
    meanings: {
      match: 'A vendor takes the order and locks its crypto.',
      pay: 'The customer pays.',
      sign: 'The customer’s wallet signs the transfer into escrow.',
      settle: 'Others act: the vendor, a bank, the chain or a review.',
      confirm: 'The customer says whether the fiat has arrived.',
      refund: 'The customer’s wallet signs for its crypto to come back.',
      release: 'The customer’s wallet signs for the crypto that it was awarded.',
      completed: 'Both sides have what they traded for.',
      stopped: 'Ended without a trade; a refund may be on its way.',
      disputed: 'An operator decides whose the money is.',
    },
  },
  {
    name: 'WalletRefusal',
    meanings: {
      checksum: 'The address is mistyped.',
      zero_address: 'The zero address has no key.',
      service_address: 'An address of this service, a token or contract included.',
      contract: 'Off-ramp: a contract cannot sign the transfer.',
      vendor_wallet: 'A vendor’s wallet.',
      partner_wallet: 'Another partner’s wallet.',
      escrow: 'The escrow of an order.',
    },
  },
  {
    name: 'NextAction',
    meanings: {
      submit_payer_details: 'You: submit-payer-details.',
      confirm_payment_sent: 'The end user pays, then you: confirm-payment-sent.',
      authorize_crypto_transfer: 'You: authorize-crypto-transfer.',
      confirm_fiat_received: 'You: confirm-fiat-received, once the recipient has the fiat.',
      authorize_refund: 'You: authorize-refund.',
      authorize_release: 'You: authorize-release.',
      deposit_to_user_account: 'The end user pays into the account that was issued to it; no call follows.',
      wait: 'Others act first.',
      none: 'The order has ended and asks nothing more.',
    },
  },
  {
    name: 'VendorAction',
    meanings: {
      accept: 'Take the order.',
      decline: 'Leave it to another vendor.',
      'fiat-confirmed': 'On-ramp: the fiat has arrived.',
      'payment-proof': 'Off-ramp: the fiat is paid; here is the proof.',
      'fiat-settled': 'Off-ramp: the bank reports that the recipient has the fiat.',
      dispute: 'An operator shall decide.',
      'sign-release':
        'After a dispute that was decided for the buyer, or a release that failed: sign the release.',
      'dispute-statements': 'Say what happened, before the operator decides.',
    },
  },
  {
    name: 'VendorDeclineReason',
    meanings: {
      no_balance: 'Not enough crypto or money.',
      bank_unavailable: 'The bank or the rail is not available.',
      price_moved: 'The price has moved.',
      too_busy: 'It cannot be done in time.',
      risk: 'The order looks risky.',
      other: 'Another reason.',
    },
  },
  {
    name: 'SandboxOrderEvent',
    meanings: {
      vendor_accepts: 'The vendor takes the order.',
      escrow_funded: 'On-ramp: the vendor’s crypto arrives in escrow, on the local chain.',
      vendor_confirms_fiat: 'On-ramp: the vendor has the fiat.',
      bridge_settles: 'On-ramp: the send-out arrives.',
      bridge_fails: 'On-ramp: the send-out fails.',
      buyer_submits_proof: 'Off-ramp: the vendor has paid and proves it.',
      admin_reviews_proof: 'Off-ramp: an operator begins to review the proof.',
      proof_accepted: 'Off-ramp: the proof is accepted.',
      proof_rejected: 'Off-ramp: the proof is refused.',
      provider_confirms_fiat: 'Off-ramp: the provider confirms that the fiat has arrived.',
      dispute_opened: 'A dispute is opened.',
      escrow_error: 'The escrow fails.',
      order_expires: 'The time of the current status is over.',
      hold_for_review: 'An operator holds the order.',
      release_hold: 'An operator lets it go on.',
      reprice: 'Off-ramp: the payout now costs `cost_multiplier` times as much.',
    },
  },
  {
    name: 'Canceller',
    meanings: {
      partner: 'You, with cancel.',
      customer: 'The end user, in the widget.',
      vendor: 'The vendor.',
      operator: 'Who runs the deployment.',
      system: 'Nobody: its time was up.',
    },
  },
  {
    name: 'ExclusionCondition',
    meanings: {
      pair: 'No vendor trades it.',
      no_vendor_online: 'Those that trade it are offline.',
      provider_scope: 'The kind of provider that was asked for.',
      settlement_notification: 'A provider that confirms by itself was asked for.',
      country: 'The country.',
      rail: 'The payment network.',
      payment_method: 'The payment method.',
      amount_range: 'The amount is too small or too large.',
      liquidity: 'What is left would serve no amount.',
    },
  },
  {
    name: 'OrderType',
    meanings: {
      onramp: 'Fiat to crypto.',
      offramp: 'Crypto to fiat.',
      payment_request: 'On-ramp in which the vendor requests the payment from the payer.',
    },
  },
  { name: 'Direction', meanings: { onramp: 'Fiat to crypto.', offramp: 'Crypto to fiat.' } },
  {
    name: 'AnchorType',
    meanings: { fiat: 'The fiat amount is fixed.', crypto: 'The crypto amount is fixed.' },
  },
  {
    name: 'FiatFundingSource',
    meanings: {
      own_iban: 'The end user pays into the account that was issued to it.',
      vendor_details: 'The end user pays to `vendor_payment_details`.',
    },
  },
  {
    name: 'OrderOrigin',
    meanings: { api: 'Opened by the partner’s server.', widget: 'Opened in the embedded widget.' },
  },
  {
    name: 'EscrowState',
    meanings: {
      none: 'Nothing has arrived.',
      funded: 'It holds the order’s crypto.',
      releasing: 'Its crypto is on its way to the buyer.',
      refunding: 'Its crypto is on its way back.',
      emptied: 'Its crypto has left it.',
    },
  },
  {
    name: 'FundingState',
    meanings: {
      awaited: 'Nothing final has arrived.',
      funded: 'It holds the order’s crypto.',
      releasing: 'Its crypto is on its way to the buyer.',
      refunding: 'Its crypto is on its way back.',
      emptied: 'Its crypto has left it.',
    },
  },
  {
    name: 'EscrowPurpose',
    meanings: { refund: 'Back to the seller.', release: 'To the buyer.' },
  },
  {
    name: 'DepositKind',
    meanings: {
      exact: 'What the order awaits.',
      short: 'Less than the order awaits.',
      excess: 'More than the order awaits.',
      double: 'Paid when the escrow was funded already.',
      wrong_token: 'Another token than the order’s.',
      foreign_sender: 'From another wallet than the order’s.',
    },
  },
];
