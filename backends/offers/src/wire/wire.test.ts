import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rowsArb } from '../testing/offer-world.ts';
import { parseMatchCall } from './calls.wire.ts';
import { parseWireRows, toWireRows } from './offer-rows.wire.ts';
import { WireFormatError } from './wire-format.error.ts';

function placeOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof WireFormatError) return error.path;
    throw error;
  }
}

describe('rows', () => {
  test('come back from the wire as they were', () => {
    fc.assert(
      fc.property(rowsArb, (rows) => {
        expect(parseWireRows(JSON.parse(JSON.stringify(toWireRows(rows))))).toEqual(rows);
      }),
    );
  });

  test('that do not fit are refused with their place', () => {
    const [rows] = fc.sample(
      rowsArb.filter(({ offers }) => offers.length > 0),
      { numRuns: 1, seed: 1 },
    );
    const wire = () => structuredClone(toWireRows(rows!));
    const changed = (change: (rows: ReturnType<typeof wire>) => void) => {
      const copy = wire();
      change(copy);
      return placeOf(() => parseWireRows(copy));
    };
    expect(placeOf(() => parseWireRows(null))).toBe('');
    expect(changed((copy) => Object.assign(copy.offers[0]!, { side: 'buy' }))).toBe('/offers/0/side');
    expect(changed((copy) => Object.assign(copy.offers[0]!, { min_amount: 5 }))).toBe('/offers/0/min_amount');
    expect(changed((copy) => Object.assign(copy.vendors[1]!, { online: 'yes' }))).toBe('/vendors/1/online');
    expect(changed((copy) => Object.assign(copy.vendors[1]!, { unknown: true }))).toBeUndefined();
  });
});

describe('a match call', () => {
  const body = {
    direction: 'onramp',
    crypto_currency: 'USDC',
    crypto_decimals: 6,
    fiat_currency: 'EUR',
    fiat_decimals: 2,
    fiat_amount: '100.00',
    rails: [],
  };

  test('has defaults for what is left out', () => {
    const { request, context } = parseMatchCall(body);
    expect(request).toMatchObject({ anchor: 'fiat', amount: 10_000n, providerScope: 'all' });
    expect(request.partnerFee.millionths).toBe(0n);
    expect(context.referenceRate).toBeUndefined();
    expect(context.rail('iban-sepa', 'EUR', 'onramp')).toBeUndefined();
  });

  test.each<[string, object]>([
    ['/direction', { direction: 'sideways' }],
    ['/fiat_amount', { crypto_amount: '1' }],
    ['/fiat_amount', { fiat_amount: undefined }],
    ['/fiat_amount', { fiat_amount: '0.00' }],
    ['/fiat_amount', { fiat_amount: '1.001' }],
    ['/fiat_amount', { fiat_amount: '-1' }],
    ['/crypto_amount', { fiat_amount: undefined, crypto_amount: '1e3' }],
    ['/partner_fee_pct', { partner_fee_pct: '1.0000001' }],
    ['/platform_fee_pct', { platform_fee_pct: 'x' }],
    ['/reference_rate', { reference_rate: '0' }],
    ['/provider_scope', { provider_scope: 'some' }],
    ['/country_code', { country_code: 'de' }],
    ['/fiat_decimals', { fiat_decimals: 5 }],
    [
      '/rails/0/limits/max_amount',
      {
        rails: [
          {
            network_slug: 'a',
            limits: { min_amount: '1', max_amount: 'lots', max_per_transaction: null },
            methods: [],
          },
        ],
      },
    ],
  ])('is refused at %s: %o', (path, changes) => {
    expect(placeOf(() => parseMatchCall({ ...body, ...changes }))).toBe(path);
  });
});
