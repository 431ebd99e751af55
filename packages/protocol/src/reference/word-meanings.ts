/** A list of words that the API uses, by name, with what each means. */
export interface NamedEnum {
  readonly name: string;
  /** In the order of the list. */
  readonly meanings: Readonly<Record<string, string>>;
}

/** What the words mean that no table and no catalogue explains. */
export const WORD_MEANINGS: readonly NamedEnum[] = [
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
  {
    name: 'KycMethod',
    meanings: {
      direct_data: 'You send the data and the documents.',
      hosted_link: 'The customer enters them at `verification_url`.',
    },
  },
  {
    name: 'KycIdType',
    meanings: {
      PASSPORT: 'Passport.',
      NATIONAL_ID: 'National identity card; needs both sides.',
      DRIVERS_LICENSE: 'Driver’s licence; needs both sides.',
      RESIDENCE_PERMIT: 'Residence permit; needs both sides.',
    },
  },
  {
    name: 'KycDocumentType',
    meanings: {
      ID_FRONT: 'Front of the identity document.',
      ID_BACK: 'Back of the identity document.',
      SELFIE: 'Photo of the customer.',
      PROOF_OF_ADDRESS: 'Bill or statement that shows the address.',
    },
  },
  {
    name: 'KycOutcome',
    meanings: {
      verification_passed: 'VERIFIED.',
      verification_refused: 'REJECTED, for good.',
      resubmission_requested: 'VERIFICATION_REJECTED: the customer may submit again.',
      review_requested: 'UNDER_REVIEW.',
    },
  },
  {
    name: 'SourceOfFunds',
    meanings: {
      SALARY: 'Wages of an employment.',
      BUSINESS_INCOME: 'Income of the customer’s own business.',
      SAVINGS: 'Saved money.',
      INVESTMENTS: 'Proceeds of investments.',
      INHERITANCE: 'Inherited.',
      GIFT: 'Given by another person.',
      LOAN: 'Borrowed.',
      SALE_OF_ASSETS: 'Sale of property or other assets.',
      PENSION: 'Pension.',
      OTHER: 'None of these.',
    },
  },
  {
    name: 'SenderRecipientRelationship',
    meanings: {
      self: 'Sender and recipient are one person.',
      family: 'A relative.',
      friend: 'A friend.',
      employee: 'Works for the sender.',
      supplier: 'Supplies the sender.',
      customer: 'Is supplied by the sender.',
      other: 'None of these.',
    },
  },
  {
    name: 'PurposeOfPayment',
    meanings: {
      family_support: 'Support of relatives.',
      salary: 'Wages.',
      goods: 'Payment for goods.',
      services: 'Payment for services.',
      savings: 'To the recipient’s savings.',
      education: 'School or university.',
      medical: 'Medical costs.',
      rent: 'Rent.',
      gift: 'A gift.',
      other: 'None of these.',
    },
  },
  {
    name: 'SettlementSpeed',
    meanings: {
      INSTANT: 'Within minutes, at any time.',
      SAME_DAY: 'On the same banking day.',
      NEXT_DAY: 'On the next banking day.',
      STANDARD: 'Later.',
    },
  },
  {
    name: 'RateStatus',
    meanings: {
      fresh: 'Observed just now; only such a rate is priced on.',
      stale: 'Too old to be priced on.',
      missing: 'Never observed.',
      guarded: 'Too far from what was known before; not priced on until it is confirmed.',
    },
  },
  { name: 'TradeType', meanings: { BUY: 'The customer buys crypto.', SELL: 'The customer sells crypto.' } },
  { name: 'OfferSide', meanings: { SELL: 'The vendor sells crypto.', BUY: 'The vendor buys crypto.' } },
  {
    name: 'VendorKind',
    meanings: { p2p: 'A vendor of the marketplace.', direct: 'An automated provider.' },
  },
  {
    name: 'KeyKind',
    meanings: {
      secret: 'A partner’s secret key.',
      widget: 'A partner’s publishable widget key.',
      vendor: 'A vendor’s key.',
      operator: 'An operator’s key.',
    },
  },
  {
    name: 'PartnerKeyKind',
    meanings: { secret: 'For the partner’s servers.', widget: 'For pages; publishable.' },
  },
  {
    name: 'PaymentMethodType',
    meanings: { BANK: 'A bank account.', WALLET: 'A wallet, such as mobile money.' },
  },
  {
    name: 'WebhookState',
    meanings: {
      ok: 'The last delivery was accepted.',
      failing: 'The last deliveries failed and are retried.',
      circuit_open: 'Too many failed in a row: one delivery a second is tried until one is accepted.',
    },
  },
  {
    name: 'FiatEntryKind',
    meanings: {
      deposit: 'Money that arrived on the account.',
      order_payment: 'Paid for an order.',
      collection: 'Moved to the partner’s master account.',
    },
  },
  {
    name: 'ReconciliationVerdict',
    meanings: {
      equal: 'Books and chain agree.',
      in_flight: 'They differ by what is on its way.',
      different: 'They differ.',
      unreachable: 'No node answers.',
    },
  },
  {
    name: 'ReferenceKind',
    meanings: {
      assets: 'Crypto currencies.',
      chains: 'Chains.',
      fiat_currencies: 'Fiat currencies.',
      countries: 'Countries.',
      institution_types: 'Types of institutions.',
      rails: 'Payment rails.',
      institutions: 'Banks and wallets.',
    },
  },
  {
    name: 'KycReviewDecision',
    meanings: {
      approve: 'VERIFIED.',
      reject: 'REJECTED, for good.',
      request_resubmission: 'VERIFICATION_REJECTED: the customer may submit again.',
    },
  },
  {
    name: 'ScreeningDecision',
    meanings: {
      clear: 'No match.',
      block: 'A match: nothing is paid.',
      review: 'Back to review.',
      rescreen: 'Ask the screening again.',
    },
  },
  {
    name: 'DepositReviewDecision',
    meanings: {
      accept: 'Credit it to the order.',
      return: 'Send it back.',
      hold: 'Withdraw an earlier decision.',
      dismiss: 'Leave a token that is not configured where it is.',
    },
  },
  {
    name: 'FiatPaymentDecision',
    meanings: { match: 'It pays `order_id`.', leave: 'It stays on the account.' },
  },
  {
    name: 'HoldDecision',
    meanings: { place: 'Nothing moves until it is released.', release: 'The order goes on.' },
  },
  {
    name: 'DisputeDecision',
    meanings: {
      open: 'Open a dispute.',
      for_buyer: 'The crypto goes to the buyer.',
      for_seller: 'The crypto goes back to the seller.',
    },
  },
  {
    name: 'ProofDecision',
    meanings: {
      start: 'The review begins.',
      accepted: 'The proof shows the payment.',
      rejected: 'It does not; the vendor may submit another.',
    },
  },
  {
    name: 'SendOutOutcome',
    meanings: { settled: 'Arrived on the other chain.', failed: 'Did not arrive.' },
  },
  { name: 'PartyType', meanings: { individual: 'A person.', business: 'A company.' } },
  {
    name: 'DocumentContentType',
    meanings: {
      'image/jpeg': 'A JPEG picture.',
      'image/png': 'A PNG picture.',
      'image/webp': 'A WebP picture.',
      'application/pdf': 'A PDF document.',
    },
  },
  {
    name: 'Actor',
    meanings: {
      partner: 'The partner whose order it is.',
      customer: 'The partner’s customer.',
      vendor: 'The vendor that serves the order.',
      provider: 'An automated provider, of payouts or identity checks.',
      operator: 'Who runs the deployment.',
      bank: 'The bank that keeps issued accounts.',
      chain: 'The chain, once a block is final.',
      clock: 'Time that is over.',
      system: 'The service itself.',
      simulator: 'The sandbox, on request.',
    },
  },
  {
    name: 'DepositReturnStep',
    meanings: {
      order: 'The order’s own payout or its end comes first.',
      signature: 'An owner of the escrow has to sign.',
      chain: 'It is on its way.',
    },
  },
  {
    name: 'ScreenedSubject',
    meanings: {
      destination: 'The account holder of a recipient’s destination.',
      payment_details: 'The account holder of a customer’s payment details.',
      wallet: 'A wallet’s address.',
    },
  },
  {
    name: 'EffectState',
    meanings: {
      failed: 'Given up.',
      unknown: 'Its worker ended without an answer.',
      late: 'Due for more than two minutes.',
    },
  },
];
