import { describe, expect, test } from 'vitest';
import { allowedBy, checkStatusLiterals, statusLiterals, statusWords } from './status-literals.ts';

const WORDS = new Set(['completed', 'pending', 'VERIFIED']);
const found = (source: string) => statusLiterals(source, WORDS).map(({ word, line }) => `${line} ${word}`);

describe('a status spelt outside its table is found', () => {
  test.each([
    ['a comparison', `if (order.status === 'completed') return;`],
    ['a comparison of a destructured status', `rows.filter(({ status }) => status !== 'pending')`],
    ['a comparison the other way round', `if ('VERIFIED' === user.kyc_status) return;`],
    ['a comparison of a column of another name', `row.disposition === 'pending'`],
    ['a list', `if (['completed', 'other'].includes(order.status)) return;`],
    ['membership', `OPEN_STATUSES.includes('pending')`],
    ['a switch', `switch (order.status) {\n  case 'completed':\n    return 1;\n}`],
    ['an assignment', `const row = { ...order, status: 'completed' };`],
    ['a choice', `const row = { status: isLate ? 'other' : 'pending' };`],
    ['SQL', "statement('x', `SELECT 1 FROM orders WHERE status = 'completed'`)"],
    [
      'SQL after an interpolation',
      `statement('x', \`SELECT \${COLUMNS} FROM t WHERE x IN ('a', 'pending')\`)`,
    ],
    [
      'SQL between interpolations',
      `\`\${a('x')} status = CASE WHEN b THEN 'completed' END \${\`in \${c}\`}\``,
    ],
    ['JSON in SQL', '`timeline @> \'[{"status": "completed"}]\'`'],
  ])('%s', (_what, source) => {
    expect(found(source)).toHaveLength(1);
  });

  test('with the line it is on, also in a template of several lines', () => {
    expect(found("const a = 1;\nconst b = `\n  SELECT 1\n   WHERE status = 'pending'`;\n")).toEqual([
      '4 pending',
    ]);
  });
});

describe('what only looks like one is not', () => {
  test.each([
    ['a comment', `// status === 'completed'\n/* status = 'pending' */`],
    ['another field', `if (outcome.kind === 'completed') return;`],
    ['a word that no table has', `if (order.status === 'somewhere') return;`],
    ['a name of the tables', `if (order.status === ORDER_COMPLETED) return; \`status = \${sqlWords(A)}\``],
    ['an expression in a template', `\`Stopping: \${isKnown ? name : 'completed'}\``],
    ['quotes in a regular expression', `const x = /'([^']+)/;\nconst kind = 'completed';`],
  ])('%s', (_what, source) => {
    expect(found(source)).toEqual([]);
  });
});

test('every table is watched, and a permission covers its own words and files only', () => {
  for (const word of [
    'completed',
    'VERIFIED',
    'archived',
    'clear',
    'credited',
    'used',
    'provisioning',
    'approved',
  ]) {
    expect(statusWords().has(word), word).toBe(true);
  }
  const allowed = [
    { path: 'engine/', words: ['failed'], why: '' },
    { path: 'lib/a.ts', words: ['pending'], why: '' },
  ];
  expect(allowedBy('engine/intent.ts', 'failed', allowed)).toBe(0);
  expect(allowedBy('engine/intent.ts', 'pending', allowed)).toBe(-1);
  expect(allowedBy('lib/a.ts', 'pending', allowed)).toBe(1);
  expect(allowedBy('lib/a.test.ts', 'pending', allowed)).toBe(-1);
});

test('the gateway spells no status, and no permission is idle', async () => {
  expect(await checkStatusLiterals()).toEqual([]);
});
