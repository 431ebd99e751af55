import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const FEATURES = fileURLToPath(new URL('../../apps/gateway/src/features/', import.meta.url));
const WIRE = fileURLToPath(new URL('../../packages/protocol/src/wire/', import.meta.url));

/** Adapters that check what an outside screening provider answers: its format, not this API's. */
const PROVIDER_ADAPTERS = /^screening[\\/](names|wallets)[\\/]/;

function sources(folder: string): { readonly file: string; readonly text: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));
}

it('features declare no wire schema: packages/protocol/src/wire has them all', () => {
  const declaring = sources(FEATURES)
    .filter(({ file }) => !PROVIDER_ADAPTERS.test(file))
    .filter(({ text }) => /\bType\.[A-Z]\w*\(/.test(text))
    .map(({ file }) => file);
  expect(declaring).toEqual([]);
});

it('path parameters are declared once', () => {
  const declared = new Map<string, string[]>();
  for (const { text } of sources(WIRE)) {
    for (const [, name = '', shape = ''] of text.matchAll(
      /const (\w+Params) = Type\.Object\((\{[^}]*\})\)/g,
    )) {
      declared.set(shape, [...(declared.get(shape) ?? []), name]);
    }
  }
  expect(declared.size).toBeGreaterThan(15);
  expect([...declared.values()].filter((names) => names.length > 1)).toEqual([]);
});
