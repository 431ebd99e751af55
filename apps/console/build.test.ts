import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildConsole, type ConsoleBuild, sizesOf, sourceFiles } from './build.ts';

const root = join(import.meta.dirname, '../..');
const out = mkdtempSync(join(tmpdir(), 'console-build-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

let built: ConsoleBuild;
beforeAll(async () => {
  built = await buildConsole(out);
});

/** Of script after gzip, as the first view of a desk loads it. */
const FIRST_VIEW_BYTES = 200_000;

test('the first view of every desk loads at most 200 kB of script', () => {
  const { entry, desks } = sizesOf(built);
  expect(entry, 'the script is measured').toBeGreaterThan(50_000);
  expect(Object.keys(desks)).toEqual(['partner', 'operator', 'vendor']);
  for (const [desk, bytes] of Object.entries(desks)) {
    expect(bytes, desk).toBeGreaterThan(entry);
    expect(bytes, desk).toBeLessThanOrEqual(FIRST_VIEW_BYTES);
  }
});

test('every name in the manifest is a file, and nothing names a path of this machine', () => {
  const named = [...built.scripts, ...built.styles, ...Object.values(built.desks).flat()];
  for (const name of named) expect(existsSync(join(built.folder, name)), name).toBe(true);
  for (const file of globSync('assets/*', { cwd: built.folder })) {
    const content = readFileSync(join(built.folder, file), 'utf8');
    expect(file).toMatch(/\.(js|css)$/);
    expect(content.includes(root), file).toBe(false);
    expect(content.includes('sourceMappingURL'), file).toBe(false);
  }
});

test('a desk loads nothing of another desk, and no schema of the protocol', () => {
  const scripts = globSync('assets/*.js', { cwd: built.folder });
  const texts = new Map(scripts.map((name) => [name, readFileSync(join(built.folder, name), 'utf8')]));
  const first = (desk: string) => [...built.scripts, ...(built.desks[desk] ?? [])];
  const home = (desk: string) => built.desks[desk]?.at(-1) ?? '';
  expect(new Set([home('partner'), home('operator'), home('vendor')]).size).toBe(3);
  expect(first('partner')).not.toContain(home('operator'));
  expect(first('vendor')).not.toContain(home('partner'));
  for (const [name, text] of texts) expect(text.includes('ISO 8601 with a time zone'), name).toBe(false);
});

test('what the build depends on is in its digest, tests are not', () => {
  const sources = sourceFiles();
  expect(sources).toContain('apps/console/src/main.tsx');
  expect(sources).toContain('packages/protocol/src/console/access.ts');
  expect(sources.some((file) => file.endsWith('.test.ts'))).toBe(false);
});
