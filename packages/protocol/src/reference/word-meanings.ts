/** A list of words that the API uses, by name, with what each means. */
export interface NamedEnum {
  readonly name: string;
  /** In the order of the list. */
  readonly meanings: Readonly<Record<string, string>>;
}

/** What the other words mean that no table and no catalogue explains. */
export const WORD_MEANINGS: readonly NamedEnum[] = [
  {
    name: 'KeyClass',
    meanings: {
      partner: 'A partner’s secret key.',
      widget: 'A partner’s publishable widget key.',
      session: 'The token of a widget session.',
      vendor: 'A vendor’s key.',
      operator: 'An operator’s key.',
    },
  },
  {
    name: 'WidgetLocale',
    meanings: {
      en: 'English.',
      fr: 'French.',
      es: 'Spanish.',
      pt: 'Portuguese.',
      ar: 'Arabic, right to left.',
      hi: 'Hindi.',
      zh: 'Chinese.',
      sw: 'Swahili.',
    },
  },
  {
    name: 'WidgetColorScheme',
    meanings: {
      light: 'Dark text on light ground.',
      dark: 'Light text on dark ground.',
      auto: 'As the customer’s device has it.',
    },
  },
  {
    name: 'WebhookUrlFault',
    meanings: {
      not_a_url: 'No absolute URL, or too long.',
      https_required: 'Another scheme.',
      credentials: 'A user or password in it.',
      port_not_allowed: 'Not 443 or 8443.',
      address_not_allowed: 'The host is not public.',
    },
  },
  {
    name: 'ResetRemainder',
    meanings: {
      orders: 'Orders that were opened or moved.',
      quotes: 'Quotes that were made.',
      events: 'Events that were sent.',
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
    name: 'KeyStatus',
    meanings: {
      live: 'It works.',
      ending: 'It was rolled and works until ends_at, beside the key that took its place.',
      ended: 'It was rolled, and its time is over.',
      revoked: 'It was revoked and is refused.',
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
      order_payment_returned: 'Back from an order that stopped before its vendor was paid.',
      collection: 'Moved to the partner’s master account.',
    },
  },
  {
    name: 'ReconciliationVerdict',
    meanings: {
      equal: 'They agree.',
      in_flight: 'They differ by what is on its way.',
      different: 'They differ.',
      unreachable: 'No node of the chain, or no bank, answers.',
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
      dismiss:
        'Leave a token that is not configured where it is, also where its return has moved something else.',
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
