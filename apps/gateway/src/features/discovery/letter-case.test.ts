import { loadReferenceFiles } from '@causeway/currencies';
import { expect, test } from 'vitest';
import { toCamelCase, toSnakeCase } from './answer-memory.ts';

test('every record of the files survives the way to the wire and back', () => {
  const data = loadReferenceFiles();
  expect(toCamelCase(toSnakeCase(data))).toEqual(data);
});

test('field names become snake case, keys that are data stay', () => {
  expect(
    toSnakeCase({
      paymentMethodId: 1,
      codes: { 'iban-sepa': 'X', fooBar: 'Y' },
      formats: [{ senderIdentity: { fieldLimits: { first_name: 60 } } }],
    }),
  ).toEqual({
    payment_method_id: 1,
    codes: { 'iban-sepa': 'X', fooBar: 'Y' },
    formats: [{ sender_identity: { field_limits: { first_name: 60 } } }],
  });
});
