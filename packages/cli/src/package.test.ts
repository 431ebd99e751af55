import { execFile } from 'node:child_process';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newerThanOldestNode } from '../../../test/harness/oldest-node.ts';
import {
  type InstalledPackages,
  installPacked,
  nodesToRunOn,
  packageProblems,
} from '../../../test/harness/packed-package.ts';
import { COMMANDS } from './commands.ts';
import { VERSION } from './version.ts';

const run = promisify(execFile);
const NAME = '@causeway/cli';
const NODES = await nodesToRunOn();

describe('the package as it is published', () => {
  let packed: InstalledPackages;

  beforeAll(async () => {
    packed = await installPacked([join(import.meta.dirname, '..')]);
  });
  afterAll(() => packed?.remove());

  it('is alone: no dependency, no sources, a program that can be started, a chunk a command', async () => {
    const folder = packed.folderOf(NAME);
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    expect([manifest.dependencies, manifest.private, manifest.version]).toEqual([
      undefined,
      undefined,
      VERSION,
    ]);
    const others = await readdir(join(packed.project, 'node_modules'));
    expect(others).toEqual(['.bin', '.package-lock.json', '@causeway']);
    const files = await readdir(folder, { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/causeway.js']),
    );
    expect(files.filter((file) => /\.(ts|map)$/.test(file))).toEqual([]);
    for (const command of ['doctor', 'login', 'orders', 'completion', 'listen', 'trigger', 'logs', 'mcp']) {
      expect(files.filter((file) => file.startsWith(`dist/${command}-`)).length, command).toBeGreaterThan(0);
    }
    const entry = await readFile(join(folder, 'dist/causeway.js'), 'utf8');
    expect(entry.startsWith('#!/usr/bin/env node\n')).toBe(true);
    const program = await realpath(join(packed.project, 'node_modules/.bin/causeway'));
    expect((await stat(program)).mode & 0o111).toBe(0o111);
    // It is a program and has no types.
    const problems = await packageProblems(packed.tarballs.get(NAME) ?? '');
    expect(problems.filter((problem) => problem !== 'types: none')).toEqual([]);
  });

  it('uses nothing that Node 20.0 does not have', async () => {
    const folder = join(packed.folderOf(NAME), 'dist');
    for (const file of await readdir(folder)) {
      expect(newerThanOldestNode(await readFile(join(folder, file), 'utf8')), file).toEqual([]);
    }
  });

  it.each(NODES)('runs on $version', async ({ program: node }) => {
    const program = join(packed.project, 'node_modules/.bin/causeway');
    const env = {
      PATH: process.env.PATH,
      CAUSEWAY_CONFIG_DIR: packed.project,
      CAUSEWAY_BASE_URL: 'http://127.0.0.1:9',
      CAUSEWAY_API_KEY: 'cw_test_1',
    };
    const call = (...argv: string[]) =>
      run(node, [program, ...argv], { cwd: packed.project, env }).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        (error) => error as { code: number; stdout: string; stderr: string },
      );
    expect(await call('--version')).toMatchObject({ code: 0, stdout: `${VERSION}\n` });
    const help = await call('--help');
    expect(help.stderr).toBe('');
    for (const { name } of COMMANDS) expect(help.stdout).toContain(name);
    // The chunk of each is loaded, and says that nothing listens there, or what it needs.
    const tried: [string[], number][] = [
      [['orders', 'show', 'x'], 6],
      [['trigger', 'webhook.test'], 6],
      [['logs', 'tail', '--no-follow'], 6],
      [['conformance', '--list'], 0],
      [['conformance', '--webhook', 'http://127.0.0.1:9/hook'], 2],
      [['trigger', '--list'], 0],
      [['listen', '--print-secret'], 0],
      [['profiles'], 0],
      [['completion', 'bash'], 0],
    ];
    const codes = await Promise.all(tried.map(async ([argv]) => (await call(...argv, '--json')).code));
    expect(tried.map(([argv], index) => [argv, codes[index]])).toEqual(tried);
  });
});
