import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { readProgram } from './program.ts';
import { listSites, type Site } from './sites.ts';

/** The committed list of sites: a change of it shows in a review which failpoints a change of the code adds or removes. */
export const LIST = new URL('./failpoints.json', import.meta.url);
const PATH = 'test/failpoints/failpoints.json';

/** Each site has two failpoints. Before a commit: its statement is about to be sent. After: it was answered. */
export function failpointsOf(sites: readonly Site[]): string[] {
  return sites.flatMap(({ name }) => [`before ${name}`, `after ${name}`]);
}

export function renderList(sites: readonly Site[]): string {
  return `${JSON.stringify(sites, null, 2)}\n`;
}

export function writeList(): readonly Site[] {
  const sites = listSites(readProgram());
  writeFileSync(LIST, renderList(sites));
  return sites;
}

export function readList(): Site[] {
  return JSON.parse(readFileSync(LIST, 'utf8')) as Site[];
}

/** Against the last commit, or what its argument names: the branch that a change is for. */
export function changedSince(
  revision: string,
  sites: readonly Site[],
): { added: string[]; removed: string[] } {
  const names = new Set(sites.map(({ name }) => name));
  const known = new Set(committedList(revision).map(({ name }) => name));
  return {
    added: [...names].filter((name) => !known.has(name)),
    removed: [...known].filter((name) => !names.has(name)),
  };
}

function committedList(revision: string): Site[] {
  try {
    const text = execFileSync('git', ['show', `${revision}:${PATH}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return JSON.parse(text) as Site[];
  } catch {
    // No repository, or none that had the list.
    return [];
  }
}
