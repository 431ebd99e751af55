import type { Rule } from '../contract-rules.ts';
import { collectRules, type Proof, WITHOUT_TEST } from '../rules.ts';

/**
 * docs/reference/conformance.md: rule by rule, the tests that prove it. They are named by file and title: the line that one
 * stands on changes with every edit.
 */
export function renderConformance(): string {
  const { rules, proofs } = collectRules();
  const sections = Map.groupBy(rules, ({ section }) => section);
  const names = namesOf([...new Set(proofs.map(({ file }) => file))]);
  const bare = Object.keys(WITHOUT_TEST).length;
  return `${[
    '# Rule by rule',
    [
      `What the [contract](contract.md) says, and the tests that prove it: ${rules.length} rules, ${proofs.length} tests and groups of tests.`,
      'Made by `npm run docs` from the contract and the tests; edit those, not this page.',
    ].join(' '),
    [
      'A rule is a numbered item, a row of a table (transitions, endpoints, events, limits, cases of money, traps) or a code of the',
      '[error catalogue](errors.md); a section that has none of these counts as one. A test says what it proves in the comment above it',
      '(`// Proves C4.6 rule 2, D6.8.`); above a group it speaks for all tests in it. It has to assert what the rule says, through the front door',
      'where the rule is about the API. `npm test` fails for a rule without a test, and for a test that cites a rule which does not exist.',
    ].join('\n'),
    'One test alone: `npx vitest run <file> -t "<last part of its name>"`.',
    `${bare} rules have no test, and say why.`,
    ...[...sections].map(([section, its]) => `## ${section}\n\n${table(its, proofs, names)}`),
    [...names].map(([file, name]) => `[${name}]: ../../${file}`).join('\n'),
  ].join('\n\n')}\n`;
}

function table(rules: readonly Rule[], proofs: readonly Proof[], names: Names): string {
  const rows = rules.map(({ id, text }) => {
    const tests = proofs
      .filter(({ rules: cited }) => cited.includes(id))
      .map(({ file, title }) => `${escaped(title)} [${names.get(file)}]`);
    const proof = WITHOUT_TEST[id] === undefined ? tests.join('<br>') : `*${WITHOUT_TEST[id]}*`;
    return `| ${id} | ${cell(text)} | ${proof} |`;
  });
  return ['| Rule | Says | Proved by |', '|---|---|---|', ...rows].join('\n');
}

/** Files by the shortest end of their path that no other one has. */
type Names = ReadonlyMap<string, string>;

function namesOf(files: readonly string[]): Names {
  const shortest = (file: string) => {
    const parts = file.split('/');
    const ends = parts.map((_, index) => parts.slice(parts.length - 1 - index).join('/'));
    return ends.find((end) => files.filter((other) => `/${other}`.endsWith(`/${end}`)).length === 1) ?? file;
  };
  return new Map(files.map((file) => [file, shortest(file)]));
}

function escaped(title: string): string {
  return cell(title.replaceAll(/[\\`*_[\]<>]/g, '\\$&'));
}

function cell(text: string): string {
  return text.replaceAll(/(?<!\\)\|/g, '\\|');
}
