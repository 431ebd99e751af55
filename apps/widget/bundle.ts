import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OutputChunk, type RolldownBuild, rolldown } from 'rolldown';
import { messagesPlugin } from './message-catalogue.ts';

const here = import.meta.dirname;
const root = join(here, '../..');
const BROWSER = {
  platform: 'browser',
  transform: { target: 'es2022', define: { 'process.env.NODE_ENV': '"production"' } },
} as const;

/** The files of a build, by their names in its folder. */
export interface WidgetFiles {
  readonly script: string;
  readonly styles: string;
  /** Chunks that the first screen needs, to be fetched at once. */
  readonly preload: readonly string[];
  /** The chunk of each language’s words; English comes with the script. */
  readonly languages: Readonly<Record<string, string>>;
  readonly loader: string;
  /** The page where a sandbox’s developers try the options. */
  readonly playground: { readonly script: string; readonly styles: string };
}

/** Writes all files of the widget into a folder and says what they are. */
export async function bundleWidget(folder: string): Promise<WidgetFiles> {
  const [application, loader, playground] = await Promise.all([
    bundleApplication(folder),
    bundleLoader(folder),
    bundlePlayground(folder),
  ]);
  return { ...application, loader, playground };
}

type Application = Pick<WidgetFiles, 'script' | 'styles' | 'preload' | 'languages'>;

export function openApplication(): Promise<RolldownBuild> {
  return rolldown({ input: { app: join(here, 'src/main.tsx') }, plugins: [messagesPlugin()], ...BROWSER });
}

async function bundleApplication(folder: string): Promise<Application> {
  const bundle = await openApplication();
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: ({ moduleIds }) => `${languageOf(moduleIds) ?? '[name]'}-[hash].js`,
    minify: true,
  });
  await bundle.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const entry = chunks.find((chunk) => chunk.isEntry);
  if (entry === undefined) throw new Error('the widget has no entry');
  const languages = chunks
    .map(({ moduleIds, fileName }) => [languageOf(moduleIds), fileName] as const)
    .filter(([language]) => language !== null)
    .toSorted();
  return {
    script: entry.fileName,
    styles: writeStyles(folder, 'app', ['src/*.css', 'src/{screens,ui}/**/*.css']),
    preload: importsOf(entry, chunks),
    languages: Object.fromEntries(languages),
  };
}

/** The language of a chunk that holds nothing but its words. */
function languageOf(moduleIds: readonly string[]): string | null {
  const languages = moduleIds.map((id) => /[\\/]i18n[\\/]messages[\\/]([^\\/]+)[\\/]/.exec(id)?.[1] ?? null);
  const [first = null] = languages;
  return languages.every((one) => one === first) ? first : null;
}

/** What a chunk needs before it runs, and what that needs: a browser would find them one after another. */
function importsOf(entry: OutputChunk, chunks: readonly OutputChunk[]): string[] {
  const found = new Set<string>();
  const waiting = [...entry.imports];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    waiting.push(...(chunks.find((chunk) => chunk.fileName === name)?.imports ?? []));
  }
  return [...found].toSorted();
}

async function bundlePlayground(folder: string): Promise<WidgetFiles['playground']> {
  const bundle = await rolldown({ input: { playground: join(here, 'src/playground/main.tsx') }, ...BROWSER });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name]-[hash].js',
    codeSplitting: false,
    minify: true,
  });
  await bundle.close();
  return {
    script: output[0].fileName,
    styles: writeStyles(folder, 'playground', ['src/playground/*.css']),
  };
}

/** One classic script that defines the element and `Causeway.mount`, for pages without a bundler. */
async function bundleLoader(folder: string): Promise<string> {
  const bundle = await rolldown({
    input: join(root, 'packages/widget/src/script.ts'),
    platform: 'browser',
    transform: { target: 'es2020' },
  });
  const { output } = await bundle.generate({ format: 'iife', minify: true });
  await bundle.close();
  writeFileSync(join(folder, 'v1.js'), output[0].code);
  return 'v1.js';
}

function writeStyles(folder: string, name: string, files: readonly string[]): string {
  const css = globSync(files, { cwd: here })
    .toSorted()
    .map((file) => minifyCss(readFileSync(join(here, file), 'utf8')))
    .join('');
  const styles = `${name}-${createHash('sha256').update(css).digest('hex').slice(0, 8)}.css`;
  writeFileSync(join(folder, styles), css);
  return styles;
}

const QUOTED = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/;

/** Without comments and needless space; what is in quotation marks stays as it is. */
export function minifyCss(css: string): string {
  return css
    .replace(new RegExp(`${QUOTED.source}|/\\*[\\s\\S]*?\\*/`, 'g'), (_, quoted?: string) => quoted ?? ' ')
    .split(QUOTED)
    .map((piece, index) => (index % 2 === 1 ? piece : minifyUnquoted(piece)))
    .join('')
    .trim();
}

function minifyUnquoted(css: string): string {
  return css
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replaceAll(';}', '}');
}
