import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Profile } from '../profile.ts';
import { savedCursor, webhookSecret, writeEnvFile } from './listen-state.ts';

const PROFILE = { name: 'test', baseUrl: 'http://x', keys: { partner: 'cw_test_1' } } as Profile;
const FORWARD_TO = 'http://localhost:3000/hooks';

let folder: string;
let env: Record<string, string>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-listen-state-'));
  env = { CAUSEWAY_CONFIG_DIR: folder };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const filesIn = (path: string) => readdir(path).then((files) => files.sort());
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('the secret of a profile', () => {
  it('is one, however many ask for it at once, and nothing is left beside it', async () => {
    const secrets = await Promise.all(Array.from({ length: 20 }, () => webhookSecret(env, PROFILE)));
    expect(new Set(secrets).size).toBe(1);
    expect(secrets[0]).toMatch(/^whsec_.{43}$/);
    expect(await filesIn(join(folder, 'listen'))).toEqual(['test.secret']);
    expect(await modeOf(join(folder, 'listen/test.secret'))).toBe(0o600);
    expect(await webhookSecret(env, PROFILE)).toBe(secrets[0]);
    expect(await webhookSecret({ ...env, CAUSEWAY_WEBHOOK_SECRET: 'given' }, PROFILE)).toBe('given');
  });
});

describe('a saved cursor', () => {
  it('is replaced whole, by several at once too, and nothing is left beside it', async () => {
    const cursor = savedCursor(env, PROFILE, FORWARD_TO);
    expect(await cursor.read()).toBeUndefined();
    await Promise.all(Array.from({ length: 20 }, (_, at) => cursor.save(`${at}`)));
    expect(Number(await cursor.read())).toBeLessThan(20);
    await cursor.save('20');
    expect(await cursor.read()).toBe('20');
    const files = await filesIn(join(folder, 'listen'));
    expect(files).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.json$/)]);
  });

  it('that cannot be put in its place leaves nothing behind', async () => {
    const cursor = savedCursor(env, PROFILE, FORWARD_TO);
    await cursor.save('1');
    const [file = ''] = await filesIn(join(folder, 'listen'));
    const path = join(folder, 'listen', file);
    await rm(path);
    // No file takes the place of a folder.
    await mkdir(path);
    await expect(cursor.save('2')).rejects.toThrow(`${path} cannot be written: `);
    expect(await filesIn(join(folder, 'listen'))).toEqual([file]);
  });
});

describe('a file of variables', () => {
  it('keeps its other lines and its mode, and nothing is left beside it', async () => {
    const path = join(folder, '.env');
    await writeFile(path, 'A=1\nexport CAUSEWAY_WEBHOOK_SECRET=old\nB=2', { mode: 0o640 });
    await writeEnvFile(path, 'whsec_new');
    expect(await readFile(path, 'utf8')).toBe('A=1\nexport CAUSEWAY_WEBHOOK_SECRET=whsec_new\nB=2');
    expect(await modeOf(path)).toBe(0o640);
    const made = join(folder, 'made.env');
    await writeEnvFile(made, 'whsec_new');
    expect([await readFile(made, 'utf8'), await modeOf(made)]).toEqual([
      'CAUSEWAY_WEBHOOK_SECRET=whsec_new\n',
      0o600,
    ]);
    expect(await filesIn(folder)).toEqual(['.env', 'made.env']);
  });
});
