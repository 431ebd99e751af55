import {
  openOrderLimitDetails,
  rateLimitedDetails,
  signerDetails,
  unavailableDetails,
  webhookDeliveryDetails,
} from './details.ts';
import { type ErrorEntry, later, never } from './error-entry.ts';

/** Errors of the transport and of the service itself. */
export const SERVICE_ERRORS = {
  // 413, 415, 429: the transport, and limits
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'The request body is too large.',
    ...never,
    doc: 'Bodies may have 1 MiB, document uploads 10 MiB; send less.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The content type is not supported.',
    ...never,
    doc: 'Bodies are JSON; send Content-Type: application/json.',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'Too many requests.',
    details: rateLimitedDetails,
    retryable: true,
    doc: 'The request limit is used up; wait as long as the Retry-After header says.',
  },
  OPEN_ORDER_LIMIT: {
    status: 429,
    message: 'Too much is open already.',
    details: openOrderLimitDetails,
    retryable: true,
    doc: 'The partner or the customer has as many open orders, or as much value in them, as it may have; finish or cancel some and initiate the quote again, or ask the operator for a higher limit.',
  },

  // 500, 502, 503: ours or upstream; the message is always the one below
  INTERNAL_ERROR: {
    status: 500,
    message: 'Something went wrong on our side.',
    ...later,
    doc: 'An unexpected failure; retry with the same Idempotency-Key and report X-Request-Id if it stays.',
  },
  TRANSACTOR_UNAVAILABLE: {
    status: 502,
    message: 'The transaction service is unavailable.',
    ...later,
    doc: 'The transaction could not be sent; nothing moved, retry later.',
  },
  ESCROW_SIGNER_MISMATCH: {
    status: 502,
    message: 'The signature was not made by the owner of the escrow.',
    details: signerDetails,
    retryable: false,
    doc: 'authorize-refund was signed by a key that does not own the escrow; sign with details.expected_signer (signer_address of the parameters).',
  },
  WEBHOOK_DELIVERY_FAILED: {
    status: 502,
    message: 'The webhook endpoint did not accept the test event.',
    details: webhookDeliveryDetails,
    retryable: true,
    doc: 'The endpoint answered other than 2xx or not within 10 seconds; repair it and test again.',
  },
  BANKING_ERROR: {
    status: 502,
    message: 'The bank refused the request.',
    ...never,
    doc: 'The banking provider failed on this request; report X-Request-Id.',
  },
  BANKING_UNAVAILABLE: {
    status: 503,
    message: 'Banking is temporarily unavailable.',
    ...later,
    doc: 'The banking provider cannot be reached; retry later.',
  },
  MAIL_UNAVAILABLE: {
    status: 503,
    message: 'This service cannot send e-mail.',
    ...never,
    doc: 'The deployment has no way to send e-mail, so that no customer can be known at the widget; the operator sets MAIL_URL and MAIL_FROM.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'The service is temporarily unavailable.',
    details: unavailableDetails,
    retryable: true,
    doc: 'The service or something it needs, such as its database, is temporarily unavailable; retry as Retry-After says, with the same Idempotency-Key.',
  },
} as const satisfies Record<string, ErrorEntry>;
