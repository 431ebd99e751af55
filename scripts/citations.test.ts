import { describe, expect, test } from 'vitest';
import { citationFaults, headingAnchors, readAnchors, targetsOf } from './citations.ts';

const CONTRACT = `# Contract

## C3 States

### C3.2 Off-ramp order

| Row | From |
|---|---|
| 1 | new |
| 2 | \`created\` |

### C4.6 Off-ramp and orders

1. First.
2. Second,
   continued.
3. Third.

## C7 Errors

1. Codes are in the catalogue.

## D1 Money

| Row | Case |
|---|---|
| 1 | on-ramp |

## D6 Quotes and orders

1. A list item.

## Traps

| Trap | What goes wrong |
|---|---|
| 1 | a race |
`;

const anchors = readAnchors(CONTRACT, ['0005-leases-use-machine-time.md']);

describe('what can be cited', () => {
  test('sections, rows, rules, items of decisions, traps and decision records', () => {
    expect([...anchors].filter((anchor) => !/^C7 [A-Zi]/.test(anchor)).sort()).toEqual(
      [
        ...['C7', 'C7 rule 1', 'D1', 'D1 row 1'],
        ...['C3', 'C3.2', 'C3.2 row 1', 'C3.2 row 2', 'C4.6', 'C4.6 rule 1', 'C4.6 rule 2', 'C4.6 rule 3'],
        ...['D6', 'D6.1', 'decision 0005', 'trap 1'],
      ].sort(),
    );
  });
});

describe('citations', () => {
  test.each([
    'C3.2 row 1, D6: created is not published',
    'C4.6 rules 1 to 3; C3.2 rows 1 and 2',
    'C4.6 rules 1, 2 and 3',
    'see D6.1, trap 1 and decision 0005',
    'D1 row 1 and C7 QUOTE_EXPIRED',
    'docs/decisions/0005-leases-use-machine-time.md',
    // None of these is one.
    'limit=%D9%A3, #C99, 0xC7, AC3, contract 17, the contract 6.5.4',
  ])('resolve: %s', (line) => {
    expect(citationFaults(line, anchors)).toEqual([]);
  });

  test.each([
    ['C3.3: 60 seconds', 'C3.3'],
    ['C3.2 row 3', 'C3.2 row 3'],
    ['C4.6 rules 2 to 4', 'C4.6 rule 4'],
    ['C4.6 rules 1, 2 and 7', 'C4.6 rule 7'],
    ['D12 holds', 'D12'],
    ['D6.2', 'D6.2'],
    ['D1 row 2', 'D1 row 2'],
    ['C7 QUOTE_LOST', 'C7 QUOTE_LOST'],
    ['trap 2', 'trap 2'],
  ])('that lead nowhere are named: %s', (line, cited) => {
    expect(citationFaults(`\n${line}`, anchors)).toEqual([
      `2: ${cited} is not in docs/reference/contract.md`,
    ]);
  });

  test('of a decision record that does not exist are named', () => {
    expect(citationFaults('decision 0099', anchors)).toEqual(['1: decision 0099 is not in docs/decisions']);
  });

  test.each(['contract 3.2 row 1', 'Contract 6: events', 'the contract, section 6', 'decisions 6', 'C 3.2'])(
    'in another spelling are refused: %s',
    (line) => {
      expect(citationFaults(line, anchors)).toEqual([expect.stringContaining('write it like')]);
    },
  );
});

describe('what a document points to', () => {
  test('links, with their anchors, and paths in backticks; not addresses, patterns or code blocks', () => {
    const text = [
      'See [orders](orders.md#at-initiate), [above](#top) and [why](../decisions/0004-quotes-are-firm.md).',
      'In `packages/protocol/src/machines/` and `engine/execute.ts`, not `apps/gateway/src/features/<name>/` or [there](https://example.com/).',
      '```',
      '[no](link.md) `docs/nothing.md`',
      '```',
    ].join('\n');
    expect(targetsOf('docs/guides/quotes.md', text)).toEqual([
      { line: 1, path: 'docs/guides/orders.md', anchor: 'at-initiate' },
      { line: 1, path: 'docs/guides/quotes.md', anchor: 'top' },
      { line: 1, path: 'docs/decisions/0004-quotes-are-firm.md' },
      { line: 2, path: 'packages/protocol/src/machines/' },
      { line: 2, path: 'apps/gateway/src/engine/execute.ts' },
    ]);
  });

  test('anchors are those of GitHub', () => {
    expect(headingAnchors('# The log, and finding it\n\n### 3. Contracts & `chains`\n')).toEqual([
      'the-log-and-finding-it',
      '3-contracts--chains',
    ]);
  });
});
