import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { linkLibraries } from './postgres-binaries.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-pg-package-'));
  await mkdir(join(folder, 'native', 'lib'), { recursive: true });
  await writeFile(join(folder, 'native', 'lib', 'libpq.so.5.18'), 'the library');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function list(...links: { source: string; target: string }[]): Promise<void> {
  await writeFile(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links));
}

describe("PostgreSQL's libraries", () => {
  it('get the names they are looked for under without an install script, by several starts at once', async () => {
    await list(
      { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so' },
      { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' },
    );
    await Promise.all([linkLibraries(folder), linkLibraries(folder), linkLibraries(folder)]);
    await linkLibraries(folder);
    for (const name of ['libpq.so', 'libpq.so.5']) {
      expect(await readFile(join(folder, 'native', 'lib', name), 'utf8')).toBe('the library');
    }
  });

  it('need no links on a platform whose package lists none', async () => {
    await expect(linkLibraries(folder)).resolves.toBeUndefined();
  });

  it('that cannot be linked are reported with their folder and the remedy', async () => {
    await list({ source: 'native/lib/libpq.so.5.18', target: 'native/elsewhere/libpq.so' });
    await expect(linkLibraries(folder)).rejects.toThrow(`${folder} need links that cannot be made (ENOENT)`);
  });
});
