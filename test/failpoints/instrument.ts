import { RUNTIME } from './common.ts';
import type { Program } from './program.ts';
import { type PlacedSite, sitesIn } from './sites.ts';
import type { SyntaxNode } from './syntax.ts';

/** What is done once a minute or an hour is done once a second, so that a process meets it before it dies elsewhere. */
const MORE_OFTEN = [
  ['worker.ts', 'const SWEEP_MS = 60_000;', 'const SWEEP_MS = 1_000;'],
  ['worker.ts', 'const GAP_CHECK_MS = 30_000;', 'const GAP_CHECK_MS = 1_000;'],
  ['features/webhooks/delivery-drain.ts', 'const SWEEP_MS = 60_000;', 'const SWEEP_MS = 1_000;'],
  ['upstream/rates/rate-publisher.ts', 'const UPKEEP_MS = 3_600_000;', 'const UPKEEP_MS = 1_000;'],
] as const;

/** The text of every file that has sites, with the functions called there wrapped. Lines stay where they are. */
export function instrument(program: Program): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const [path, { text }] of program.files) {
    const sites = sitesIn(path, program);
    if (sites.length > 0) changed[path] = applied(text, sites.flatMap(editsOf));
  }
  for (const [path, seldom, often] of MORE_OFTEN) {
    const text = changed[path] ?? '';
    if (!text.includes(seldom)) throw new Error(`${path} has no ${seldom}`);
    changed[path] = text.replace(seldom, often);
  }
  return changed;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Only what is called is wrapped, never its arguments: `f(await x)` becomes `wrap(name, f)(await x)`, and a method keeps
 * its object.
 */
function editsOf({ name, kind, callee }: PlacedSite): Edit[] {
  const named =
    typeof name === 'string' ? JSON.stringify(name) : `${JSON.stringify(name.prefix)} + ${name.key}`;
  const opening = `${RUNTIME}.wrap(${JSON.stringify(kind)}, ${named}, `;
  if (callee.type !== 'MemberExpression') {
    return [
      { start: callee.start, end: callee.start, text: opening },
      { start: callee.end, end: callee.end, text: ')' },
    ];
  }
  const object = callee.object as SyntaxNode;
  return [
    { start: callee.start, end: callee.start, text: opening },
    { start: object.end, end: callee.end, text: `, ${JSON.stringify(callee.property.name)})` },
  ];
}

function applied(text: string, edits: readonly Edit[]): string {
  let result = text;
  const lastFirst = edits.toSorted((one, other) => other.start - one.start || other.end - one.end);
  for (const { start, end, text: inserted } of lastFirst) {
    result = result.slice(0, start) + inserted + result.slice(end);
  }
  return result;
}
