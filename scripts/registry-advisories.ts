import type { Advisory, AdvisorySnapshot } from './advisory-faults.ts';
import { nameOf } from './licence-faults.ts';
import type { LockFile } from './lock-faults.ts';

/** What a registry answers to the question that `npm audit` asks: the advisories about these versions, by package. */
type BulkAnswer = Readonly<
  Record<
    string,
    readonly {
      readonly url: string;
      readonly title: string;
      readonly severity: Advisory['severity'];
      readonly vulnerable_versions: string;
    }[]
  >
>;

const BULK_PATH = '-/npm/v1/security/advisories/bulk';
const TIMEOUT_MS = 60_000;

/** Name and versions of everything that comes from a registry. */
export function versionsIn({ packages }: LockFile): Record<string, string[]> {
  const versions = new Map<string, Set<string>>();
  for (const [path, { version, link }] of Object.entries(packages)) {
    if (!path.includes('node_modules/') || link === true || version === undefined) continue;
    const name = nameOf(path);
    versions.set(name, (versions.get(name) ?? new Set()).add(version));
  }
  return Object.fromEntries([...versions].map(([name, all]) => [name, [...all].sort()]));
}

/** Throws where the registry does not answer that question: some mirrors serve packages only. */
export async function askRegistry(registry: string, lock: LockFile): Promise<Advisory[]> {
  const answer = await fetch(new URL(BULK_PATH, registry.endsWith('/') ? registry : `${registry}/`), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(versionsIn(lock)),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!answer.ok) throw new Error(`the registry answers ${answer.status} to the question for advisories`);
  const byPackage = (await answer.json()) as BulkAnswer;
  return Object.entries(byPackage).flatMap(([name, advisories]) =>
    advisories.map(({ url, title, severity, vulnerable_versions: vulnerable }) => ({
      id: url.slice(url.lastIndexOf('/') + 1),
      package: name,
      vulnerable,
      severity,
      title,
    })),
  );
}

/** A registry answers for the versions it is asked about only: what was known before stays known. */
export function withAnswer(
  before: AdvisorySnapshot,
  answered: readonly Advisory[],
  today: string,
): AdvisorySnapshot {
  const keyOf = (one: Advisory) => `${one.package} ${one.id}`;
  const all = new Map([...before.advisories, ...answered].map((one) => [keyOf(one), one]));
  return {
    takenAt: today,
    source:
      'the registry’s bulk advisory endpoint, for the versions of the lock file; older entries are kept',
    advisories: [...all.values()].sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1)),
  };
}
