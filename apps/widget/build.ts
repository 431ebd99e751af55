import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { WidgetFiles } from './bundle.ts';

/**
 * Builds what the gateway serves under /widget: the loader that pages embed (`v1.js`), and the application with its chunks.
 * It is built when it is first needed and after a change of its sources, and never committed. Several processes may build at
 * once: each writes a folder of its own and the first to finish gives it its name.
 */
export interface WidgetBuild extends WidgetFiles {
  /** Where the files are. */
  readonly folder: string;
}

const NOT_BUILT = 'The widget is not built. Run `npm run widget:build` where all dependencies are installed.';

const here = import.meta.dirname;
const root = join(here, '../..');
/** All that the result depends on; the lock file stands for what comes from others. A test holds the bundle’s modules to it. */
const SOURCES = [
  'package-lock.json',
  'apps/widget/{*.ts,package.json,src/**/*.*}',
  'packages/widget/{package.json,src/**/*.*}',
  'packages/{protocol,sdk}/{package.json,src/**/*.ts}',
];

export async function buildWidget(out = join(here, 'dist')): Promise<WidgetBuild> {
  const folder = join(out, digestOfSources());
  const manifest = join(folder, 'manifest.json');
  if (!existsSync(manifest)) await buildInto(folder);
  return { folder, ...(JSON.parse(readFileSync(manifest, 'utf8')) as WidgetFiles) };
}

/** From the root of the repository, with forward slashes. */
export function sourceFiles(): string[] {
  return globSync(SOURCES, { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !/\.test\.tsx?$|\.md$/.test(file))
    .toSorted();
}

function digestOfSources(): string {
  const hash = createHash('sha256');
  for (const file of sourceFiles()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

async function buildInto(folder: string): Promise<void> {
  const { bundleWidget } = await bundler();
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    writeFileSync(join(draft, 'manifest.json'), JSON.stringify(await bundleWidget(draft)));
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process was quicker; what it built is the same.
    if (!existsSync(join(folder, 'manifest.json'))) throw error;
  }
}

/** Loaded here only: a production install has no bundler, and serves what was built before. */
async function bundler(): Promise<typeof import('./bundle.ts')> {
  try {
    return await import('./bundle.ts');
  } catch (cause) {
    throw new Error(NOT_BUILT, { cause });
  }
}

/** Bytes after gzip, as a browser fetches them. */
export interface WidgetSizes {
  readonly loader: number;
  /** The script and what it imports at once: all that runs before the first screen, in English. */
  readonly firstLoad: number;
  /** Every script of the application but the words of the other languages. */
  readonly all: number;
  readonly styles: number;
  readonly files: Readonly<Record<string, number>>;
}

export function sizesOf(built: WidgetBuild): WidgetSizes {
  const { folder, script, styles, preload, languages, loader, playground } = built;
  const names = globSync('*.{js,css}', { cwd: folder }).toSorted();
  const files = Object.fromEntries(
    names.map((name) => [name, gzipSync(readFileSync(join(folder, name))).length]),
  );
  const sum = (of: readonly string[]) => of.reduce((total, name) => total + (files[name] ?? 0), 0);
  const apart = [loader, playground.script, ...Object.values(languages)];
  return {
    loader: sum([loader]),
    firstLoad: sum([script, ...preload]),
    all: sum(names.filter((name) => name.endsWith('.js') && !apart.includes(name))),
    styles: sum([styles]),
    files,
  };
}

if (process.argv[1] === import.meta.filename) {
  const built = await buildWidget();
  const { files, ...sums } = sizesOf(built);
  const line = ([name, bytes]: readonly [string, number]) =>
    `${(bytes / 1_000).toFixed(1).padStart(7)} kB  ${name}\n`;
  process.stdout.write(`${relative(process.cwd(), built.folder)}, gzip\n`);
  process.stdout.write(Object.entries(files).map(line).join(''));
  process.stdout.write(`together\n${Object.entries(sums).map(line).join('')}`);
}
