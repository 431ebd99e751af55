/**
 * A request for every operation with a body. A test sends each of them to a sandbox and expects 200: word for word,
 * but for the fields in `PLACEHOLDERS`, whose values a caller has from an earlier answer or from its wallet.
 */

const USER_ID = '0199aa9f-1111-7c41-9d0e-6b1f5a3c2d10';
const QUOTE_ID = '0199aa9f-2222-7c41-9d0e-6b1f5a3c2d10';
const ORDER_ID = '0199aa9f-3333-7c41-9d0e-6b1f5a3c2d10';
const SUBMISSION_ID = '0199aa9f-4444-7c41-9d0e-6b1f5a3c2d10';
const PAYMENT_DETAILS_ID = 1;
const SIGNATURE = `0x${'3f'.repeat(32)}${'5a'.repeat(32)}1b`;

/** Fields of examples whose values are those of one order, one customer or one wallet. */
export const PLACEHOLDERS: ReadonlySet<string> = new Set([
  'user_uuid',
  'quote_id',
  'order_id',
  'payment_details_id',
  'forward_request',
  'signature',
  'refund_signature',
  'release_signature',
  'submissionId',
  'reference',
  'code',
]);

const REASON = 'Checked by hand, ticket 4711';
const BECAUSE = { reason: REASON };
/** A picture of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const EUR_ACCOUNT = { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' };
const TO_EUR_ACCOUNT = { rail: 'iban-sepa', currency: 'EUR', country_code: 'DE', details: EUR_ACCOUNT };
const PAIR = { crypto_currency: 'USDC', fiat_currency: 'EUR' };

const PERSON = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  date_of_birth: '1990-12-10',
  nationality: 'DE',
  address: 'Unter den Linden 1',
  city: 'Berlin',
  postal_code: '10117',
  country_code: 'DE',
  phone_number: '+4915112345678',
};

const DIRECT_DATA = {
  method: 'direct_data',
  ...PERSON,
  gender: 'F',
  id_type: 'PASSPORT',
  id_number: 'C01X00T47',
  id_issue_country: 'DE',
  source_of_funds: 'SALARY',
};

const FORWARD_REQUEST = {
  from: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  to: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  value: '0',
  gas: '200000',
  nonce: '0',
  deadline: '1794650400',
  data: '0x',
};

const PARTNER = {
  estimateOnramp: { ...PAIR, fiat_amount: '100.00' },
  estimateOfframp: { ...PAIR, crypto_amount: '100' },
  createUser: {
    email: 'ada@example.com',
    first_name: 'Ada',
    last_name: 'Lovelace',
    phone_number: '+4915112345678',
    country_code: 'DE',
    reference_id: 'customer-42',
  },
  submitKyc: DIRECT_DATA,
  submitKycShort: { ...PERSON, method: 'hosted_link' },
  uploadKycDocument: { document_type: 'ID_FRONT', content_type: 'image/png', content: PNG },
  uploadKycDocumentShort: { document_type: 'SELFIE', content_type: 'image/png', content: PNG },
  patchKyc: { city: 'Munich', postal_code: '80331' },
  createPaymentDetails: TO_EUR_ACCOUNT,
  createOnrampQuote: { user_uuid: USER_ID, ...PAIR, fiat_amount: '100.00', partner_fee_pct: '1' },
  createOfframpQuote: {
    user_uuid: USER_ID,
    payment_details_id: PAYMENT_DETAILS_ID,
    ...PAIR,
    fiat_amount: '100.00',
    partner_fee_pct: '1',
  },
  initiateOnramp: { quote_id: QUOTE_ID, reference_id: 'purchase-1001' },
  initiateOfframp: { quote_id: QUOTE_ID, reference_id: 'payout-1001' },
  cancelOrder: { reason: 'The customer does not want it any more' },
  submitPayerDetails: { payment_details_id: PAYMENT_DETAILS_ID },
  authorizeCryptoTransfer: { forward_request: FORWARD_REQUEST, signature: SIGNATURE },
  authorizeBridge: {
    destination_chain: 'arbitrum-one',
    destination_address: '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    forward_request: FORWARD_REQUEST,
    signature: SIGNATURE,
  },
  authorizeRefund: { signature: SIGNATURE },
  authorizeRelease: { signature: SIGNATURE },
  authorizeReturn: { signature: SIGNATURE },
  createRecipient: {
    recipient_kind: 'individual',
    recipient_name: 'Grace Hopper',
    recipient_country: 'DE',
    recipient_id_type: 'PASSPORT',
    recipient_id_number: 'C01X00T48',
  },
  updateRecipient: { recipient_native_name: 'Grace Brewster Hopper' },
  createDestination: { ...TO_EUR_ACCOUNT, details: { ...EUR_ACCOUNT, full_name: 'Grace Hopper' } },
  setWebhook: { url: 'http://127.0.0.1:9000/webhooks' },
  replayLatestEvents: { since: '2026-11-01T00:00:00Z' },
  createWebhookEndpoint: { url: 'http://127.0.0.1:9000/webhooks/orders', events: ['order.status.changed'] },
  changeWebhookEndpoint: { events: ['order.status.changed', 'order.refund.required'] },
  replayLatestEventsToEndpoint: { since: '2026-11-01T00:00:00Z' },
  submitIdentification: PERSON,
  issueFiatAccount: { currency: 'EUR', jurisdiction: 'DE' },
};

const SANDBOX = {
  setSandboxSettings: { auto_advance: true },
  sandboxOrderEvent: { event: 'vendor_accepts' },
  sandboxKycStatus: { status: 'VERIFIED' },
  sandboxScreeningStatus: { screening_status: 'clear' },
  sandboxAdvanceClock: { seconds: 60 },
  sandboxFaucet: {
    chain: 'base-mainnet',
    token: 'USDC',
    address: '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    amount: '100',
  },
  sandboxDeposit: { amount: '100.00', sender_name: 'Ada Lovelace', reference: 'Invoice 42' },
  sandboxWidgetOrder: { order_type: 'onramp', user_uuid: USER_ID, ...PAIR, fiat_amount: '100.00' },
};

const KYC_PROVIDER = {
  kycProviderCallback: {
    eventId: 'simkyc_event_1',
    submissionId: SUBMISSION_ID,
    reference: 'simkyc_reference_1',
    outcome: 'verification_passed',
    rejectionReasons: [],
    decidedAtMs: 1_794_650_400_000,
  },
};

const VENDOR = {
  createVendorOffer: {
    side: 'SELL',
    ...PAIR,
    margin_pct: '0.5',
    min_amount: '10',
    max_amount: '5000',
    payment_options: [{ network_slug: 'iban-sepa' }],
    countries: ['DE'],
    available_balance: '2500',
  },
  changeVendorOffer: { margin_pct: '0.4' },
  setVendorOnline: { online: true },
  acceptVendorOrder: {
    refund_signature: SIGNATURE,
    payment_details: { full_name: 'Quayside Liquidity', iban: 'DE02120300000000202051' },
  },
  signVendorRefund: { refund_signature: SIGNATURE },
  confirmVendorFiat: { release_signature: SIGNATURE },
  signVendorRelease: { release_signature: SIGNATURE },
  declineVendorOrder: { reason: 'no_balance' },
  submitDisputeStatement: { text: 'The payment arrived from another name, 20 EUR short.' },
  submitVendorProof: {
    payment_reference: 'E2E-20261115-0042',
    content_type: 'image/png',
    content: PNG,
    release_signature: SIGNATURE,
  },
};

const OPERATOR = {
  createPartner: {
    name: 'Acme Payments',
    settlement_chain: 'base-mainnet',
    wallet_address: '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    platform_fee_pct: '0.5',
    ...BECAUSE,
  },
  changePartner: { platform_fee_pct: '0.4', open_order_limit: 200, ...BECAUSE },
  createPartnerKey: { kind: 'secret', label: 'production servers', ...BECAUSE },
  createVendor: {
    name: 'Quayside Liquidity',
    wallet_address: '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    kind: 'p2p',
    ...BECAUSE,
  },
  changeVendor: { active: true, ...BECAUSE },
  createVendorKey: { label: 'trading desk', ...BECAUSE },
  createOperatorKey: { label: 'compliance desk', ...BECAUSE },
  createInvitation: { desk: 'operator', email: 'jane@example.com', role: 'admin' },
  decideOfferAuthorization: { authorized: true, ...BECAUSE },
  decideKyc: { decision: 'approve', ...BECAUSE },
  revealUser: BECAUSE,
  revealDocument: BECAUSE,
  eraseUser: BECAUSE,
  decideScreening: { decision: 'clear', ...BECAUSE },
  revealRecipient: BECAUSE,
  eraseRecipient: BECAUSE,
  decideScreeningCase: { decision: 'clear', ...BECAUSE },
  decideFiatPayment: { decision: 'match', order_id: ORDER_ID, ...BECAUSE },
  revealFiatPayment: BECAUSE,
  decideDeposit: { decision: 'return', ...BECAUSE },
  submitDepositSignature: { signature: SIGNATURE, ...BECAUSE },
  decideOrderHold: { decision: 'place', ...BECAUSE },
  decideOrderDispute: { decision: 'open', ...BECAUSE },
  reviewProof: { decision: 'start', ...BECAUSE },
  revealProof: BECAUSE,
  revealDisputeStatements: BECAUSE,
  submitEscrowSignature: { purpose: 'refund', signature: SIGNATURE, ...BECAUSE },
  decideSendOut: { outcome: 'failed', ...BECAUSE },
  approveApproval: BECAUSE,
  rejectApproval: BECAUSE,
  retryEffect: BECAUSE,
  giveUpEffect: BECAUSE,
  settleEscrowElsewhere: BECAUSE,
  searchEscrowAgain: BECAUSE,
  snoozeQueueCase: { minutes: 60, ...BECAUSE },
  replayPartnerDelivery: BECAUSE,
  replayPartnerEvents: { since: '2026-11-01T00:00:00Z', ...BECAUSE },
  putReferenceRecord: {
    data: {
      slug: 'mtn-momo-ghana',
      payment_method_id: 1810,
      name: 'MTN MoMo Ghana',
      code: 'MTN',
      institution_type: 'mobile-money',
      countries: ['GH'],
      supported_rails: ['ghana-transfer'],
      live: true,
    },
    ...BECAUSE,
  },
};

/** By operationId. */
/** What the widget itself sends, and what a partner’s server makes a session of. */
const WIDGET = {
  startWidgetSession: { side: 'onramp', ...PAIR, fiat_amount: '100.00', locale: 'en' },
  openWidgetSession: { code: 'cw_open_4mXw…' },
  requestWidgetEmailCode: { email: 'ada.at.the.widget@example.com' },
  identifyInWidgetSession: { email: 'ada.at.the.widget@example.com', code: '294117' },
  submitWidgetKyc: DIRECT_DATA,
  uploadWidgetKycDocument: { document_type: 'ID_FRONT', content_type: 'image/png', content: PNG },
  createWidgetPaymentDetails: TO_EUR_ACCOUNT,
  createWidgetSession: {
    side: 'onramp',
    ...PAIR,
    fiat_amount: '100.00',
    country_code: 'DE',
    wallet_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    reference_id: 'order-4711',
    user_uuid: USER_ID,
    redirect_url: 'https://shop.example/thanks',
  },
  estimateInWidget: { side: 'onramp', ...PAIR, fiat_amount: '100.00' },
  quoteInWidget: { side: 'offramp', ...PAIR, fiat_amount: '100.00', payment_details_id: 42 },
  openWidgetOrder: { quote_id: QUOTE_ID, wallet_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' },
  cancelWidgetOrder: { reason: 'changed my mind' },
  submitPayerDetailsInWidget: {
    payment_details: { full_name: 'Emma Tremblay', email: 'emma@example.ca' },
  },
  authorizeCryptoTransferInWidget: { forward_request: FORWARD_REQUEST, signature: SIGNATURE },
  authorizeRefundInWidget: { signature: SIGNATURE },
  authorizeReleaseInWidget: { signature: SIGNATURE },
  setWidgetOrigins: { origins: ['https://shop.example', 'https://*.shop.example'], ...BECAUSE },
};

export const REQUEST_EXAMPLES: Readonly<Record<string, unknown>> = {
  ...PARTNER,
  ...SANDBOX,
  ...KYC_PROVIDER,
  ...VENDOR,
  ...OPERATOR,
  ...WIDGET,
};
