import { ERROR_CODES, errorEntry } from '../packages/protocol/src/index.ts';

/** One thing that docs/reference/contract.md says: `C4.6 rule 2`, `C3.2 row 5`, `C3.3`, `C7 QUOTE_EXPIRED`, `D6.8`, `trap 12`. */
export interface Rule {
  readonly id: string;
  /** The heading it stands under, such as `C4.6 Off-ramp and orders`. */
  readonly section: string;
  readonly text: string;
}

/** Numbered items, rows of tables and error codes; a section that has neither is one rule. */
export function readRules(contract: string): Rule[] {
  return contract
    .split(/^(?=#+ )/m)
    .filter((part) => /^#+ ([CD]\d|Traps)/.test(part))
    .flatMap(readSection);
}

function readSection(part: string): Rule[] {
  const [heading = '', ...lines] = part.split('\n');
  const section = heading.replace(/^#+ /, '');
  const [name = ''] = section.split(' ');
  const rules: { id: string; section: string; text: string }[] = [];
  const prose: string[] = [];
  for (const line of lines) {
    const [, item, sentence = ''] = /^(\d+)\. (.*)$/.exec(line) ?? [];
    const [, row, cells = ''] = /^\| (\d+) \| (.*) \|$/.exec(line) ?? [];
    const last = rules.at(-1);
    if (item !== undefined) {
      rules.push({ id: `${name}${name.startsWith('D') ? '.' : ' rule '}${item}`, section, text: sentence });
    } else if (row !== undefined) {
      const id = name === 'Traps' ? `trap ${row}` : `${name} row ${row}`;
      rules.push({ id, section, text: cells.replaceAll(/ (?<!\\)\| /g, ' → ') });
    } else if (last !== undefined && /^ {3}\S/.test(line)) last.text += ` ${line.trim()}`;
    else prose.push(line);
  }
  if (name === 'C7') rules.push(...errorRules(section));
  const text = prose.join(' ').replaceAll(/\s+/g, ' ').trim();
  return rules.length === 0 && text !== '' ? [{ id: name, section, text }] : rules;
}

function errorRules(section: string): Rule[] {
  return ERROR_CODES.map((code) => ({ code, ...errorEntry(code) }))
    .filter(({ retired }) => retired === undefined)
    .map(({ code, status, message }) => ({ id: `C7 ${code}`, section, text: `${status}: ${message}` }));
}

const NUMBERS = String.raw`\d+(?:(?:, | and | to )\d+\b(?!\.\d))*`;
/** Not inside a longer word, a path, a colour or a percent-encoded text. */
export const APART = String.raw`(?<![\w%#./-])`;
const CITATIONS = {
  contract: new RegExp(`${APART}(C\\d+(?:\\.\\d+)?)\\b(?: (rows?|rules?) (${NUMBERS}))?`, 'g'),
  code: new RegExp(`${APART}C7 ([A-Z]+(?:_[A-Z]+)*|invalid_[a-z_]+)\\b`, 'g'),
  decision: new RegExp(`${APART}(D\\d+(?:\\.\\d+)?)\\b(?: (rows?) (${NUMBERS}))?`, 'g'),
  trap: /\btraps? (\d+)\b/gi,
  record: /\bdecisions?[ /](\d{4})\b/gi,
};

/** All that a text cites, each as it is known: `C4.6 rules 2 to 4` is three rules. */
export function citedIn(text: string): string[] {
  const cited: string[] = [];
  for (const [, code = ''] of text.matchAll(CITATIONS.code)) cited.push(`C7 ${code}`);
  const line = text.replaceAll(CITATIONS.code, '');
  for (const form of [CITATIONS.contract, CITATIONS.decision]) {
    for (const [, section = '', kind, numbers] of line.matchAll(form)) {
      if (numbers === undefined) cited.push(section);
      for (const number of numbersOf(numbers ?? ''))
        cited.push(`${section} ${kind?.replace(/s$/, '')} ${number}`);
    }
  }
  for (const [, number = ''] of line.matchAll(CITATIONS.trap)) cited.push(`trap ${number}`);
  for (const [, number = ''] of line.matchAll(CITATIONS.record)) cited.push(`decision ${number}`);
  return cited;
}

/** `2 to 4` is 2, 3 and 4. */
function numbersOf(text: string): number[] {
  return [...text.matchAll(/(\d+)(?: to (\d+))?/g)].flatMap(([, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, offset) => Number(first) + offset),
  );
}
