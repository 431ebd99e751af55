import { describe, expect, test } from 'vitest';
import { EMPTY_DRAFT } from '../session/steps.ts';
import { type Corridor, choicesOf, consistent, homeCountries } from './choices.ts';

const side = { rate: '1', spread_pct: 1 };
const corridor = (
  country: string,
  fiat: string,
  rails: string[],
  part: Partial<Corridor> = {},
): Corridor => ({
  crypto_currency: 'USDC',
  fiat_currency: fiat,
  country,
  rails,
  onramp: side,
  offramp: side,
  updated_at: null,
  ...part,
});

const CORRIDORS = [
  corridor('AE', 'AED', ['uaefts']),
  corridor('AT', 'EUR', ['iban-sepa']),
  corridor('DE', 'EUR', ['iban-sepa']),
  corridor('KE', 'KES', ['mpesa-kenya', 'pesalink-kenya']),
  corridor('KE', 'USD', ['pesalink-kenya']),
  corridor('US', 'USD', ['ach'], { onramp: null }),
  corridor('KE', 'KES', ['mpesa-kenya'], { crypto_currency: 'USDT' }),
];
const EMPTY = { ...EMPTY_DRAFT, cryptoCurrency: 'USDC' };
const chosen = (...given: Parameters<typeof consistent>) => {
  const { fiatCurrency, country, rail, institution } = consistent(...given);
  return [fiatCurrency, country, rail, institution];
};

describe('a selection is always one that is served', () => {
  test('nothing chosen: the customer’s own country, else the first corridor', () => {
    expect(chosen(CORRIDORS, EMPTY, null, ['XX', 'KE'])).toEqual(['KES', 'KE', 'mpesa-kenya', '']);
    expect(chosen(CORRIDORS, EMPTY, null, [])).toEqual(['AED', 'AE', 'uaefts', '']);
  });

  test('a country of several currencies: its own one', () => {
    const britain = [
      ...CORRIDORS,
      corridor('GB', 'EUR', ['iban-sepa']),
      corridor('GB', 'GBP', ['faster-payments']),
    ];
    expect(chosen(britain, EMPTY, null, ['GB'])).toEqual(['GBP', 'GB', 'faster-payments', '']);
    const moved = { ...EMPTY, fiatCurrency: 'KES', country: 'GB' };
    expect(chosen(britain, moved, 'country', [])).toEqual(['GBP', 'GB', 'faster-payments', '']);
  });

  test('a currency alone: at home where it is used there, else where it is first', () => {
    const euros = { ...EMPTY, fiatCurrency: 'EUR' };
    expect(chosen(CORRIDORS, euros, null, ['DE'])).toEqual(['EUR', 'DE', 'iban-sepa', '']);
    expect(chosen(CORRIDORS, euros, null, ['KE'])).toEqual(['EUR', 'AT', 'iban-sepa', '']);
  });

  test('what was changed last stays, the other gives way', () => {
    const kenya = {
      ...EMPTY,
      fiatCurrency: 'KES',
      country: 'KE',
      rail: 'mpesa-kenya',
      institution: 'm-pesa',
    };
    expect(chosen(CORRIDORS, { ...kenya, country: 'DE' }, 'country', [])).toEqual([
      'EUR',
      'DE',
      'iban-sepa',
      '',
    ]);
    expect(chosen(CORRIDORS, { ...kenya, fiatCurrency: 'EUR' }, 'fiatCurrency', ['DE'])).toEqual([
      'EUR',
      'DE',
      'iban-sepa',
      '',
    ]);
    expect(chosen(CORRIDORS, { ...kenya, fiatCurrency: 'USD' }, 'fiatCurrency', [])).toEqual([
      'USD',
      'KE',
      'pesalink-kenya',
      '',
    ]);
  });

  test('rail and institution stay where they still fit', () => {
    const kenya = {
      ...EMPTY,
      fiatCurrency: 'KES',
      country: 'KE',
      rail: 'pesalink-kenya',
      institution: 'kcb',
    };
    expect(chosen(CORRIDORS, kenya, null, [])).toEqual(['KES', 'KE', 'pesalink-kenya', 'kcb']);
    expect(chosen(CORRIDORS, { ...kenya, cryptoCurrency: 'USDT' }, null, [])).toEqual([
      'KES',
      'KE',
      'mpesa-kenya',
      '',
    ]);
  });

  test('the other side may serve other countries', () => {
    expect(choicesOf(CORRIDORS, EMPTY).countries).toEqual(['AE', 'AT', 'DE', 'KE']);
    expect(choicesOf(CORRIDORS, { ...EMPTY, side: 'offramp' }).countries).toEqual([
      'AE',
      'AT',
      'DE',
      'KE',
      'US',
    ]);
    expect(choicesOf(CORRIDORS, { ...EMPTY, fiatCurrency: 'KES', country: 'KE' })).toEqual({
      fiatCurrencies: ['AED', 'EUR', 'KES', 'USD'],
      countries: ['AE', 'AT', 'DE', 'KE'],
      rails: ['mpesa-kenya', 'pesalink-kenya'],
    });
  });
});

test('countries that a browser names come before those of its languages', () => {
  expect(homeCountries(['en', 'sw-KE', 'not a tag'])).toEqual(['KE', 'US']);
  expect(homeCountries(['pt'])).toEqual(['BR']);
});
