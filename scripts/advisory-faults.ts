import { readFile } from 'node:fs/promises';
import { satisfies, validRange } from 'semver';
import { nameOf } from './licence-faults.ts';
import { LOCK, type LockFile } from './lock-faults.ts';

/**
 * No package of the lock file may be one that is known to be vulnerable. What is known is in the repository, so that the check
 * needs no network: scripts/data/advisories.json, brought up to date by `npm run advisories`.
 */
export interface Advisory {
  /** As the advisory database of GitHub, npm's source, calls it. */
  readonly id: string;
  readonly package: string;
  /** A range as npm reads it. */
  readonly vulnerable: string;
  readonly severity: 'low' | 'moderate' | 'high' | 'critical';
  readonly title: string;
}

export interface AdvisorySnapshot {
  /** When and from where, for the reader: a snapshot knows nothing of later days. */
  readonly takenAt: string;
  readonly source: string;
  readonly advisories: readonly Advisory[];
}

export interface AdvisoryException {
  readonly id: string;
  readonly reason: string;
}

export const SNAPSHOT = 'scripts/data/advisories.json';

/** Advisories about packages we keep, and why they do not concern us. None at present. */
const EXCEPTIONS: readonly AdvisoryException[] = [];

/** One sentence for each fault, naming package and advisory. */
export function advisoryFaults(
  { packages }: LockFile,
  { advisories }: AdvisorySnapshot,
  exceptions: readonly AdvisoryException[] = EXCEPTIONS,
): string[] {
  const used = new Set<string>();
  const unreadable = advisories
    .filter(({ vulnerable }) => validRange(vulnerable) === null)
    .map(({ id, vulnerable }) => `${id} has no range that can be read: ${vulnerable}`);
  const faults = Object.entries(packages).flatMap(([path, { version, link }]) => {
    if (!path.includes('node_modules/') || link === true || version === undefined) return [];
    const found = advisories.filter(
      (one) =>
        one.package === nameOf(path) && satisfies(version, one.vulnerable, { includePrerelease: true }),
    );
    return found.flatMap(({ id, severity, title, vulnerable }) => {
      used.add(id);
      if (exceptions.some((one) => one.id === id)) return [];
      return [`${path} ${version} is in ${vulnerable} of ${id} (${severity}): ${title}`];
    });
  });
  const stale = exceptions
    .filter(({ id }) => !used.has(id))
    .map(({ id }) => `${id} is excepted in scripts/advisory-faults.ts and concerns no package`);
  return [...unreadable, ...faults, ...stale];
}

export async function readSnapshot(): Promise<AdvisorySnapshot> {
  return JSON.parse(await readFile(SNAPSHOT, 'utf8')) as AdvisorySnapshot;
}

export async function readLock(): Promise<LockFile> {
  return JSON.parse(await readFile(LOCK, 'utf8')) as LockFile;
}

/** Reads lock file and snapshot of the working folder. */
export async function checkAdvisories(): Promise<string[]> {
  return advisoryFaults(await readLock(), await readSnapshot());
}
