import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type InstalledPackages,
  installPacked,
  packageProblems,
} from '../../../test/harness/packed-package.ts';

const run = promisify(execFile);
const WIDGET = join(import.meta.dirname, '..');
let installed: InstalledPackages;

beforeAll(async () => {
  installed = await installPacked([WIDGET]);
}, 60_000);
afterAll(() => installed?.remove());

test('the tarball is sound and depends on nothing', async () => {
  const tarball = installed.tarballs.get('@causeway/widget') ?? '';
  // Without react of its own the types of ./react cannot be followed further; they are there and fit.
  expect(await packageProblems(tarball)).toEqual([]);
  const folder = installed.folderOf('@causeway/widget');
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest).not.toHaveProperty('private');
  expect(Object.keys(manifest.exports as object)).toEqual(['.', './react']);
  const files = await readdir(join(folder, 'dist'));
  expect(files).toContain('messages.d.ts');
  for (const file of files) {
    expect(await readFile(join(folder, 'dist', file), 'utf8'), file).not.toMatch(
      /@causeway\/protocol|\.ts['"]/,
    );
  }
});

test('importing it on a server does no harm, and defining the element there is nothing', async () => {
  const file = join(installed.project, 'server.mjs');
  await writeFile(
    file,
    `import { CausewayRamp, defineElement, mount } from '@causeway/widget';
defineElement();
defineElement();
console.log(typeof mount, typeof CausewayRamp);\n`,
  );
  const { stdout } = await run(process.execPath, [file]);
  expect(stdout).toBe('function function\n');
});
