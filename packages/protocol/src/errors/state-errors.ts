import {
  fieldProblemsDetails,
  invalidStatusDetails,
  kycNotClearedDetails,
  missingFieldsDetails,
  operationNotAllowedDetails,
  senderIdentityDetails,
  walletFundsDetails,
} from './details.ts';
import { type ErrorEntry, later, never } from './error-entry.ts';

/** Errors of well-formed requests that cannot be carried out as things stand. */
export const STATE_ERRORS = {
  // 409: the request is fine, the state of things is not
  QUOTE_EXPIRED: {
    status: 409,
    message: 'The quote has expired.',
    ...never,
    doc: 'A quote is valid for 60 seconds; create a new one and initiate it in time.',
  },
  QUOTE_ALREADY_USED: {
    status: 409,
    message: 'The quote has already been used.',
    ...never,
    doc: 'A quote makes one order; create a new one, or repeat a lost request with its Idempotency-Key.',
  },
  INVALID_STATUS: {
    status: 409,
    message: 'The current status does not allow this action.',
    details: invalidStatusDetails,
    retryable: false,
    doc: 'The order is in details.status, which does not allow the action; choose from details.allowed_actions.',
  },
  OPERATION_NOT_ALLOWED: {
    status: 409,
    message: 'This operation is not allowed on this order.',
    details: operationNotAllowedDetails,
    retryable: false,
    doc: 'confirm-payment-sent on an own_iban order, or authorize-refund on an order held for review; read allowed_actions.',
  },
  SEND_OUT_IN_PROGRESS: {
    status: 409,
    message: 'A send-out is already in progress.',
    ...never,
    doc: 'The order is being sent out already; wait for send_out_completed or send_out_failed.',
  },
  NONCE_ALREADY_USED: {
    status: 409,
    message: 'The nonce has already been used.',
    ...never,
    doc: 'The signed forward request carries a spent nonce; read the parameters again and sign the new one.',
  },
  ALLOWANCE_TOO_LOW: {
    status: 409,
    message: 'The partner wallet has not approved the router for enough tokens.',
    details: walletFundsDetails,
    retryable: false,
    doc: 'Send details.approve_calldata from the wallet to details.token_address, then read the parameters again.',
  },
  BALANCE_TOO_LOW: {
    status: 409,
    message: 'The partner wallet does not hold enough tokens.',
    details: walletFundsDetails,
    retryable: false,
    doc: 'The wallet holds details.actual and needs details.required atomic units; fund it and read the parameters again.',
  },
  USER_ALREADY_EXISTS: {
    status: 409,
    message: 'A user with this email already exists.',
    ...never,
    doc: 'An email is unique per partner; use the existing user.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still running.',
    ...later,
    doc: 'The same key is being worked on; repeat the request shortly to get its stored answer.',
  },
  CLIENT_NOT_APPROVED: {
    status: 409,
    message: 'The customer is not approved for a fiat account yet.',
    ...later,
    doc: 'A fiat account was asked for before the customer was approved; poll GET identification and try again.',
  },
  PROVISIONING_IN_PROGRESS: {
    status: 409,
    message: 'The fiat account is being provisioned.',
    ...later,
    doc: 'The account is on its way; wait and try again.',
  },

  // 422: understood, but it cannot be done
  NO_OFFERS_AVAILABLE: {
    status: 422,
    message: 'No offer can serve this request.',
    ...later,
    doc: 'Nothing matches the pair, amount, rail and filters now; widen them or try later.',
  },
  KYC_NOT_CLEARED: {
    status: 422,
    message: 'The customer is not cleared for orders.',
    details: kycNotClearedDetails,
    retryable: false,
    doc: 'The customer is not VERIFIED; details.kyc_status says where the verification stands, complete it first.',
  },
  SENDER_IDENTITY_REQUIRED: {
    status: 422,
    message: 'The sender’s identity is incomplete for this rail.',
    details: senderIdentityDetails,
    retryable: false,
    doc: 'The rail has to name the paying customer; supply details.kyc_fields through the KYC patch, within details.field_limits, and initiate again.',
  },
  INVALID_RECIPIENT_FIELDS: {
    status: 422,
    message: 'Required recipient fields are missing or malformed.',
    details: fieldProblemsDetails,
    retryable: false,
    doc: "The details do not fit the rail's fields; correct those listed in details.fields and in the message.",
  },
  INSTITUTION_NOT_AVAILABLE: {
    status: 422,
    message: 'This institution is not available on this rail.',
    ...never,
    doc: 'The institution is not live on the rail, country or currency; choose one from GET /supported/institutions.',
  },
  INSTITUTION_REQUIRED: {
    status: 422,
    message: 'institution_id is required for this rail.',
    ...never,
    doc: 'The rail needs an institution; choose one from GET /supported/institutions.',
  },
  RELATIONSHIP_NOT_ALLOWED: {
    status: 422,
    message: 'This rail does not serve this sender-recipient relationship.',
    ...never,
    doc: 'The rail pays only certain relationships, e.g. self and family; use another rail.',
  },
  RECIPIENT_NOT_ELIGIBLE: {
    status: 422,
    message: 'This rail does not pay this recipient.',
    details: fieldProblemsDetails,
    retryable: false,
    doc: 'The rail pays persons of its own country only; details.fields says what keeps this recipient from it. Use another rail.',
  },
  RECIPIENT_NOT_CLEARED: {
    status: 422,
    message: 'The recipient or the account holder is not cleared for payment.',
    ...never,
    doc: 'Recipient and account holder have to be screened with the result clear, and not archived, at the quote and at every later step up to the payout; wait for the screening or use another recipient.',
  },
  WALLET_NOT_CLEARED: {
    status: 422,
    message: 'This wallet is not cleared.',
    ...never,
    doc: 'The wallet’s screening found something, or a person has to look at it; use another wallet, or ask the operator.',
  },
  RECIPIENT_UNVERIFIABLE: {
    status: 422,
    message: 'The recipient could not be verified.',
    details: fieldProblemsDetails,
    retryable: false,
    doc: 'No longer answered: recipients are validated when payment details are created, see INVALID_RECIPIENT_FIELDS.',
    retired: true,
  },
  MISSING_FIELDS: {
    status: 422,
    message: 'Required fields are missing.',
    details: missingFieldsDetails,
    retryable: false,
    doc: 'Identification or fiat-account issuing lacks details.missing_fields; send them.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: 'This Idempotency-Key was used for a different request.',
    ...never,
    doc: 'The key is bound to another body, method or path for 24 hours; use a new key for a new request.',
  },
} as const satisfies Record<string, ErrorEntry>;
