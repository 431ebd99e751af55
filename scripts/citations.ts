import { globSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { APART, citedIn, readRules } from './contract-rules.ts';

/**
 * Comments, tests and documents cite the rules of docs/reference/contract.md (`C3.2 row 5`, `D13.4`, `trap 12`) and the
 * records of docs/decisions (`decision 0005`); documents also link to each other and name files. What leads nowhere
 * tells its reader nothing, so the build fails.
 */
const CONTRACT = 'docs/reference/contract.md';
const SOURCES = [
  '{apps,backends,packages,contracts,test,bench,scripts,docs,examples}/**/*.{ts,tsx,sql,sol,md}',
  '{README,CONTRIBUTING}.md',
];
/** This check and its test spell citations that do not resolve. */
const IGNORED = /(^|\/)(node_modules|generated)\/|^scripts\/citations(\.test)?\.ts$/;

/** Without a placeholder or a pattern in it; a decision record may be named by its number alone. */
const NAMED_PATH =
  /`((?!docs\/decisions\/\d{4}`)(?:apps|backends|packages|contracts|test|bench|scripts|docs|examples)\/[\w./-]*)`/g;
/** A file of the gateway, as documents shorten it. */
const GATEWAY = 'apps/gateway/src';
const GATEWAY_FILE = /`((?:lib|db|engine|chain|upstream|http|local)\/[\w./-]+\.ts)`/g;
/** Spelt otherwise, a rule cannot be searched for. */
const MISSPELT: readonly { readonly pattern: RegExp; readonly form: string }[] = [
  { pattern: /\bcontract,? (?:section |§ ?)?[1-9](?:\.\d+)?\b(?!\.\d)/gi, form: 'C3.1' },
  { pattern: /\bdecisions? \d{1,2}\b(?!\.\d)/gi, form: 'D6' },
  { pattern: new RegExp(`${APART}[CD] \\d+\\.\\d+\\b`, 'g'), form: 'C3.1' },
];

/** What can be cited: `C3.2`, `C3.2 row 5`, `C4.6 rule 2`, `C7 CODE`, `D6`, `D6.4`, `D1 row 2`, `trap 12`, `decision 0005`. */
export type Anchors = ReadonlySet<string>;

/** Sections, their rules, and records of decisions. */
export function readAnchors(contract: string, records: readonly string[]): Anchors {
  return new Set([
    ...[...contract.matchAll(/^#+ ([CD]\d\S*)/gm)].map(([, section = '']) => section),
    ...readRules(contract).map(({ id }) => id),
    ...records.map((record) => `decision ${record.slice(0, 4)}`),
  ]);
}

/** Every fault of one text, as `line: what`. */
export function citationFaults(text: string, anchors: Anchors): string[] {
  return text.split('\n').flatMap((line, index) => {
    const missing = citedIn(line)
      .filter((cited) => !anchors.has(cited))
      .map((cited) => `${cited} is not in ${cited.startsWith('decision') ? 'docs/decisions' : CONTRACT}`);
    const misspelt = MISSPELT.flatMap(({ pattern, form }) =>
      [...line.matchAll(pattern)].map(([found]) => `"${found}": write it like ${form}`),
    );
    return [...missing, ...misspelt].map((fault) => `${index + 1}: ${fault}`);
  });
}

/** What a document points to: the targets of its links, and in backticks the files and folders of this repository. */
export function targetsOf(document: string, text: string): { line: number; path: string; anchor?: string }[] {
  return withoutCodeBlocks(text).flatMap((line, index) => {
    const links = [...line.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target);
    const linked = links
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => {
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? document : join(dirname(document), path);
        return { line: index + 1, path: file, ...(anchor === undefined ? {} : { anchor }) };
      });
    const named = [
      ...[...line.matchAll(NAMED_PATH)].map(([, path = '']) => path),
      ...[...line.matchAll(GATEWAY_FILE)].map(([, path = '']) => join(GATEWAY, path)),
    ];
    return [...linked, ...named.map((path) => ({ line: index + 1, path }))];
  });
}

/** The anchors of a page's headings, as GitHub makes them. */
export function headingAnchors(text: string): string[] {
  return withoutCodeBlocks(text).flatMap((line) => {
    const heading = /^#+ (.+)$/.exec(line)?.[1];
    if (heading === undefined) return [];
    return [
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ];
  });
}

/** The lines of a page; those of code blocks are empty. */
function withoutCodeBlocks(text: string): string[] {
  let inBlock = false;
  return text.split('\n').map((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) inBlock = !inBlock;
    return isFence || inBlock ? '' : line;
  });
}

async function linkFaults(document: string, text: string): Promise<string[]> {
  const faults = await Promise.all(
    targetsOf(document, text).map(async ({ line, path, anchor }) => {
      const isThere = await access(path).then(
        () => true,
        () => false,
      );
      if (!isThere) return [`${line}: ${path} does not exist`];
      if (anchor === undefined || headingAnchors(await readFile(path, 'utf8')).includes(anchor)) return [];
      return [`${line}: ${path} has no heading #${anchor}`];
    }),
  );
  return faults.flat();
}

/** All faults of the repository, as `file:line: what`. */
export async function checkCitations(): Promise<string[]> {
  const records = globSync('*.md', { cwd: 'docs/decisions' });
  const anchors = readAnchors(await readFile(CONTRACT, 'utf8'), records);
  const files = globSync(SOURCES, { exclude: (path) => IGNORED.test(`${path}/`) });
  const checked = files.filter((file) => !IGNORED.test(file)).sort();
  const faults = await Promise.all(
    checked.map(async (file) => {
      const text = await readFile(file, 'utf8');
      const links = file.endsWith('.md') ? await linkFaults(file, text) : [];
      return [...citationFaults(text, anchors), ...links].map((fault) => `${file}:${fault}`);
    }),
  );
  return faults.flat();
}

if (import.meta.main) {
  const faults = await checkCitations();
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
