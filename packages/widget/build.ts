import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/**
 * Writes the package as it is published into a folder of its own: JavaScript and declarations in place of the sources, with the
 * messages of the protocol among them, so that it depends on nothing. `npm run widget:pack` makes the tarball of it.
 */
const here = import.meta.dirname;
const out = resolve(process.argv[2] ?? join(here, 'dist'));
/** Used inside the repository only. */
const INTERNAL = './wallets';

rmSync(out, { recursive: true, force: true });
const emitted = mkdtempSync(join(tmpdir(), 'causeway-widget-'));
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
execFileSync(process.execPath, [tsc, '-p', join(here, 'tsconfig.build.json'), '--outDir', emitted], {
  stdio: 'inherit',
});
const dist = join(out, 'dist');
cpSync(join(emitted, 'packages/widget/src'), dist, { recursive: true });
cpSync(join(emitted, 'packages/protocol/src/widget'), dist, { recursive: true });
rmSync(emitted, { recursive: true, force: true });

for (const file of readdirSync(dist)) {
  const text = readFileSync(join(dist, file), 'utf8')
    .replaceAll("'@causeway/protocol/widget'", "'./messages.js'")
    // Declarations keep the names of the sources; a consumer has none of them.
    .replaceAll(/((?:from|import\()\s*['"]\.\/[^'"]+)\.ts(['"])/g, '$1.js$2');
  // The script for pages without a bundler is served by the gateway.
  if (file.startsWith('script.')) rmSync(join(dist, file));
  else writeFileSync(join(dist, file), text);
}

const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')) as {
  private?: boolean;
  devDependencies?: object;
  exports: Record<string, string>;
};
const { private: _private, devDependencies: _dev, exports: sources, ...published } = manifest;
const exports = Object.entries(sources)
  .filter(([name]) => name !== INTERNAL)
  .map(([name, source]) => {
    const built = source.replace('./src/', './dist/').replace(/\.ts$/, '');
    return [name, { types: `${built}.d.ts`, default: `${built}.js` }];
  });
writeFileSync(
  join(out, 'package.json'),
  `${JSON.stringify({ ...published, exports: Object.fromEntries(exports), files: ['dist'] }, null, 2)}\n`,
);
cpSync(join(here, 'README.md'), join(out, 'README.md'));
cpSync(join(here, '../../LICENSE'), join(out, 'LICENSE'));
