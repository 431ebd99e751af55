import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TEST_VALUE_KINDS, TEST_VALUES, testOutcomeOf, testOutcomeOfAmount } from './test-values.ts';

// Proves D13.11.
describe('the table of test values', () => {
  it('has values of every kind, none twice', () => {
    const names = TEST_VALUES.map(({ kind, value }) => `${kind} ${value.toLowerCase()}`);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(TEST_VALUES.map(({ kind }) => kind))).toEqual(new Set(Object.keys(TEST_VALUE_KINDS)));
  });

  it.each([
    ['113.01', 11_301n, 2, 'vendor_never_accepts'],
    ['13.01', 1_301n, 2, 'vendor_never_accepts'],
    ['98013.10', 9_801_310n, 2, 'vendor_disputes'],
    ['113.010 with three decimals', 113_010n, 3, 'vendor_never_accepts'],
    ['113.011 with three decimals', 113_011n, 3, undefined],
    ['113.00', 11_300n, 2, undefined],
    ['131.30', 13_130n, 2, undefined],
    ['11301 without decimals', 11_301n, 0, undefined],
    ['113.21, which is of the other direction', 11_321n, 2, undefined],
  ])('%s', (_text, atomic, decimals, outcome) => {
    expect(testOutcomeOfAmount('onramp_amount', { atomic, decimals })).toBe(outcome);
  });

  it('is asked kind by kind', () => {
    expect(testOutcomeOf('kyc_last_name', (value) => value === 'Review')).toBe('review_requested');
    expect(testOutcomeOf('screened_name', (value) => value === 'Review')).toBe('review');
    expect(testOutcomeOf('kyc_last_name', (value) => value === 'Lovelace')).toBeUndefined();
  });

  it('is met by accident in no example, bench or other test', () => {
    const endings = TEST_VALUES.filter(({ kind }) => /^(on|off)ramp_amount$/.test(kind)).map(
      ({ value }) => value,
    );
    const met = new RegExp(`['"=][0-9]*(?:${endings.join('|').replaceAll('.', '\\.')})['"\\s]`);
    const files = globSync('{test,bench,examples,apps}/**/*.{ts,sh,mjs}', {
      exclude: ['**/node_modules/**'],
    });
    expect(files.length).toBeGreaterThan(300);
    const found = files.filter((file) => met.test(readFileSync(file, 'utf8')));
    // Orders that nobody pays, and the walk through the table itself; its quote by a crypto_amount shows that a computed amount does not count.
    expect(found.sort()).toEqual([
      'examples/offramp-with-refund.ts',
      'test/browser/widget-offramp.test.ts',
      'test/browser/widget-onramp.test.ts',
      'test/scenarios/test-values.test.ts',
    ]);
  });
});
