import { Value } from 'typebox/value';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { type DetailsOf, ERROR_CODES, errorEntry } from './catalogue.ts';
import {
  CausewayError,
  errorStatus,
  PartnerErrorResponse,
  partnerErrorResponseOf,
  SupportedErrorResponse,
  toPartnerErrorBody,
} from './causeway-error.ts';
import {
  ERROR_KEY_CATALOGUE,
  ERROR_KEYS,
  SupportedResourceError,
  supportedErrorStatus,
  toSupportedErrorBody,
} from './error-entry.ts';

const SECRET = 'duplicate key value violates unique constraint "users_email_key"';

describe('the partner envelope', () => {
  // Proves C2.1 row 3.
  test('has code, message and details, and details is {} where there are none', () => {
    const error = new CausewayError('ORDER_NOT_FOUND');
    expect(JSON.stringify(toPartnerErrorBody(error))).toBe(
      '{"success":false,"error":{"code":"ORDER_NOT_FOUND","message":"Order not found.","details":{}}}',
    );
    expect(errorStatus(error)).toBe(404);
  });

  test('carries the declared details and a message of its own', () => {
    const details = { status: 'completed', allowed_actions: ['authorize-bridge'] };
    const error = new CausewayError('INVALID_STATUS', { details, message: 'Already completed.' });
    expect(toPartnerErrorBody(error)).toEqual({
      success: false,
      error: { code: 'INVALID_STATUS', message: 'Already completed.', details },
    });
  });

  test.each(ERROR_CODES)('of %s fits the published schema', (code) => {
    const schema = errorEntry(code).details;
    const details = schema === null ? {} : Value.Create(schema);
    // The constructor asks for the details of one known code; here the code is any of them.
    const error = Reflect.construct(CausewayError, [code, { details }]);
    const body: unknown = JSON.parse(JSON.stringify(toPartnerErrorBody(error)));
    expect(Value.Check(PartnerErrorResponse, body)).toBe(true);
    expect(Value.Check(partnerErrorResponseOf(code), body)).toBe(true);
    expect(errorStatus(error)).toBe(errorEntry(code).status);
  });
});

describe('nothing internal reaches a partner', () => {
  const failure = new Error(SECRET);

  test.each([failure, SECRET, { message: SECRET, code: 'ORDER_NOT_FOUND' }, null, undefined])(
    'whatever else is thrown (%s) is an internal error',
    (thrown) => {
      expect(toPartnerErrorBody(thrown)).toEqual({
        success: false,
        error: { code: 'INTERNAL_ERROR', message: errorEntry('INTERNAL_ERROR').message, details: {} },
      });
      expect(errorStatus(thrown)).toBe(500);
    },
  );

  test('the cause is kept for logs and never serialised', () => {
    const error = new CausewayError('NO_OFFERS_AVAILABLE', { cause: failure });
    expect(error.cause).toBe(failure);
    expect(JSON.stringify(error)).not.toContain(SECRET);
    expect(JSON.stringify({ ...error })).not.toContain(SECRET);
    expect(JSON.stringify(toPartnerErrorBody(error))).not.toContain(SECRET);
  });

  // Proves D3.4.
  test('a 5xx always has the public message of the catalogue', () => {
    for (const code of [
      'INTERNAL_ERROR',
      'TRANSACTOR_UNAVAILABLE',
      'BANKING_ERROR',
      'BANKING_UNAVAILABLE',
    ] as const) {
      const error = new CausewayError(code, { message: SECRET });
      expect(toPartnerErrorBody(error).error.message).toBe(errorEntry(code).message);
    }
  });

  test('details that the catalogue does not declare are left out', () => {
    const details = { missing_fields: ['city'], sql: SECRET };
    const body = toPartnerErrorBody(new CausewayError('MISSING_FIELDS', { details }));
    expect(body.error.details).toEqual({ missing_fields: ['city'] });
    const bare: unknown = Reflect.construct(CausewayError, ['USER_NOT_FOUND', { details: { sql: SECRET } }]);
    expect(toPartnerErrorBody(bare).error.details).toEqual({});
  });
});

test('the compiler asks for the details a code needs', () => {
  expectTypeOf<DetailsOf<'KYC_NOT_CLEARED'>['kyc_status']>().toExtend<string>();
  expectTypeOf<DetailsOf<'MISSING_FIELDS'>>().toEqualTypeOf<{ missing_fields: string[] }>();
  expectTypeOf<DetailsOf<'ORDER_NOT_FOUND'>>().toEqualTypeOf<Record<string, never>>();
  const wrongUses = [
    // @ts-expect-error details are required
    () => new CausewayError('INVALID_STATUS'),
    // @ts-expect-error details are required even with a message
    () => new CausewayError('MISSING_FIELDS', { message: 'x' }),
    // @ts-expect-error a field is missing
    () => new CausewayError('INVALID_STATUS', { details: { status: 'completed' } }),
    // @ts-expect-error this code has no details
    () => new CausewayError('ORDER_NOT_FOUND', { details: { order_id: 'x' } }),
    // @ts-expect-error no such code
    () => new CausewayError('NOT_A_CODE'),
  ];
  const rightUses = [
    () => new CausewayError('AMOUNT_OUT_OF_RANGE'),
    () => new CausewayError('AMOUNT_OUT_OF_RANGE', { details: { min_amount: '10.00' } }),
    () => new CausewayError('KYC_NOT_CLEARED', { details: { kyc_status: 'IN_PROGRESS' } }),
    () => new CausewayError('RATE_LIMITED', { details: { retry_after: 3 } }),
  ];
  expect(wrongUses).toHaveLength(5);
  for (const make of rightUses) expect(make()).toBeInstanceOf(Error);
});

describe('the supported-resources envelope', () => {
  test('the keys are the published ones', () => {
    expect(ERROR_KEYS).toEqual([
      'validation_error',
      'invalid_direction',
      'missing_country_or_currency',
      'invalid_country',
      'invalid_currency',
      'invalid_rail',
      'service_unavailable',
      'internal_error',
    ]);
  });

  // Proves C2.1 row 2.
  test.each(ERROR_KEYS)('%s has a status, a doc and a body that fits the published schema', (key) => {
    const error = new SupportedResourceError(key, { cause: new Error(SECRET) });
    expect(ERROR_KEY_CATALOGUE[key].doc).toMatch(/\.$/);
    expect(supportedErrorStatus(error)).toBe(
      { internal_error: 500, service_unavailable: 503 }[key as string] ?? 400,
    );
    expect(toSupportedErrorBody(error)).toEqual({ success: false, data: { error_key: key } });
    expect(Value.Check(SupportedErrorResponse, toSupportedErrorBody(error))).toBe(true);
    expect(JSON.stringify(error)).not.toContain(SECRET);
  });

  test('anything else that is thrown is internal', () => {
    expect(toSupportedErrorBody(new Error(SECRET))).toEqual({
      success: false,
      data: { error_key: 'internal_error' },
    });
    expect(supportedErrorStatus(new Error(SECRET))).toBe(500);
    expect(Value.Check(SupportedErrorResponse, { success: false, data: { error_key: 'other' } })).toBe(false);
  });
});
