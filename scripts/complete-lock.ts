import { readFile, writeFile } from 'node:fs/promises';

/**
 * `npm run lock`, after every `npm install`.
 *
 * Native tools ship one optional package a platform. npm leaves those it cannot fetch out of the lock file, and then `npm ci`
 * refuses the lock file as incomplete. Their entries follow from the package that asks for them, so they are added here; a
 * machine of another platform never fetches them.
 */
interface Entry {
  version?: string;
  optional?: boolean;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const LOCK = 'package-lock.json';
const SYSTEMS = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'aix',
  'win32',
];
const PROCESSORS = [
  'arm64',
  'arm',
  'ia32',
  'ppc64',
  'riscv64',
  's390x',
  'loong64',
  'mips64el',
  'wasm32',
  'x64',
];

const lock = JSON.parse(await readFile(LOCK, 'utf8')) as { packages: Record<string, Entry> };
const added: string[] = [];
for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (isInstalledFor(path, name)) continue;
    const platform = platformOf(name);
    if (platform === undefined) continue;
    lock.packages[`node_modules/${name}`] = { version, ...(dev ? { dev } : {}), optional: true, ...platform };
    added.push(name);
  }
}
if (added.length > 0) {
  const packages = Object.fromEntries(
    Object.entries(lock.packages).sort(([left], [right]) => left.localeCompare(right, 'en')),
  );
  await writeFile(LOCK, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`);
}
process.stdout.write(`${added.length} platform packages added to ${LOCK}\n`);

/** As node resolves it: beside the package, or in any folder above. */
function isInstalledFor(path: string, name: string): boolean {
  for (let folder = path; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const candidate = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (candidate in lock.packages) return true;
    if (!folder.includes('/node_modules/')) return `node_modules/${name}` in lock.packages;
  }
}

function platformOf(name: string): Pick<Entry, 'os' | 'cpu' | 'libc'> | undefined {
  const words = name.split(/[/-]/);
  const os = SYSTEMS.find((system) => words.includes(system));
  const cpu = PROCESSORS.find((processor) => words.includes(processor));
  if (cpu === undefined || (os === undefined && cpu !== 'wasm32')) return undefined;
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : words.some((word) => word.startsWith('gnu'))
      ? 'glibc'
      : undefined;
  return { ...(os ? { os: [os] } : {}), cpu: [cpu], ...(libc ? { libc: [libc] } : {}) };
}
