import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Writes the package as it is published into a folder of its own: one entry, a chunk for each command that is loaded when it
 * is called, and nothing to install beside it. `npm run cli:pack` makes the tarball of it (decision 0043).
 */
const here = import.meta.dirname;
const out = resolve(process.argv[2] ?? join(here, 'dist'));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const bundle = await rolldown({
  input: { causeway: join(here, 'src/main.ts') },
  platform: 'node',
  transform: { target: 'node20' },
});
const { output } = await bundle.write({
  dir: join(out, 'dist'),
  format: 'esm',
  chunkFileNames: '[name]-[hash].js',
  minify: true,
});
await bundle.close();
// What is not bundled would be missing where it is installed.
const outside = output
  .flatMap((chunk) => (chunk.type === 'chunk' ? [...chunk.imports, ...chunk.dynamicImports] : []))
  .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name))
  .filter((name) => !output.some(({ fileName }) => fileName === name));
if (outside.length > 0) throw new Error(`not in the bundle: ${outside.join(', ')}`);
const entry = join(out, 'dist/causeway.js');
chmodSync(entry, 0o755);

const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')) as Record<string, unknown>;
const { private: _private, dependencies: _bundled, bin: _source, ...published } = manifest;
writeFileSync(
  join(out, 'package.json'),
  `${JSON.stringify({ ...published, bin: { causeway: 'dist/causeway.js' }, files: ['dist'] }, null, 2)}\n`,
);
cpSync(join(here, 'README.md'), join(out, 'README.md'));
cpSync(join(here, '../../LICENSE'), join(out, 'LICENSE'));
