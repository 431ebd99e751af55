import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RailShape } from './field-format.types.ts';
import { maskDetails, maskValue } from './mask-details.ts';

const field = (key: string, extra: object = {}) => ({
  key,
  type: 'text',
  required: true,
  maxLength: 60,
  ...extra,
});
const rail: RailShape = {
  slug: 'sample',
  countries: ['GB'],
  currencies: ['GBP'],
  fields: [
    field('full_name', { format: 'person_name' }),
    field('sort_code', { format: 'sort_code' }),
    field('account_number', { format: 'uk_account' }),
    field('account_type', { options: [{ code: 'checking' }] }),
  ],
};

it('shows the last four characters of an account number and masks the name', () => {
  expect(
    maskDetails(rail, {
      full_name: 'Ada Lovelace',
      sort_code: '200000',
      account_number: '55779911',
      account_type: 'checking',
    }),
  ).toEqual({
    full_name: '****lace',
    sort_code: '200000',
    account_number: '****9911',
    account_type: 'checking',
  });
});

it('masks a key the rail does not know', () => {
  expect(maskDetails(rail, { surprise: '123456789' })).toEqual({ surprise: '****6789' });
});

it('masks a key that is public in one format and personal in another', () => {
  const mixed: RailShape = {
    ...rail,
    fields: undefined,
    formats: [
      { id: 'a', institutionTypes: ['x'], fields: [field('code', { format: 'sort_code' })] },
      { id: 'b', institutionTypes: ['y'], fields: [field('code', { format: 'account_number' })] },
    ],
  };
  expect(maskDetails(mixed, { code: '12345678' })).toEqual({ code: '****5678' });
});

// Proves D8.9.
it('never shows all of a value, never more than four characters, and tells no length', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), (value) => {
      const shown = Array.from(maskValue(value).slice('****'.length));
      const characters = Array.from(value);
      expect(shown.length).toBeLessThanOrEqual(4);
      expect(shown.length).toBeLessThanOrEqual(characters.length / 2);
      expect(shown).toEqual(shown.length === 0 ? [] : characters.slice(-shown.length));
    }),
  );
});
