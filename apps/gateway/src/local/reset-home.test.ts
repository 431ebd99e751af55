import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resetHome } from './home.ts';
import { startLocalServices } from './local-services.ts';
import { findProcessesByCommand } from './processes.ts';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'causeway-reset-'));
});

afterEach(() => rm(home, { recursive: true, force: true }));

const start = () =>
  startLocalServices({
    home,
    chains: [{ slug: 'base', chainId: 3_135_031 }],
    confirmations: 0,
    wantPostgres: true,
    wantChains: true,
    onProgress: () => {},
    onNotice: () => {},
    onFailure: () => {},
  });

describe('npm run sandbox:reset', () => {
  it('removes a stopped sandbox and nothing that is not a sandbox’s, and the next start begins afresh', async () => {
    await (await start()).stop();
    await writeFile(join(home, 'notes.txt'), 'mine');
    const { removed, kept } = await resetHome(home);
    expect(removed).toContain('postgres');
    expect(removed).toContain('chains');
    expect(kept).toEqual(['notes.txt']);
    expect(await readdir(home)).toEqual(['notes.txt']);
    const again = await start();
    expect(await readFile(join(home, 'chains', 'base-3135031', 'journal.jsonl'), 'utf8')).toMatch(
      /^\{"t":"genesis".*\n$/,
    );
    await again.stop();
  });

  it('refuses while the sandbox runs', async () => {
    const running = await start();
    await expect(resetHome(home)).rejects.toThrow('A sandbox already runs');
    await running.stop();
    expect(await findProcessesByCommand(home)).toEqual([]);
  });

  it('finds nothing in a folder that does not exist, and does not make it', async () => {
    const nowhere = join(home, 'nowhere');
    expect(await resetHome(nowhere)).toEqual({ path: nowhere, removed: [], kept: [] });
    expect(await readdir(home)).toEqual([]);
  });
});
