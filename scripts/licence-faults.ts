import { readFile } from 'node:fs/promises';
import { LOCK, type LockEntry, type LockFile } from './lock-faults.ts';

/**
 * Every package of the lock file must be under a licence that lets Causeway be used, changed and sold under Apache-2.0 without
 * conditions beyond naming the author. Others are taken one by one, with the reason why their conditions are kept.
 */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['MIT', 'MIT-0', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0'],
  ...['Unlicense', 'CC0-1.0', 'Zlib', 'Python-2.0'],
]);

export interface LicenceException {
  readonly name: RegExp;
  readonly licence: string;
  /** Refused where a production install would bring the package, too. */
  readonly developmentOnly: boolean;
  readonly reason: string;
}

const EXCEPTIONS: readonly LicenceException[] = [
  {
    name: /^axe-core$/,
    licence: 'MPL-2.0',
    developmentOnly: true,
    reason: 'runs unchanged inside the browser tests; no part of what is built or published',
  },
  {
    name: /^lightningcss(-|$)/,
    licence: 'MPL-2.0',
    developmentOnly: true,
    reason: 'shrinks style sheets while the widget and the console are built, unchanged',
  },
  {
    name: /^caniuse-lite$/,
    licence: 'CC-BY-4.0',
    developmentOnly: true,
    reason: 'a table of browsers that a build tool reads; its contents are not passed on',
  },
  {
    name: /^@safe-global\/safe-contracts$/,
    licence: 'LGPL-3.0',
    developmentOnly: true,
    reason:
      'the published bytecode of Safe is deployed as it is; our contracts call it and contain nothing of it',
  },
];

interface LicencedEntry extends LockEntry {
  readonly license?: string;
  readonly dev?: boolean;
}

/** Answers the licence that an installed package itself names, where the lock file has none. */
export type InstalledLicence = (path: string) => string | undefined;

/** One sentence for each fault, naming the package. */
export function licenceFaults(
  { packages }: LockFile,
  installed: InstalledLicence,
  exceptions: readonly LicenceException[] = EXCEPTIONS,
): string[] {
  const used = new Set<LicenceException>();
  const faults = Object.entries<LicencedEntry>(packages).flatMap(([path, entry]) => {
    if (!path.includes('node_modules/') || entry.link === true) return [];
    const licence = entry.license ?? installed(path);
    if (licence === undefined) return [`${path} names no licence`];
    if (isAllowed(licence)) return [];
    const name = nameOf(path);
    const exception = exceptions.find((one) => one.name.test(name) && one.licence === licence);
    if (exception === undefined) return [`${path} is under ${licence}, which is not allowed`];
    used.add(exception);
    return exception.developmentOnly && entry.dev !== true
      ? [`${path} (${licence}) is allowed for development only, and a production install brings it`]
      : [];
  });
  const stale = exceptions.filter((exception) => !used.has(exception));
  return [
    ...faults,
    ...stale.map(({ name }) => `${name} is excepted in scripts/licence-faults.ts and not needed`),
  ];
}

/** Reads the lock file of the working folder. */
export async function checkLicences(): Promise<string[]> {
  const lock = JSON.parse(await readFile(LOCK, 'utf8')) as LockFile;
  const silent = Object.entries<LicencedEntry>(lock.packages).filter(([, { license }]) => !license);
  const manifests = await Promise.all(
    silent.map(async ([path]) => [path, await readManifest(path)] as const),
  );
  const byPath = new Map(manifests);
  return licenceFaults(lock, (path) => byPath.get(path));
}

/** Before `license` there was `licenses`, a list. */
async function readManifest(path: string): Promise<string | undefined> {
  const text = await readFile(`${path}/package.json`, 'utf8').catch(() => '{}');
  const { license, licenses } = JSON.parse(text) as {
    readonly license?: string;
    readonly licenses?: readonly { readonly type: string }[];
  };
  return license ?? licenses?.map(({ type }) => type).join(' OR ');
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** An expression of SPDX: one of the sides of OR is enough, both of AND are needed, brackets go first. */
export function isAllowed(expression: string): boolean {
  const words = expression.replaceAll(/[()]/g, ' $& ').trim().split(/\s+/);
  let at = 0;
  const next = () => words[at]?.toUpperCase();

  function either(): boolean {
    let allowed = both();
    while (next() === 'OR') {
      at += 1;
      const other = both();
      allowed ||= other;
    }
    return allowed;
  }
  function both(): boolean {
    let allowed = one();
    while (next() === 'AND') {
      at += 1;
      const other = one();
      allowed &&= other;
    }
    return allowed;
  }
  function one(): boolean {
    const word = words[at] ?? '';
    at += 1;
    if (word !== '(') return ALLOWED.has(word);
    const allowed = either();
    const isClosed = words[at] === ')';
    at += 1;
    return allowed && isClosed;
  }

  const allowed = either();
  // What is left over was not understood.
  return allowed && at === words.length;
}
