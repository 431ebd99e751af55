import type { Random } from './random.ts';

/** Values that have broken servers before. */
export const NASTY: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER + 1,
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\uFEFF',
  '😀'.repeat(50),
  '𠀀𠀁𠀂',
  '\u202Eevil',
  'ﷺ'.repeat(20),
  "' OR 1=1 --",
  '{{7*7}}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '%00',
  '__proto__',
  'x'.repeat(300),
  'x'.repeat(70_000),
  '9'.repeat(400),
  '-0',
  'NaN',
  '1e9999',
  '2026-02-30',
  '9999-12-31',
  [],
  {},
  [[[[[]]]]],
  [null],
  { toString: 'x', valueOf: 1, constructor: { prototype: {} } },
  JSON.parse('{"__proto__": {"polluted": true}}'),
  '00000000-0000-0000-0000-000000000000',
  'DE89370400440532013000',
  'XX',
  'ZZ',
];

/** Changes a body in one to four places; sometimes it is left as it is, so that later states are reached. */
export function mutateBody(random: Random, body: unknown): unknown {
  if (random.chance(25)) return body;
  let changed = structuredClone(body);
  for (let times = 1 + random.below(4); times > 0; times--) changed = mutateOnce(random, changed);
  return changed;
}

function mutateOnce(random: Random, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || random.chance(4)) {
    return random.pick(NASTY);
  }
  const entries = body as Record<string, unknown>;
  const keys = Object.keys(entries);
  const key = keys.length === 0 ? 'details' : random.pick(keys);
  const inner = entries[key];
  const action = random.below(6);
  if (action === 0) {
    const { [key]: _, ...rest } = entries;
    return rest;
  }
  if (action === 1)
    return {
      ...entries,
      [random.pick(['', 'extra', '__proto__', 'constructor', 'x'.repeat(200)])]: random.pick(NASTY),
    };
  if (action === 2 && typeof inner === 'object' && inner !== null)
    return { ...entries, [key]: mutateOnce(random, inner) };
  if (action === 3 && typeof inner === 'string') return { ...entries, [key]: mutateText(random, inner) };
  return { ...entries, [key]: random.pick(NASTY) };
}

function mutateText(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return (
        text.slice(0, at) +
        random.pick(['\u0000', '😀', ' ', '\n', '"', '\\', '\u0301', '𠀀']) +
        text.slice(at)
      );
    case 2:
      return text.toUpperCase() === text ? text.toLowerCase() : text.toUpperCase();
    case 3:
      return text.repeat(1 + random.below(40));
    case 4:
      return ` ${text} `;
    default:
      return Array.from(text).toReversed().join('');
  }
}
