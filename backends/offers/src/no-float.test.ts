import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// Counts, ports and versions are ordinary integers; the two calls that only ask about them are allowed.
const FLOAT =
  /\bNumber\s*\(|\bNumber\.(?!isSafeInteger\b|MAX_SAFE_INTEGER\b)|\bparseFloat\b|\bparseInt\b|\bMath\.|\.toFixed\b|\.toPrecision\b|(?<![\w.'`])\d+\.\d/;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;

const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
  (name) =>
    name.endsWith('.ts') &&
    !name.endsWith('.test.ts') &&
    !name.startsWith('testing') &&
    // Reads a port.
    name !== 'command-line.ts',
);

test.each(sources)('%s calculates without floats', (name) => {
  const code = readFileSync(join(import.meta.dirname, name), 'utf8').replace(COMMENT, '');
  expect(code).not.toMatch(FLOAT);
});

test('an exact decimal becomes a number in one place only, for the wire', () => {
  const users = sources.filter((name) =>
    readFileSync(join(import.meta.dirname, name), 'utf8').includes('decimalToWireNumber'),
  );
  expect(users).toEqual([join('liquidity', 'liquidity.ts')]);
});

test('the check recognises floats', () => {
  expect(sources.length).toBeGreaterThan(15);
  for (const line of ['Number(text)', 'Number.parseFloat(x)', 'Math.floor(x)', 'x * 1.2', 'x.toFixed(2)']) {
    expect(line).toMatch(FLOAT);
  }
  expect('10n ** 6n; Number.isSafeInteger(version)').not.toMatch(FLOAT);
});
