import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHome } from './home.ts';
import { ownIdentity } from './processes.ts';

let base: string;
let folder: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'causeway-home-'));
  folder = join(base, 'nested', 'home');
});

afterEach(() => rm(base, { recursive: true, force: true }));

describe('sandbox home', () => {
  it('is created private to its owner', async () => {
    const home = await openHome(folder);
    expect((await stat(home.path)).mode & 0o777).toBe(0o700);
    expect((await stat(join(home.path, 'sandbox.lock'))).mode & 0o777).toBe(0o600);
  });

  it('can be opened again after release, and leaves no lock files behind', async () => {
    await (await openHome(folder)).release();
    const again = await openHome(folder);
    await again.release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('names the holder and the way out when it is taken', async () => {
    await openHome(folder, { url: 'http://127.0.0.1:8080' });
    await expect(openHome(folder)).rejects.toThrow(
      `A sandbox already runs in ${folder} (pid ${process.pid}, http://127.0.0.1:8080). Stop it, or set CAUSEWAY_HOME to another folder.`,
    );
  });

  it.each([
    ['of a process that is gone', async () => ({ pid: 2 ** 22 + 1, startedAt: 'long ago', url: null })],
    [
      'whose pid now belongs to another process',
      async () => ({ pid: process.pid, startedAt: 'long ago', url: null }),
    ],
  ])('does not mind a lock %s', async (_case, holder) => {
    await (await openHome(folder)).release();
    await writeFile(join(folder, 'sandbox.lock'), JSON.stringify(await holder()));
    await openHome(folder);
    const { startedAt } = JSON.parse(await readFile(join(folder, 'sandbox.lock'), 'utf8'));
    expect(startedAt).toBe((await ownIdentity()).startedAt);
  });

  it.each(['', '{"pid":', 'null', '[]'])('does not mind a damaged lock: %j', async (content) => {
    await (await openHome(folder)).release();
    await writeFile(join(folder, 'sandbox.lock'), content);
    await openHome(folder);
  });

  it('goes to exactly one of many starters that find the same dead lock', async () => {
    const dead = JSON.stringify({ pid: process.pid, startedAt: 'long ago', url: null });
    for (let round = 0; round < 20; round += 1) {
      const home = join(base, `round-${round}`);
      await (await openHome(home)).release();
      await writeFile(join(home, 'sandbox.lock'), dead);
      const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => openHome(home)));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await readdir(home)).toEqual(['sandbox.lock']);
    }
  });

  it('survives a starter that was killed while it replaced a dead lock', async () => {
    const dead = JSON.stringify({ pid: process.pid, startedAt: 'long ago', url: null });
    await (await openHome(folder)).release();
    await writeFile(join(folder, 'sandbox.lock'), dead);
    await writeFile(join(folder, 'sandbox.lock.turn'), dead);
    await openHome(folder);
    expect(await readdir(folder)).toEqual(['sandbox.lock']);
  });

  it.runIf(process.getuid?.() === 0)('says what to do when it belongs to another user', async () => {
    await chmod(base, 0o755);
    const taken = join(base, 'of-root');
    await mkdir(taken, { mode: 0o755 });
    const script = `
      import { openHome } from ${JSON.stringify(new URL('./home.ts', import.meta.url).href)};
      await openHome(${JSON.stringify(taken)});`;
    const asNobody = { uid: 65_534, gid: 65_534, cwd: '/' };
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], asNobody);
    await expect(run).rejects.toThrow(
      `Cannot write to ${taken}. Start as the user it belongs to, or set CAUSEWAY_HOME to another folder.`,
    );
  });
});
