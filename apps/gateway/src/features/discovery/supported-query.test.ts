import { SupportedResourceError } from '@causeway/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ISO_COUNTRIES, ISO_CURRENCIES } from '../../lib/iso-codes.ts';
import { type RawQuery, readInstitutionsQuery, readPaymentRailsQuery } from './supported-query.ts';

const isRail = (slug: string) => slug === 'pix';

function keyOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof SupportedResourceError) return error.key;
    throw error;
  }
  return 'accepted';
}

test('there are 249 countries and more than 150 currencies, none twice', () => {
  expect(ISO_COUNTRIES.size).toBe(249);
  expect(ISO_CURRENCIES.size).toBeGreaterThan(150);
});

test.each<[RawQuery, string]>([
  [{ country: 'GH' }, 'invalid_direction'],
  [{ country: 'GH', direction: '' }, 'invalid_direction'],
  [{ country: 'GH', direction: 'sideways' }, 'invalid_direction'],
  [{ country: 'GH', direction: 'ONRAMP' }, 'invalid_direction'],
  [{ country: 'GH', direction: 'o'.repeat(5_000) }, 'invalid_direction'],
  [{ country: 'GH', direction: 'ｏｎｒａｍｐ' }, 'invalid_direction'],
  [{ country: 'GH', direction: ['onramp', 'offramp'] }, 'validation_error'],
  [{ direction: 'onramp' }, 'missing_country_or_currency'],
  [{ direction: 'onramp', country: '', currency: '' }, 'missing_country_or_currency'],
  [{ direction: 'onramp', country: 'XX' }, 'invalid_country'],
  [{ direction: 'onramp', country: 'G' }, 'invalid_country'],
  [{ direction: 'onramp', country: 'GHA' }, 'invalid_country'],
  [{ direction: 'onramp', country: 'G'.repeat(5_000) }, 'invalid_country'],
  [{ direction: 'onramp', country: 'ＧＨ' }, 'invalid_country'],
  [{ direction: 'onramp', country: 'ß' }, 'invalid_country'],
  [{ direction: 'onramp', country: 'G\u0000' }, 'invalid_country'],
  [{ direction: 'onramp', country: ['GH', 'NG'] }, 'validation_error'],
  [{ direction: 'onramp', currency: 'XXX' }, 'invalid_currency'],
  [{ direction: 'onramp', currency: 'USDC' }, 'invalid_currency'],
  [{ direction: 'onramp', currency: 'ＧＨＳ' }, 'invalid_currency'],
  [{ direction: 'onramp', currency: 'G'.repeat(5_000) }, 'invalid_currency'],
  [{ direction: 'onramp', currency: ['GHS', 'NGN'] }, 'validation_error'],
  [{ direction: 'onramp', country: 'GH', currency: 'nope' }, 'invalid_currency'],
])('payment-rails with %j is %s', (query, key) => {
  expect(keyOf(() => readPaymentRailsQuery(query))).toBe(key);
});

test('codes may be written in lower case', () => {
  expect(readPaymentRailsQuery({ direction: 'offramp', country: 'gh', currency: 'ghs' })).toEqual({
    direction: 'offramp',
    country: 'GH',
    currency: 'GHS',
  });
});

test('an ISO code that no vendor serves is accepted', () => {
  expect(keyOf(() => readPaymentRailsQuery({ direction: 'offramp', country: 'AQ' }))).toBe('accepted');
});

test.each<[RawQuery, string]>([
  [{}, 'invalid_rail'],
  [{ rail: '' }, 'invalid_rail'],
  [{ rail: 'swift' }, 'invalid_rail'],
  [{ rail: '__proto__' }, 'invalid_rail'],
  [{ rail: 'p'.repeat(5_000) }, 'invalid_rail'],
  [{ rail: 'ｐｉｘ' }, 'invalid_rail'],
  [{ rail: ['pix', 'pix'] }, 'validation_error'],
  [{ rail: 'pix', limit: '0' }, 'validation_error'],
  [{ rail: 'pix', limit: '101' }, 'validation_error'],
  [{ rail: 'pix', limit: '-1' }, 'validation_error'],
  [{ rail: 'pix', limit: '1.5' }, 'validation_error'],
  [{ rail: 'pix', limit: '1e1' }, 'validation_error'],
  [{ rail: 'pix', limit: '' }, 'validation_error'],
  [{ rail: 'pix', limit: '٣' }, 'validation_error'],
  [{ rail: 'pix', limit: '9'.repeat(400) }, 'validation_error'],
  [{ rail: 'pix', limit: ['5', '6'] }, 'validation_error'],
  [{ rail: 'pix', offset: '-1' }, 'validation_error'],
  [{ rail: 'pix', offset: 'first' }, 'validation_error'],
  [{ rail: 'pix', offset: '2147483648' }, 'validation_error'],
  [{ rail: 'pix', offset: ['0', '1'] }, 'validation_error'],
  [{ rail: 'pix', country: 'ZZ' }, 'invalid_country'],
  [{ rail: 'pix', currency: 'ZZZ' }, 'invalid_currency'],
  [{ rail: 'pix', search: 's'.repeat(101) }, 'validation_error'],
  [{ rail: 'pix', search: ['a', 'b'] }, 'validation_error'],
  [{ rail: 'pix', code: 'c'.repeat(33) }, 'validation_error'],
  [{ rail: 'pix', code: ['a', 'b'] }, 'validation_error'],
  [{ rail: 'pix', institution_id: 'i'.repeat(81) }, 'validation_error'],
  [{ rail: 'pix', limit: '100', offset: '2147483647', search: 'Ação Ünïcode 银行', code: '１' }, 'accepted'],
  [{ rail: 'PIX', limit: '1', unknown: ['ignored', 'too'] }, 'accepted'],
])('institutions with %j is %s', (query, key) => {
  expect(keyOf(() => readInstitutionsQuery(query, isRail))).toBe(key);
});

// Proves C8 row 4.
test('limit and offset have their defaults', () => {
  expect(readInstitutionsQuery({ rail: 'pix' }, isRail)).toMatchObject({ limit: 20, offset: 0 });
});

// Proves D3.3.
test('no query whatsoever fails with anything but an error_key', () => {
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.array(fc.string()),
    fc.constant(undefined),
  );
  const names = [
    'rail',
    'country',
    'currency',
    'direction',
    'limit',
    'offset',
    'search',
    'code',
    'institution_id',
  ];
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), value), (query) => {
      keyOf(() => readPaymentRailsQuery(query as RawQuery));
      keyOf(() => readInstitutionsQuery(query as RawQuery, () => true));
    }),
  );
});
