import { expect, it } from 'vitest';
import * as wire from './index.ts';

function patternsIn(schema: unknown, seen = new Set<unknown>(), found = new Set<string>()): Set<string> {
  if (schema === null || typeof schema !== 'object' || seen.has(schema)) return found;
  seen.add(schema);
  const { type, pattern } = schema as { type?: unknown; pattern?: unknown };
  if (type === 'string' && typeof pattern === 'string') found.add(pattern);
  for (const [key, part] of Object.entries(schema)) if (key !== 'examples') patternsIn(part, seen, found);
  return found;
}

it('every pattern of a request or an answer has words, and no words are left over', () => {
  expect(Object.keys(wire.PATTERN_WORDS).sort()).toEqual([...patternsIn({ ...wire })].sort());
});
