import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Built, buildWhenNeeded, sourceFilesOf } from '@causeway/app-build';
import type { ConsoleFiles } from './bundle.ts';

/** Builds what the gateway serves under /console. */
export type ConsoleBuild = Built<ConsoleFiles>;

const here = import.meta.dirname;
const SOURCES = [
  'package-lock.json',
  'apps/console/{*.ts,package.json,src/**/*.*}',
  'packages/{protocol,sdk,widget}/{package.json,src/**/*.ts}',
];

export function buildConsole(out = join(here, 'dist')): Promise<ConsoleBuild> {
  return buildWhenNeeded({
    sources: SOURCES,
    out,
    bundler: async () => (await import('./bundle.ts')).bundleConsole,
    notBuilt: 'The console is not built. Run `npm run console:build` where all dependencies are installed.',
  });
}

/** From the root of the repository, with forward slashes. */
export const sourceFiles = (): string[] => sourceFilesOf(SOURCES);

/** Bytes of script and styles after gzip, as a browser fetches them. */
export interface ConsoleSizes {
  /** The sign-in page: what every first visit loads. */
  readonly entry: number;
  /** The first page of each desk, the entry included. */
  readonly desks: Readonly<Record<string, number>>;
  readonly styles: number;
  readonly all: number;
}

export function sizesOf(built: ConsoleBuild): ConsoleSizes {
  const size = (name: string) => gzipSync(readFileSync(join(built.folder, name))).length;
  const sum = (names: Iterable<string>) => [...new Set(names)].reduce((total, name) => total + size(name), 0);
  const scripts = globSync('assets/*.js', { cwd: built.folder });
  return {
    entry: sum(built.scripts),
    desks: Object.fromEntries(
      Object.entries(built.desks).map(([desk, names]) => [desk, sum([...built.scripts, ...names])]),
    ),
    styles: sum(built.styles),
    all: sum(scripts),
  };
}

if (process.argv[1] === import.meta.filename) {
  const built = await buildConsole();
  process.stdout.write(
    `${relative(process.cwd(), built.folder)}, gzip\n${JSON.stringify(sizesOf(built), null, 2)}\n`,
  );
}
