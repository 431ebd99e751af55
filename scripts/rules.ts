import { globSync, readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';
import { citedIn, type Rule, readRules } from './contract-rules.ts';

/**
 * Every rule of docs/reference/contract.md has a test that proves it. The test says so in a comment right above it:
 *
 *     // Proves C4.6 rules 2 and 4, D6.8, trap 9, C7 INVALID_STATUS.
 *     it('a refund is owed only while …', …)
 *
 * above a `describe` it speaks for all of its tests. docs/reference/conformance.md lists rule by rule what was found; a
 * rule without a test, a comment that cites no rule and one that stands above no test fail the build.
 */
const CONTRACT = 'docs/reference/contract.md';
const TESTS = '{apps,backends,packages,contracts,test,bench,scripts}/**/*.test.{ts,tsx}';
/** The test of this check has comments that prove nothing. */
const IGNORED = /(^|\/)(node_modules|dist)\/|^scripts\/rules\.test\.ts$/;

/** Rules that no test of this version can prove, and why. Once one has a test, its line here is a fault. */
export const WITHOUT_TEST: Readonly<Record<string, string>> = {
  'C4.7 rule 3': 'Binds partners: the program cannot see whose money it is.',
  'D13.9': 'Not served by this version.',
};

/** A test, or a group of them, that proves rules. */
export interface Proof {
  readonly file: string;
  /** With the title of the group around it where its own says too little. */
  readonly title: string;
  readonly rules: readonly string[];
}

/** What the tests of one file say they prove, and comments that say it where no test follows, as `line: what`. */
export function readProofs(file: string, source: string): { proofs: Proof[]; faults: string[] } {
  const lines = source.split('\n');
  const open = new Set(lines.flatMap((line, index) => (/^\s*\/\/ Proves /.test(line) ? [index] : [])));
  if (open.size === 0) return { proofs: [], faults: [] };
  const proofs: Proof[] = [];
  for (const { line, titles } of testsOf(file, source)) {
    const comment: string[] = [];
    let above = line - 1;
    while (/^\s*\/\/ /.test(lines[above] ?? '')) comment.unshift(lines[above--]?.trim().slice(3) ?? '');
    const from = comment.findIndex((text) => text.startsWith('Proves '));
    if (from < 0) continue;
    open.delete(above + 1 + from);
    proofs.push({ file, title: shortTitle(titles), rules: citedIn(comment.slice(from).join(' ')) });
  }
  const empty = proofs
    .filter(({ rules }) => rules.length === 0)
    .map(({ title }) => `"${title}" cites no rule`);
  return { proofs, faults: [...[...open].map((index) => `${index + 1}: stands above no test`), ...empty] };
}

function shortTitle(titles: readonly string[]): string {
  const own = titles.at(-1) ?? '';
  return own.includes('%') || own.length < 70 ? titles.slice(-2).join(' › ') : own;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [part: string]: unknown;
}

/** Every `test`, `it` and `describe` of a file: the line it begins on, counted from 0, and its titles from the outermost. */
function testsOf(file: string, source: string): { line: number; titles: string[] }[] {
  const found: { line: number; titles: string[] }[] = [];
  const visit = (part: unknown, around: readonly string[]) => {
    if (Array.isArray(part)) for (const each of part) visit(each, around);
    if (!isNode(part)) return;
    const title = titleOf(part, source);
    const titles = title === undefined ? around : [...around, title];
    if (title !== undefined) {
      found.push({ line: source.slice(0, part.start).split('\n').length - 1, titles: [...titles] });
    }
    for (const each of Object.values(part)) if (typeof each === 'object') visit(each, titles);
  };
  visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file).body, []);
  return found;
}

function isNode(part: unknown): part is Node {
  return typeof part === 'object' && part !== null && 'type' in part && 'start' in part;
}

/** Of `it('title', …)`, `test.each(cases)('title', …)` and their like. */
function titleOf(statement: Node, source: string): string | undefined {
  if (statement.type !== 'ExpressionStatement' || !isNode(statement.expression)) return undefined;
  const { callee, arguments: given } = statement.expression;
  if (!['it', 'test', 'describe'].includes(calledName(callee)) || !Array.isArray(given)) return undefined;
  const [title] = given;
  if (!isNode(title) || !/Literal$/.test(title.type)) return undefined;
  return source.slice(title.start + 1, title.end - 1).replaceAll("\\'", "'");
}

function calledName(callee: unknown): string {
  if (!isNode(callee)) return '';
  if (callee.type === 'Identifier') return String(callee.name);
  return calledName(callee.type === 'MemberExpression' ? callee.object : callee.callee);
}

/** The rules with the tests of each, and all that is wrong with them. */
export function compareRules(
  rules: readonly Rule[],
  proofs: readonly Proof[],
  withoutTest: Readonly<Record<string, string>>,
): string[] {
  const known = new Set(rules.map(({ id }) => id));
  const proven = new Set(proofs.flatMap(({ rules: cited }) => cited));
  const unknown = proofs.flatMap(({ file, title, rules: cited }) =>
    cited.filter((id) => !known.has(id)).map((id) => `${file}: "${title}" proves ${id}, which is no rule`),
  );
  const bare = rules
    .filter(({ id }) => !proven.has(id) && withoutTest[id] === undefined)
    .map(({ id, text }) => `${id} has no test: ${text}`);
  const idle = Object.keys(withoutTest)
    .filter((id) => proven.has(id) || !known.has(id))
    .map((id) => `${id} ${known.has(id) ? 'has a test' : 'is no rule'}: take it out of WITHOUT_TEST`);
  return [...unknown, ...bare, ...idle];
}

/** The repository as it is. */
export function collectRules(): { rules: Rule[]; proofs: Proof[]; faults: string[] } {
  const files = globSync(TESTS, { exclude: (path) => IGNORED.test(`${path}/`) })
    .filter((file) => !IGNORED.test(file))
    .sort();
  const read = files.map((file) => ({ file, ...readProofs(file, readFileSync(file, 'utf8')) }));
  const rules = readRules(readFileSync(CONTRACT, 'utf8'));
  const proofs = read.flatMap((each) => each.proofs);
  const misplaced = read.flatMap(({ file, faults }) => faults.map((fault) => `${file}:${fault}`));
  return { rules, proofs, faults: [...misplaced, ...compareRules(rules, proofs, WITHOUT_TEST)] };
}

if (import.meta.main) {
  const { faults } = collectRules();
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
