import { expect, it } from 'vitest';
import { newerThanOldestNode } from './oldest-node.ts';

it.each([
  ['parseArgs({args:e,allowNegative:!0})', 'allowNegative came with Node 20.17'],
  ['const s=AbortSignal.any([a,b])', 'AbortSignal.any came with Node 20.3'],
  ['let{promise:p}=Promise.withResolvers()', 'withResolvers came with Node 22'],
  ['join(import.meta.dirname,"x")', 'import.meta.dirname came with Node 20.11'],
])('%s is told', (code, told) => {
  expect(newerThanOldestNode(code)).toEqual([told]);
});

it('what Node 20.0 has is not', () => {
  const code =
    'AbortSignal.timeout(5);list.toSorted();readdir(a,{recursive:!0});new URL(".",import.meta.url)';
  expect(newerThanOldestNode(code)).toEqual([]);
});
