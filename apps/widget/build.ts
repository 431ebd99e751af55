import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Built, buildWhenNeeded, sourceFilesOf } from '@causeway/app-build';
import type { WidgetFiles } from './bundle.ts';

/** Builds what the gateway serves under /widget: the loader that pages embed (`v1.js`), and the application with its chunks. */
export type WidgetBuild = Built<WidgetFiles>;

const here = import.meta.dirname;
/** A test holds the bundle’s modules to it. */
const SOURCES = [
  'package-lock.json',
  'apps/widget/{*.ts,package.json,src/**/*.*}',
  'packages/widget/{package.json,src/**/*.*}',
  'packages/{protocol,sdk}/{package.json,src/**/*.ts}',
];

export function buildWidget(out = join(here, 'dist')): Promise<WidgetBuild> {
  return buildWhenNeeded({
    sources: SOURCES,
    out,
    bundler: async () => (await import('./bundle.ts')).bundleWidget,
    notBuilt: 'The widget is not built. Run `npm run widget:build` where all dependencies are installed.',
  });
}

/** From the root of the repository, with forward slashes. */
export const sourceFiles = (): string[] => sourceFilesOf(SOURCES);

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
