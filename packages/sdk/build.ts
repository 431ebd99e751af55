import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

/**
 * Writes the package as it is published into a folder of its own: JavaScript and declarations in place of the sources, and a
 * package.json that names them. `npm run sdk:pack` makes the tarball of it (decision 0042).
 */
const here = import.meta.dirname;
const out = resolve(process.argv[2] ?? join(here, 'dist'));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
execFileSync(
  process.execPath,
  [tsc, '-p', join(here, 'tsconfig.build.json'), '--outDir', join(out, 'dist')],
  {
    stdio: 'inherit',
  },
);

// Declarations keep the names of the sources; a consumer has none of them.
for (const file of globSync('dist/**/*.d.ts', { cwd: out })) {
  const text = readFileSync(join(out, file), 'utf8');
  writeFileSync(
    join(out, file),
    text.replaceAll(/((?:from|import\()\s*['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2'),
  );
}

const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')) as {
  private?: boolean;
  exports: Record<string, string>;
};
const { private: _private, exports: sources, ...published } = manifest;
const exports = Object.entries(sources).map(([name, source]) => {
  const built = source.replace('./src/', './dist/').replace(/\.ts$/, '');
  return [name, { types: `${built}.d.ts`, default: `${built}.js` }];
});
writeFileSync(
  join(out, 'package.json'),
  `${JSON.stringify({ ...published, exports: Object.fromEntries(exports), files: ['dist', 'METHODS.md'] }, null, 2)}\n`,
);
for (const page of ['README.md', 'METHODS.md']) cpSync(join(here, page), join(out, page));
cpSync(join(here, '../../LICENSE'), join(out, 'LICENSE'));
