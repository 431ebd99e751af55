import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installed } from '../../../test/harness/installed.ts';
import { VERSION } from './version.ts';

const run = promisify(execFile);
const CLI = join(import.meta.dirname, '..');

/** The Node of this run, and the oldest that is supported where the machine has it. */
const NODES = [
  process.execPath,
  ...installed('node')
    .filter(({ major }) => major === 20)
    .slice(0, 1)
    .map(({ path }) => path),
];

describe('the package as it is published', () => {
  let project: string;
  let packed: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'causeway-cli-package-'));
    packed = join(project, 'packed');
    await run(process.execPath, [join(CLI, 'build.ts'), packed]);
    await writeFile(join(project, 'package.json'), '{ "private": true }');
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project, packed]);
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(project, filename)], {
      cwd: project,
    });
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  it('is alone: no dependency, no sources, a program that can be started, a chunk a command', async () => {
    const folder = join(project, 'node_modules/@causeway/cli');
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    expect([manifest.dependencies, manifest.private, manifest.version]).toEqual([
      undefined,
      undefined,
      VERSION,
    ]);
    expect(await readdir(join(project, 'node_modules'))).toEqual(['.bin', '.package-lock.json', '@causeway']);
    const files = await readdir(folder, { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/causeway.js']),
    );
    expect(files.filter((file) => /\.(ts|map)$/.test(file))).toEqual([]);
    for (const command of ['doctor', 'login', 'orders', 'completion']) {
      expect(files.filter((file) => file.startsWith(`dist/${command}-`)).length, command).toBeGreaterThan(0);
    }
    const entry = await readFile(join(folder, 'dist/causeway.js'), 'utf8');
    expect(entry.startsWith('#!/usr/bin/env node\n')).toBe(true);
    const program = await realpath(join(project, 'node_modules/.bin/causeway'));
    expect((await stat(program)).mode & 0o111).toBe(0o111);
  });

  it.each(NODES)('runs on %s', async (node) => {
    const program = join(project, 'node_modules/.bin/causeway');
    const env = {
      PATH: process.env.PATH,
      CAUSEWAY_CONFIG_DIR: project,
      CAUSEWAY_BASE_URL: 'http://127.0.0.1:9',
    };
    const call = (...argv: string[]) => run(node, [program, ...argv], { cwd: project, env });
    expect((await call('--version')).stdout).toBe(`${VERSION}\n`);
    const { stdout, stderr } = await call('--help');
    expect([stdout, stderr]).toEqual([expect.stringContaining('orders watch ORDER'), '']);
    const away = await call('orders', 'show', 'x', '--json').catch((error) => error);
    // A command's own chunk is loaded, and the client in it tells that there is no key.
    expect([away.code, JSON.parse(away.stderr).error.exit_code]).toEqual([3, 3]);
  });
});
