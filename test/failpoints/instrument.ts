import { RUNTIME } from './common.ts';
import type { Program } from './program.ts';
import { type PlacedSite, sitesIn } from './sites.ts';
import type { SyntaxNode } from './syntax.ts';

/** The text of every file that has sites, with the functions called there wrapped. Lines stay where they are. */
export function instrument(program: Program): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const [path, { text }] of program.files) {
    const sites = sitesIn(path, program);
    if (sites.length > 0) changed[path] = applied(text, sites.flatMap(editsOf));
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
  const named = typeof name === 'string' ? JSON.stringify(name) : `${JSON.stringify(name.prefix)} + ${name.key}`;
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
