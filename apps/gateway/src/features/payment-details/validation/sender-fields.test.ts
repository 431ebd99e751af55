import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countCodePoints, senderFieldProblems, senderIdentityDetails } from './mask-details.ts';

const ceilings = {
  requiredFields: ['first_name', 'last_name', 'address', 'city', 'postal_code', 'id_number', 'phone_number'],
  fieldLimits: { first_name: 60, last_name: 60, address: 70, city: 50, id_number: 30 },
};
const complete = {
  first_name: 'Wei',
  last_name: 'Wang',
  address: '1 Nanjing Road',
  city: 'Shanghai',
  postal_code: '200000',
  id_number: 'E12345678',
  phone_number: '+8613800138000',
};

it('has nothing to say about a complete sender', () => {
  expect(senderFieldProblems(complete, ceilings)).toEqual([]);
});

it.each([
  ['an emoji', '😀'],
  ['a character of CJK extension B', '𠮷'],
  ['a common Chinese character', '王'],
  ['a Latin letter', 'a'],
])('%s counts as one character at the ceiling', (_name, character) => {
  expect(senderFieldProblems({ ...complete, first_name: character.repeat(60) }, ceilings)).toEqual([]);
  expect(senderFieldProblems({ ...complete, first_name: character.repeat(61) }, ceilings)).toEqual([
    { field: 'first_name', reason: 'too_long', limit: 60 },
  ]);
});

it('a blank, null or absent field is missing', () => {
  const { city: _, ...withoutCity } = complete;
  const problems = senderFieldProblems({ ...withoutCity, first_name: ' ', postal_code: null }, ceilings);
  expect(problems).toEqual([
    { field: 'first_name', reason: 'missing', limit: 60 },
    { field: 'city', reason: 'missing', limit: 50 },
    { field: 'postal_code', reason: 'missing' },
  ]);
});

it('a field without a published ceiling may be of any length', () => {
  expect(senderFieldProblems({ ...complete, postal_code: '9'.repeat(5_000) }, ceilings)).toEqual([]);
});

it('tells the fields, those the KYC patch can supply, and ceilings only where there are any', () => {
  const suppliable = (field: string) => ['address', 'city', 'postal_code'].includes(field);
  const problems = senderFieldProblems({ ...complete, city: '', phone_number: '' }, ceilings);
  expect(senderIdentityDetails(problems, suppliable)).toEqual({
    missing_fields: ['city', 'phone_number'],
    kyc_fields: ['city'],
    field_limits: { city: 50 },
  });
  const phoneOnly = senderFieldProblems({ ...complete, phone_number: '' }, ceilings);
  expect(senderIdentityDetails(phoneOnly, suppliable)).not.toHaveProperty('field_limits');
});

// Proves trap 10.
it('counts code points of any well-formed text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })), (characters) => {
      expect(countCodePoints(characters.join(''))).toBe(characters.length);
    }),
  );
});
