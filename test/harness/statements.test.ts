import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const SOURCES = ['apps/gateway/src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'];
/** The name in `statement<…>('name', …)`; its types hold no call. */
const DECLARED = /\bstatement(?:<[^(]*>)?\(\s*'(\w+\.[^']+)'/g;

/** Test files share a process in an order that changes from run to run, and two of the same name cannot be loaded together. */
test('no two statements have the same name, whichever files meet in a process', () => {
  const places = new Map<string, string[]>();
  for (const file of globSync(SOURCES)) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(DECLARED)) {
      places.set(name, [...(places.get(name) ?? []), file]);
    }
  }
  expect(places.size, 'statements are recognised').toBeGreaterThan(400);
  expect(places.get('test.forget_treasury'), 'also those of tests').toHaveLength(1);
  expect([...places].filter(([, files]) => files.length > 1)).toEqual([]);
});
