import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FLOAT =
  /\bNumber\s*[(.]|\bparseFloat\b|\bparseInt\b|\bMath\.|\.toFixed\b|\.toPrecision\b|(?<![\w.'`])\d+\.\d/;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;

const sources = readdirSync(import.meta.dirname).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
);

// The wire has a few JSON numbers; that one file is their only way out and holds a single conversion.
// Proves D1.4.
test.each(sources.filter((name) => name !== 'wire-number.ts'))('%s calculates without floats', (name) => {
  const code = readFileSync(`${import.meta.dirname}/${name}`, 'utf8').replace(COMMENT, '');
  expect(code).not.toMatch(FLOAT);
});

test('nothing inside money uses the wire number', () => {
  for (const name of sources.filter((file) => file !== 'wire-number.ts' && file !== 'index.ts')) {
    expect(readFileSync(`${import.meta.dirname}/${name}`, 'utf8')).not.toContain('wire-number');
  }
});

test('the check recognises floats', () => {
  for (const line of ['Number(text)', 'Math.floor(x)', 'parseFloat(x)', 'x * 1.2', 'x.toFixed(2)']) {
    expect(line).toMatch(FLOAT);
  }
  expect('10n ** 6n').not.toMatch(FLOAT);
});
