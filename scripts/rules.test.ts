import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../packages/protocol/src/index.ts';
import { type Rule, readRules } from './contract-rules.ts';
import { collectRules, compareRules, readProofs } from './rules.ts';

const CONTRACT = `# Contract

Prose is no rule.

## C3 States

### C3.2 Off-ramp order

| Row | From | When |
|---|---|---|
| 1 | new | initiate |
| 2 | \`created\` | a vendor is there |

1. Each move sends
   a webhook.

### C3.3 Quote

Active for
60 seconds.

## C7 Errors

1. Codes are in the catalogue.

## D6 Quotes

1. A list item.

## Traps

| Trap | What goes wrong | What prevents it |
|---|---|---|
| 1 | a race | a lock |
`;

describe('the rules of a contract', () => {
  const rules = readRules(CONTRACT);

  test('are items, rows and traps with their text; a section without any is one', () => {
    expect(rules.filter(({ id }) => !/^C7 [A-Zi]/.test(id)).map(({ id, text }) => [id, text])).toEqual([
      ['C3.2 row 1', 'new → initiate'],
      ['C3.2 row 2', '`created` → a vendor is there'],
      ['C3.2 rule 1', 'Each move sends a webhook.'],
      ['C3.3', 'Active for 60 seconds.'],
      ['C7 rule 1', 'Codes are in the catalogue.'],
      ['D6.1', 'A list item.'],
      ['trap 1', 'a race → a lock'],
    ]);
    expect(rules[0]?.section).toBe('C3.2 Off-ramp order');
  });

  test('and every error code that is still sent', () => {
    const codes = rules.filter(({ id }) => /^C7 [A-Zi]/.test(id)).map(({ id }) => id.slice(3));
    expect(codes).toContain('QUOTE_EXPIRED');
    expect(codes).toContain('invalid_gender');
    expect(ERROR_CODES.filter((code) => !codes.includes(code))).toEqual(['RECIPIENT_UNVERIFIABLE']);
  });
});

describe('what tests say they prove', () => {
  const proofsOf = (source: string) => readProofs('a.test.ts', source);

  test('is read from the comment right above them, over several lines, of groups and tables too', () => {
    const { proofs, faults } = proofsOf(`
// Proves D6.1.
describe('orders', () => {
  // Slow, because the clock is real.
  // Proves C3.2 rows 1 and 2, trap 1,
  // C7 QUOTE_EXPIRED.
  it('move', () => {});

  it('prove nothing', () => {});

  // Proves C3.3.
  test.each([
    [1, () => ({})],
  ])('of %s', (n: number) => {});
});
`);
    expect(faults).toEqual([]);
    expect(proofs.map(({ title, rules }) => [title, [...rules].sort()])).toEqual([
      ['orders', ['D6.1']],
      ['orders › move', ['C3.2 row 1', 'C3.2 row 2', 'C7 QUOTE_EXPIRED', 'trap 1']],
      ['orders › of %s', ['C3.3']],
    ]);
  });

  test.each([
    ['above no test', '// Proves D6.1.\nconst x = 1;\n', '1: stands above no test'],
    ['with a gap below it', "// Proves D6.1.\n\nit('x', () => {});\n", '1: stands above no test'],
    ['without a rule', "// Proves a lot.\nit('x', () => {});\n", '"x" cites no rule'],
  ])('a comment %s is a fault', (_what, source, fault) => {
    expect(proofsOf(source).faults).toEqual([fault]);
  });
});

describe('rules against tests', () => {
  const rule = (id: string): Rule => ({ id, section: '', text: 'is so' });
  const proof = (...rules: string[]) => ({ file: 'a.test.ts', title: 'x', rules });

  test('are complete where each has a test or a reason for having none', () => {
    expect(compareRules([rule('C3.3'), rule('D6.1')], [proof('C3.3')], { 'D6.1': 'not built' })).toEqual([]);
  });

  test.each<[string, Rule[], ReturnType<typeof proof>[], Record<string, string>, string]>([
    ['a rule without a test', [rule('C3.3')], [], {}, 'C3.3 has no test: is so'],
    ['a test of no rule', [], [proof('C9')], {}, 'a.test.ts: "x" proves C9, which is no rule'],
    [
      'an idle reason',
      [rule('D6')],
      [proof('D6')],
      { D6: 'x' },
      'D6 has a test: take it out of WITHOUT_TEST',
    ],
    ['a reason for no rule', [], [], { D6: 'x' }, 'D6 is no rule: take it out of WITHOUT_TEST'],
  ])('%s is a fault', (_what, rules, proofs, without, fault) => {
    expect(compareRules(rules, proofs, without)).toEqual([fault]);
  });
});

test('every rule of this repository has its test', () => {
  const { rules, faults } = collectRules();
  expect(faults).toEqual([]);
  expect(rules.length).toBeGreaterThan(300);
});
