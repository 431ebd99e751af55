import {
  amountRangeDetails,
  expiredCursorDetails,
  fieldDetails,
  fieldProblemsDetails,
  signerDetails,
  unauthorizedDetails,
  webhookUrlDetails,
} from './details.ts';
import { type ErrorEntry, never } from './error-entry.ts';

/** Errors that the request itself causes, whatever the state of things. The four lowercase codes are the contract's own
 * spelling for values that the KYC patch does not accept. */
export const REQUEST_ERRORS = {
  // 400: the request itself has to change
  VALIDATION_ERROR: {
    status: 400,
    message: 'The request is not valid.',
    details: fieldProblemsDetails,
    retryable: false,
    doc: 'The body, query or path does not fit; correct the places listed in details.fields.',
  },
  INVALID_PARTNER_FEE: {
    status: 400,
    message: 'partner_fee_pct leaves nothing to deliver.',
    ...never,
    doc: 'The fees leave no receipt or no payable fiat after rounding, or partner_fee_pct is 100 or more where that is capped; lower it.',
  },
  UNSUPPORTED_CRYPTO_CURRENCY: {
    status: 400,
    message: 'This cryptocurrency is not supported.',
    ...never,
    doc: 'crypto_currency is not a settlement asset; choose one from GET /supported/crypto-currencies.',
  },
  UNSUPPORTED_FIAT_CURRENCY: {
    status: 400,
    message: 'This fiat currency is not supported.',
    ...never,
    doc: 'fiat_currency is not served; choose one from GET /supported/fiat-currencies.',
  },
  INVALID_PROVIDER_SCOPE: {
    status: 400,
    message: 'provider_scope must be all, p2p or direct.',
    ...never,
    doc: 'provider_scope has an unknown value; send all, p2p or direct, or leave it out.',
  },
  AMOUNT_OUT_OF_RANGE: {
    status: 400,
    message: 'The amount is outside the range that can be served.',
    details: amountRangeDetails,
    retryable: false,
    doc: 'The amount is below or above what the rail or the offers take, or rounds to nothing; change the amount.',
  },
  INVALID_ORDER_ID: {
    status: 400,
    message: 'The order id is not a uuid.',
    ...never,
    doc: 'The order id in the path is not a uuid; use the order_id returned by initiate.',
  },
  INVALID_PAYER_DETAILS: {
    status: 400,
    message: 'The payer details are not valid.',
    details: fieldProblemsDetails,
    retryable: false,
    doc: 'submit-payer-details needs exactly one of payment_details_id and payment_details, fitting the rail; correct the places listed in details.fields.',
  },
  INVALID_FORWARD_REQUEST: {
    status: 400,
    message: 'The forward request differs from the one issued.',
    details: fieldDetails,
    retryable: false,
    doc: 'A field of forward_request is not what the authorization parameters gave; read them again, sign and send unchanged.',
  },
  INVALID_DESTINATION: {
    status: 400,
    message: 'The destination is not valid.',
    details: fieldDetails,
    retryable: false,
    doc: 'The destination chain is not supported, the address is not an EVM address, or they differ from the parameters call; correct them.',
  },
  INVALID_SIGNATURE: {
    status: 400,
    message: 'The signature is not valid.',
    details: signerDetails,
    retryable: false,
    doc: 'The signature is malformed or was not made by details.expected_signer over the issued data; sign again with that wallet. Where details.recovered_signer is an address you do not know, the data or the chain id differ from what was issued.',
  },
  WEBHOOK_NOT_CONFIGURED: {
    status: 400,
    message: 'No webhook URL is configured.',
    ...never,
    doc: 'A test event was asked for before a webhook URL was set; register one with POST /partner/webhooks.',
  },
  INVALID_WEBHOOK_URL: {
    status: 400,
    message: 'The webhook URL is not acceptable.',
    details: webhookUrlDetails,
    retryable: false,
    doc: 'details.cause says what is wrong with it; register a public HTTPS URL without credentials, on port 443 or 8443.',
  },
  invalid_gender: {
    status: 400,
    message: 'gender must be M or F.',
    details: fieldDetails,
    retryable: false,
    doc: 'The KYC patch has an unacceptable gender; send M or F. Nothing was written.',
  },
  invalid_country_code: {
    status: 400,
    message: 'The country must be an ISO 3166-1 alpha-2 code.',
    details: fieldDetails,
    retryable: false,
    doc: 'The KYC patch has an unacceptable nationality or id_issue_country; send a two-letter code. Nothing was written.',
  },
  invalid_source_of_funds: {
    status: 400,
    message: 'source_of_funds is not an accepted value.',
    details: fieldDetails,
    retryable: false,
    doc: 'The KYC patch has an unknown source_of_funds; send one of the listed values. Nothing was written.',
  },
  invalid_field_value: {
    status: 400,
    message: 'A field has an unacceptable value.',
    details: fieldDetails,
    retryable: false,
    doc: 'The KYC patch has an object, an array or another unusable value in a field; send plain text. Nothing was written.',
  },

  // 401, 403: who is asking
  UNAUTHORIZED: {
    status: 401,
    message: 'The API key is missing or invalid.',
    details: unauthorizedDetails,
    retryable: false,
    doc: 'The key is missing, unknown or revoked, or of another class than details.required_key; send a current key of that class in X-API-Key or Authorization: Bearer.',
  },
  FEATURE_NOT_ENABLED: {
    status: 403,
    message: 'This feature is not enabled for your account.',
    ...never,
    doc: 'Fiat-account writes need an entitlement that this partner does not have; ask the operator to enable it.',
  },
  EMAIL_NOT_CONFIRMED: {
    status: 403,
    message: 'Confirm your e-mail address first.',
    ...never,
    doc: 'The widget session does not know its customer yet; POST /widget/session/email-code, then POST /widget/session/identify with the code.',
  },

  // 404: unknown and foreign answer the same bytes, so none of these has details
  USER_NOT_FOUND: {
    status: 404,
    message: 'User not found.',
    ...never,
    doc: 'No such user of this partner; use the id returned by POST /partner/users.',
  },
  QUOTE_NOT_FOUND: {
    status: 404,
    message: 'Quote not found.',
    ...never,
    doc: 'No such quote of this partner; create a new one.',
  },
  ORDER_NOT_FOUND: {
    status: 404,
    message: 'Order not found.',
    ...never,
    doc: "No such order of this partner, or a widget order on an action endpoint; act on the partner's own orders only.",
  },
  RECIPIENT_NOT_FOUND: {
    status: 404,
    message: 'Recipient not found.',
    ...never,
    doc: 'No such recipient of this partner, or it is archived; create it or use another.',
  },
  DESTINATION_NOT_FOUND: {
    status: 404,
    message: 'Recipient destination not found.',
    ...never,
    doc: "No such destination of this recipient; read the recipient's destinations.",
  },
  PAYMENT_DETAILS_NOT_FOUND: {
    status: 404,
    message: 'Payment details not found.',
    ...never,
    doc: 'No such payment details of this user; create them or use another id.',
  },
  PAYMENT_METHOD_NOT_FOUND: {
    status: 404,
    message: 'Payment method or network not found.',
    ...never,
    doc: 'No payment method or payment network has this id or slug; choose one from GET /api/v1/payment-methods.',
  },
  FIAT_ACCOUNT_NOT_FOUND: {
    status: 404,
    message: 'Fiat account not found.',
    ...never,
    doc: 'No such fiat account of this customer; pass the id back exactly as it was issued.',
  },
  OFFER_NOT_FOUND: {
    status: 404,
    message: 'Offer not found.',
    ...never,
    doc: 'No such offer of this vendor, or it was withdrawn; list the offers to see which there are.',
  },
  PARTNER_NOT_FOUND: {
    status: 404,
    message: 'Partner not found.',
    ...never,
    doc: 'No partner has this id; an operator reads the ids from GET /operator/partners.',
  },
  VENDOR_NOT_FOUND: {
    status: 404,
    message: 'Vendor not found.',
    ...never,
    doc: 'No vendor has this id; an operator reads the ids from GET /operator/vendors.',
  },
  KEY_NOT_FOUND: {
    status: 404,
    message: 'Key not found.',
    ...never,
    doc: 'No key has this id; an operator reads the ids from the key lists of partners, vendors and operators.',
  },
  DELIVERY_NOT_FOUND: {
    status: 404,
    message: 'Webhook delivery not found.',
    ...never,
    doc: 'No such delivery of this partner, or it is older than deliveries are kept; list them with GET /partner/webhooks/deliveries.',
  },
  WEBHOOK_ENDPOINT_NOT_FOUND: {
    status: 404,
    message: 'Webhook endpoint not found.',
    ...never,
    doc: 'No such webhook endpoint of this partner; list them with GET /partner/webhook-endpoints.',
  },
  EFFECT_NOT_FOUND: {
    status: 404,
    message: 'Effect not found.',
    ...never,
    doc: 'No effect has this id; an operator reads the ids from GET /operator/effects.',
  },
  PROOF_NOT_FOUND: {
    status: 404,
    message: 'Payment proof not found.',
    ...never,
    doc: 'No payment proof has this id, or the person it names was erased; an operator reads the ids from GET /operator/proof-reviews.',
  },
  SCREENING_CASE_NOT_FOUND: {
    status: 404,
    message: 'Screening case not found.',
    ...never,
    doc: 'No screening case has this id; an operator reads the ids from GET /operator/screening-cases.',
  },
  DEPOSIT_NOT_FOUND: {
    status: 404,
    message: 'Deposit not found.',
    ...never,
    doc: 'No deposit into an escrow has this id; an operator reads the ids from GET /operator/deposits, a partner from GET /partner/orders/{order_id}/funds.',
  },
  FIAT_PAYMENT_NOT_FOUND: {
    status: 404,
    message: 'Fiat payment not found.',
    ...never,
    doc: 'No payment into a fiat account has this id; an operator reads the ids from GET /operator/fiat-payments.',
  },
  WIDGET_SESSION_NOT_FOUND: {
    status: 404,
    message: 'This link does not open a session.',
    ...never,
    doc: 'The code of a session made by POST /partner/widget-sessions opens it once, within ten minutes; make a new session.',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    message: 'Route not found.',
    ...never,
    doc: 'No such path, or not with this method; check both against the API reference.',
  },

  // 410: it was there once
  CURSOR_EXPIRED: {
    status: 410,
    message: 'Events after this cursor are no longer kept.',
    details: expiredCursorDetails,
    retryable: false,
    doc: 'Some events after the cursor are older than events are kept, so going on from it would skip them silently; read what you missed from GET /partner/orders and go on from details.oldest_cursor.',
  },
} as const satisfies Record<string, ErrorEntry>;
