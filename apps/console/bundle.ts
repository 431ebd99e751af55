import { join } from 'node:path';
import { build } from 'vite';

/** What the page has to name: everything else is loaded by the scripts themselves. */
export interface ConsoleFiles {
  /** The script of the page first, then what it imports at once. */
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
  /** By desk: what its first page loads beyond that. */
  readonly desks: Readonly<Record<string, readonly string[]>>;
}

interface ManifestEntry {
  readonly file: string;
  readonly src?: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly css?: readonly string[];
}

const ENTRY = 'src/main.tsx';
/** The first page of each desk, as the router loads it. */
const FIRST_PAGES: Readonly<Record<string, readonly string[]>> = {
  partner: ['src/shell/shell.tsx', 'src/desks/partner/home.tsx'],
  operator: ['src/shell/shell.tsx', 'src/desks/operator/queue.tsx'],
  vendor: ['src/shell/shell.tsx', 'src/desks/vendor/orders.tsx'],
};

/** Libraries bring two builds and choose by this variable: a process that has another value must not get the wrong one. */
async function inProduction<T>(work: () => Promise<T>): Promise<T> {
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    return await work();
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
}

export async function bundleConsole(folder: string): Promise<ConsoleFiles> {
  const result = await inProduction(() =>
    build({
      root: import.meta.dirname,
      configFile: false,
      logLevel: 'warn',
      base: '/console/',
      publicDir: false,
      build: {
        outDir: folder,
        emptyOutDir: false,
        target: 'es2022',
        // No data: addresses: the policy of the page takes files only.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        cssCodeSplit: true,
        manifest: 'vite.json',
        reportCompressedSize: false,
        rolldownOptions: {
          input: join(import.meta.dirname, ENTRY),
          // Libraries mark their files for servers that render; there is none here.
          checks: { pluginTimings: false },
          onLog: (level, log, next) => {
            if (log.code !== 'MODULE_LEVEL_DIRECTIVE') next(level, log);
          },
        },
      },
    }),
  );
  const output = [result].flat().flatMap((one) => ('output' in one ? one.output : []));
  const asset = output.find(({ fileName }) => fileName === 'vite.json');
  if (asset?.type !== 'asset') throw new Error('the build of the console has no manifest');
  const manifest = JSON.parse(String(asset.source)) as Record<string, ManifestEntry>;
  return {
    ...filesOf(manifest, [ENTRY]),
    desks: Object.fromEntries(
      Object.entries(FIRST_PAGES).map(([desk, pages]) => [desk, filesOf(manifest, pages).scripts]),
    ),
  };
}

function filesOf(manifest: Readonly<Record<string, ManifestEntry>>, names: readonly string[]) {
  const scripts = new Set<string>();
  const styles = new Set<string>();
  const visit = (name: string): void => {
    const entry = manifest[name];
    if (entry === undefined) throw new Error(`the build of the console has no ${name}`);
    if (scripts.has(entry.file)) return;
    scripts.add(entry.file);
    for (const style of entry.css ?? []) styles.add(style);
    for (const imported of entry.imports ?? []) visit(imported);
  };
  for (const name of names) visit(name);
  return { scripts: [...scripts], styles: [...styles] };
}
