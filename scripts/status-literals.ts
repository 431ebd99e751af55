import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import * as protocol from '../packages/protocol/src/machines/index.ts';

/**
 * Statuses belong to the tables of packages/protocol/src/machines: code asks the tables, or uses the names that they
 * export (`KYC_CLEARED`, `orderStatusesThatKnow`), and SQL gets them through `sqlWords`. A status that is spelt in SQL,
 * in a comparison or in an assignment elsewhere goes unnoticed when a table changes, so the build fails.
 */
const SOURCES = 'apps/gateway/src/**/*.ts';
const NOT_PRODUCTION = /\.test\.ts$|\/testing\//;

export interface Allowed {
  /** A file, or a folder with a slash at its end. */
  readonly path: string;
  readonly words: readonly string[];
  readonly why: string;
}

/** The same words for something else. */
const ALLOWED: readonly Allowed[] = [
  { path: 'engine/', words: ['failed'], why: 'status of an intent, written here only (not-machines.ts)' },
  { path: 'features/operators/system/stuck-effects.ts', words: ['failed'], why: 'status of an intent' },
  { path: 'features/orders/lifecycle/list-orders.store.ts', words: ['failed'], why: 'status of an intent' },
  {
    path: 'features/offers/reputation.store.ts',
    words: ['completed', 'failed'],
    why: 'outcomes that count for a vendor, as stored in counted_outcomes',
  },
  {
    path: 'features/kyc/provider/',
    words: ['completed'],
    why: 'words of an identity provider, translated here',
  },
  {
    path: 'chain/bridge/',
    words: ['pending', 'expired', 'returned'],
    why: 'words of bridges, translated here',
  },
  { path: 'features/orders/send-out/send-out.ts', words: ['failed'], why: 'status of an intent' },
  {
    path: 'features/screening/names/',
    words: ['clear', 'review'],
    why: 'results of a screening, not yet a status',
  },
  {
    path: 'features/screening/wallets/',
    words: ['clear', 'blocked'],
    why: 'results of a screening, not yet a status',
  },
  { path: 'ports/', words: ['clear', 'review', 'blocked'], why: 'results of a screening, not yet a status' },
  { path: 'features/exports/export-samples.ts', words: ['completed'], why: 'a line of an example' },
  { path: 'customer-adapters.ts', words: ['review'], why: 'result of a screening, not yet a status' },
  { path: 'lib/name-resolver.ts', words: ['rejected'], why: 'of a promise' },
  { path: 'local/', words: ['rejected'], why: 'of a promise' },
];

/** Every status of every table. Those of intents and chain transactions are words of one folder each. */
export function statusWords(): ReadonlySet<string> {
  const exported: readonly unknown[] = Object.values(protocol);
  const tables = exported.filter(isMachine).flatMap(({ statusNames }) => statusNames);
  return new Set([...tables, ...protocol.DELIVERY_STATUSES]);
}

function isMachine(value: unknown): value is { readonly statusNames: readonly string[] } {
  return typeof value === 'object' && value !== null && 'statusNames' in value && 'transitions' in value;
}

interface Literal {
  readonly word: string;
  readonly line: number;
}

const STATUS_NAME = '(?:[sS]tatus|[dD]isposition)';
/** What stands before a literal that is compared with a status or given to one. */
const BEFORE = [
  new RegExp(`${STATUS_NAME}[)\\]]*\\s*(?:===?|!==?)\\s*$`),
  new RegExp(`${STATUS_NAME}\\??:\\s*$`),
  new RegExp(`${STATUS_NAME}\\s*=\\s*$`),
  // One of two or more: `status: isLate ? 'a' : 'b'`.
  new RegExp(`${STATUS_NAME}\\??\\s*[:=][^=][^,;{}\\n]*[?:]\\s*$`),
  /(?:[sS]tatus(?:es)?|STATUSES)\w*\.(?:includes|has|indexOf)\(\s*$/,
];
/** What stands after one. */
const AFTER = [
  new RegExp(`^\\s*(?:===?|!==?)\\s*[\\w.?!]*${STATUS_NAME}\\b`),
  new RegExp(`^[^;{}()]*\\]\\.includes\\([\\w.?!]*${STATUS_NAME}\\b`),
];
const SWITCH = /switch \(([^)]*)\)(?![\s\S]*switch \()/;

/** Statuses spelt in the source of one file. */
export function statusLiterals(source: string, words: ReadonlySet<string>): Literal[] {
  return tokensOf(source).flatMap(({ text, start, end, isTemplate }) => {
    const line = source.slice(0, start).split('\n').length;
    if (isTemplate) {
      // In a template statuses are in quotes of SQL or JSON; the rest is prose and names.
      return [...text.matchAll(/(['"])(\w+)\1/g)]
        .map((found) => ({
          word: found[2] ?? '',
          line: line + text.slice(0, found.index).split('\n').length - 1,
        }))
        .filter(({ word }) => words.has(word));
    }
    if (!words.has(text)) return [];
    const before = source.slice(Math.max(0, start - 4_000), start);
    const after = source.slice(end, end + 200);
    const isCase =
      /\bcase\s*$/.test(before) && /[sS]tatus|[dD]isposition/.test(SWITCH.exec(before)?.[1] ?? '');
    const isFound = isCase || BEFORE.some((one) => one.test(before)) || AFTER.some((one) => one.test(after));
    return isFound ? [{ word: text, line }] : [];
  });
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly isTemplate: boolean;
}

/** A comment, a string, a regular expression, or the beginning, middle or end of a template. */
const NEXT =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|(?<=(?:[(,=:[!&|?;{}>\n]|\breturn)\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|[`{}]/g;

/** Strings, and the parts of templates that are text. */
function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  /** For each open brace whether a template goes on behind it. */
  const braces: boolean[] = [];
  const next = new RegExp(NEXT);
  for (let found = next.exec(source); found !== null; found = next.exec(source)) {
    const [match, single, double] = found;
    const text = single ?? double;
    if (text !== undefined) {
      tokens.push({ text, start: found.index, end: next.lastIndex, isTemplate: false });
    } else if (match === '{') {
      braces.push(false);
    } else if (match === '`' || (match === '}' && braces.pop() === true)) {
      const start = next.lastIndex;
      const { end, goesOn } = templateText(source, start);
      tokens.push({ text: source.slice(start, end), start, end, isTemplate: true });
      if (goesOn) braces.push(true);
      next.lastIndex = end + (goesOn ? 2 : 1);
    }
  }
  return tokens;
}

/** To the backtick that ends the template, or to the expression that interrupts it. */
function templateText(source: string, start: number): { readonly end: number; readonly goesOn: boolean } {
  for (let at = start; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '`') return { end: at, goesOn: false };
    else if (source.startsWith('${', at)) return { end: at, goesOn: true };
  }
  throw new Error('a template does not end');
}

/** Which permission covers a word in a file; -1 where none does. */
export function allowedBy(path: string, word: string, allowed: readonly Allowed[]): number {
  return allowed.findIndex(
    (one) =>
      (one.path.endsWith('/') ? path.startsWith(one.path) : path === one.path) && one.words.includes(word),
  );
}

/** All faults of the gateway, as `file:line: what`; permissions that nothing needs are faults too. */
export async function checkStatusLiterals(): Promise<string[]> {
  const words = statusWords();
  const used = new Set<number>();
  const faults: string[] = [];
  for (const file of globSync(SOURCES)
    .filter((path) => !NOT_PRODUCTION.test(path))
    .sort()) {
    for (const { word, line } of statusLiterals(await readFile(file, 'utf8'), words)) {
      const permission = allowedBy(file.replace('apps/gateway/src/', ''), word, ALLOWED);
      if (permission === -1) faults.push(`${file}:${line}: '${word}' is a status: take it from its table`);
      else used.add(permission);
    }
  }
  const idle = ALLOWED.filter((_, index) => !used.has(index));
  return [
    ...faults,
    ...idle.map(({ path, words: of }) => `${path} need not be allowed to say ${of.join(', ')}`),
  ];
}

if (import.meta.main) {
  const faults = await checkStatusLiterals();
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
