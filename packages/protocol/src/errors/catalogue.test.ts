import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { ERROR_CATALOGUE, ERROR_CODES, type ErrorCode, errorEntry, isErrorCode } from './catalogue.ts';
import { CONSOLE_ERRORS } from './console-errors.ts';
import { REQUEST_ERRORS } from './request-errors.ts';
import { SERVICE_ERRORS } from './service-errors.ts';
import { STATE_ERRORS } from './state-errors.ts';

/** The published list, status by status, written out once more so that a changed status or a lost code is noticed. */
const PUBLISHED: Record<number, readonly string[]> = {
  400: [
    'VALIDATION_ERROR',
    'INVALID_PARTNER_FEE',
    'UNSUPPORTED_CRYPTO_CURRENCY',
    'UNSUPPORTED_FIAT_CURRENCY',
    'INVALID_PROVIDER_SCOPE',
    'AMOUNT_OUT_OF_RANGE',
    'INVALID_ORDER_ID',
    'INVALID_PAYER_DETAILS',
    'INVALID_FORWARD_REQUEST',
    'INVALID_DESTINATION',
    'INVALID_SIGNATURE',
    'WEBHOOK_NOT_CONFIGURED',
    'INVALID_WEBHOOK_URL',
    'invalid_gender',
    'invalid_country_code',
    'invalid_source_of_funds',
    'invalid_field_value',
  ],
  401: ['UNAUTHORIZED', 'SIGN_IN_REQUIRED', 'SIGN_IN_FAILED'],
  403: [
    'FEATURE_NOT_ENABLED',
    'EMAIL_NOT_CONFIRMED',
    'FORBIDDEN',
    'CSRF_TOKEN_INVALID',
    'SECOND_FACTOR_REQUIRED',
    'REAUTHENTICATION_REQUIRED',
  ],
  404: [
    'USER_NOT_FOUND',
    'QUOTE_NOT_FOUND',
    'ORDER_NOT_FOUND',
    'RECIPIENT_NOT_FOUND',
    'DESTINATION_NOT_FOUND',
    'PAYMENT_DETAILS_NOT_FOUND',
    'PAYMENT_METHOD_NOT_FOUND',
    'FIAT_ACCOUNT_NOT_FOUND',
    'OFFER_NOT_FOUND',
    'PARTNER_NOT_FOUND',
    'VENDOR_NOT_FOUND',
    'KEY_NOT_FOUND',
    'DELIVERY_NOT_FOUND',
    'WEBHOOK_ENDPOINT_NOT_FOUND',
    'EFFECT_NOT_FOUND',
    'PROOF_NOT_FOUND',
    'SCREENING_CASE_NOT_FOUND',
    'QUEUE_CASE_NOT_FOUND',
    'DEPOSIT_NOT_FOUND',
    'FIAT_PAYMENT_NOT_FOUND',
    'APPROVAL_NOT_FOUND',
    'WIDGET_SESSION_NOT_FOUND',
    'ROUTE_NOT_FOUND',
    'TEAM_MEMBER_NOT_FOUND',
    'INVITATION_NOT_FOUND',
    'CONSOLE_SESSION_NOT_FOUND',
    'PASSKEY_NOT_FOUND',
  ],
  409: [
    'QUOTE_EXPIRED',
    'QUOTE_ALREADY_USED',
    'INVALID_STATUS',
    'OPERATION_NOT_ALLOWED',
    'SEND_OUT_IN_PROGRESS',
    'NONCE_ALREADY_USED',
    'ALLOWANCE_TOO_LOW',
    'BALANCE_TOO_LOW',
    'USER_ALREADY_EXISTS',
    'IDEMPOTENCY_IN_PROGRESS',
    'CLIENT_NOT_APPROVED',
    'PROVISIONING_IN_PROGRESS',
    'QUEUE_CASE_CLAIMED',
    'LAST_ADMIN',
    'OWN_ROLE',
    'EMAIL_IN_USE',
    'LAST_SECOND_FACTOR',
    'APPROVAL_REQUIRED',
    'APPROVAL_CLOSED',
  ],
  410: ['CURSOR_EXPIRED', 'SIGN_IN_STEP_EXPIRED', 'INVITATION_EXPIRED'],
  413: ['PAYLOAD_TOO_LARGE'],
  415: ['UNSUPPORTED_MEDIA_TYPE'],
  422: [
    'NO_OFFERS_AVAILABLE',
    'KYC_NOT_CLEARED',
    'SENDER_IDENTITY_REQUIRED',
    'INVALID_RECIPIENT_FIELDS',
    'INSTITUTION_NOT_AVAILABLE',
    'INSTITUTION_REQUIRED',
    'RELATIONSHIP_NOT_ALLOWED',
    'RECIPIENT_NOT_CLEARED',
    'RECIPIENT_NOT_ELIGIBLE',
    'WALLET_NOT_CLEARED',
    'WALLET_NOT_ALLOWED',
    'RECIPIENT_UNVERIFIABLE',
    'MISSING_FIELDS',
    'EMAIL_CODE_INVALID',
    'IDEMPOTENCY_KEY_REUSED',
    'CREDENTIAL_INVALID',
    'PASSKEY_INVALID',
  ],
  429: ['RATE_LIMITED', 'OPEN_ORDER_LIMIT', 'SIGN_IN_LOCKED'],
  500: ['INTERNAL_ERROR'],
  502: ['TRANSACTOR_UNAVAILABLE', 'ESCROW_SIGNER_MISMATCH', 'WEBHOOK_DELIVERY_FAILED', 'BANKING_ERROR'],
  503: ['BANKING_UNAVAILABLE', 'MAIL_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
};

// Proves D3.1.
test('the catalogue holds exactly the published codes, each with its published status', () => {
  const byStatus: Record<number, string[]> = {};
  for (const code of ERROR_CODES) {
    const { status } = errorEntry(code);
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  const sorted = (lists: Record<number, readonly string[]>) =>
    Object.fromEntries(Object.entries(lists).map(([status, codes]) => [status, [...codes].sort()]));
  expect(sorted(byStatus)).toEqual(sorted(PUBLISHED));
});

test('no code is defined twice', () => {
  const parts = [REQUEST_ERRORS, STATE_ERRORS, CONSOLE_ERRORS, SERVICE_ERRORS].flatMap((part) =>
    Object.keys(part),
  );
  expect(parts).toHaveLength(Object.keys(ERROR_CATALOGUE).length);
});

describe.each(ERROR_CODES)('%s', (code) => {
  const entry = errorEntry(code);

  test('says in public what happened and in the docs what to do', () => {
    expect(entry.message).toMatch(/^[\w’'. ,-]+\.$/);
    expect(entry.doc.length).toBeGreaterThan(20);
    expect(entry.doc).toMatch(/\.$/);
  });

  test('has an object for details, or none', () => {
    if (entry.details === null) return;
    expect(entry.details.type).toBe('object');
    expect(Object.keys(entry.details.properties).length).toBeGreaterThan(0);
    for (const field of Object.keys(entry.details.properties)) expect(field).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });
});

// Proves D3.1, trap 6.
test('a 404 has no details, so that unknown and foreign answer the same bytes', () => {
  for (const code of ERROR_CODES.filter((each) => errorEntry(each).status === 404)) {
    expect(errorEntry(code).details).toBeNull();
  }
});

test.each<[ErrorCode, unknown, boolean]>([
  ['VALIDATION_ERROR', { fields: [{ path: 'fiat_amount', message: 'is required' }] }, true],
  ['VALIDATION_ERROR', { fields: ['fiat_amount'] }, false],
  ['VALIDATION_ERROR', {}, false],
  ['INVALID_STATUS', { status: 'completed', allowed_actions: ['authorize-bridge'] }, true],
  ['INVALID_STATUS', { status: 'completed' }, false],
  ['KYC_NOT_CLEARED', { kyc_status: 'UNDER_REVIEW' }, true],
  ['KYC_NOT_CLEARED', { kyc_status: 'VERIFIED' }, false],
  ['SENDER_IDENTITY_REQUIRED', { missing_fields: ['city'], kyc_fields: ['city'] }, true],
  [
    'SENDER_IDENTITY_REQUIRED',
    { missing_fields: ['city'], kyc_fields: ['city'], field_limits: { city: 50 } },
    true,
  ],
  [
    'SENDER_IDENTITY_REQUIRED',
    { missing_fields: ['city'], kyc_fields: ['city'], field_limits: { city: '50' } },
    false,
  ],
  ['SENDER_IDENTITY_REQUIRED', { missing_fields: ['city'] }, false],
  ['MISSING_FIELDS', { missing_fields: ['date_of_birth'] }, true],
  ['INVALID_RECIPIENT_FIELDS', { fields: [{ path: 'details.iban', message: 'is malformed' }] }, true],
  ['AMOUNT_OUT_OF_RANGE', {}, true],
  ['AMOUNT_OUT_OF_RANGE', { min_amount: 10 }, false],
])('%s with details %j fits its schema: %s', (code, details, fits) => {
  const schema = errorEntry(code).details;
  if (schema === null) throw new Error('this code has details');
  expect(Value.Check(schema, details)).toBe(fits);
});

test('only own codes are codes', () => {
  expect(isErrorCode('ORDER_NOT_FOUND')).toBe(true);
  for (const other of ['toString', '__proto__', 'constructor', 'order_not_found', '', null, 404]) {
    expect(isErrorCode(other)).toBe(false);
  }
});
