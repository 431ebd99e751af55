import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from './deployment.ts';
import { configPath, findProfile, readConfig, safeAddress, sandboxOf, writeConfig } from './profile.ts';

const LIVE = { base_url: 'https://live.example.com', kind: 'live', keys: { partner: 'cw_live_1' } } as const;
const TEST = {
  base_url: 'https://test.example.com',
  kind: 'sandbox',
  keys: { partner: 'cw_test_1' },
} as const;
const CONFIG = { current: 'live', profiles: { live: LIVE, test: TEST } };
const OF_ENVIRONMENT = { CAUSEWAY_BASE_URL: 'https://env.example.com', CAUSEWAY_API_KEY: 'cw_live_env' };

describe('profiles', () => {
  let folder: string;
  let env: Record<string, string>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-cli-'));
    env = { CAUSEWAY_CONFIG_DIR: join(folder, 'config') };
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('are kept in a file that only its owner reads, in a folder of its owner, written as a whole', async () => {
    const before = process.umask(0);
    try {
      const path = await writeConfig(env, CONFIG);
      expect(path).toBe(configPath(env));
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect((await stat(join(folder, 'config'))).mode & 0o777).toBe(0o700);
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => writeConfig(env, { ...CONFIG, current: `p${at}` })),
      );
      expect((await readConfig(env)).profiles).toEqual(CONFIG.profiles);
      expect(await readdir(join(folder, 'config'))).toEqual(['config.json']);
    } finally {
      process.umask(before);
    }
  });

  it('leave the old file where the new one cannot be written', async () => {
    const blocked = { CAUSEWAY_CONFIG_DIR: join(folder, 'config', 'config.json') };
    await writeConfig(env, CONFIG);
    await expect(writeConfig(blocked, CONFIG)).rejects.toThrow();
    expect(await readConfig(env)).toEqual(CONFIG);
  });

  it('are found by --profile, in the environment, as current, in this folder: in that order', async () => {
    await writeConfig(env, CONFIG);
    const both = { ...env, ...OF_ENVIRONMENT };
    expect(await findProfile(both, 'test', folder)).toMatchObject({
      name: 'test',
      baseUrl: TEST.base_url,
      kind: 'sandbox',
    });
    expect(await findProfile(both, undefined, folder)).toMatchObject({
      name: 'environment',
      baseUrl: OF_ENVIRONMENT.CAUSEWAY_BASE_URL,
    });
    expect(await findProfile(env, undefined, folder)).toMatchObject({ name: 'live', baseUrl: LIVE.base_url });
    await writeFile(
      join(folder, 'sandbox.json'),
      JSON.stringify({
        base_url: 'http://localhost:1',
        operator_key: 'o',
        partners: [{ api_key: 'p' }],
        vendors: [],
      }),
    );
    const sandbox = { ...env, CAUSEWAY_HOME: folder };
    expect((await findProfile(sandbox, undefined, '/')).name).toBe('live');
    expect(await findProfile(sandbox, 'sandbox', '/')).toMatchObject({
      baseUrl: 'http://localhost:1',
      keys: { partner: 'p', operator: 'o' },
      kind: 'sandbox',
    });
    await writeConfig(env, { ...CONFIG, current: 'gone' });
    expect((await findProfile(sandbox, undefined, '/')).name).toBe('sandbox');
    await expect(findProfile(env, undefined, folder)).rejects.toThrow('No deployment is known');
    await expect(findProfile(env, 'constructor', folder)).rejects.toThrow('no profile “constructor”');
  });

  it('send a key to its own address only', async () => {
    await writeConfig(env, CONFIG);
    // A key of the environment without an address does not reach the current profile's.
    const found = await findProfile({ ...env, CAUSEWAY_API_KEY: 'cw_live_env' }, undefined, folder);
    expect(found.keys).toEqual(LIVE.keys);
    // An address of the environment without a key gets none of the saved ones.
    const alone = await findProfile(
      { ...env, CAUSEWAY_BASE_URL: 'https://env.example.com' },
      undefined,
      folder,
    );
    expect(alone.keys).toEqual({});
    expect(() => clientOf(alone, 'partner')).toThrow('has no key of a partner');
    expect(() => clientOf({ ...found, baseUrl: 'http://live.example.com' }, 'partner')).toThrow(
      'A key is not sent to',
    );
  });

  it('are refused where the file is no configuration', async () => {
    await writeConfig(env, CONFIG);
    for (const text of [
      '{',
      '[]',
      '{"current":"a","profiles":{"a":{"base_url":1,"keys":{}}}}',
      '{"current":"a","profiles":{"a":null}}',
    ]) {
      await writeFile(configPath(env), text);
      await expect(readConfig(env), text).rejects.toThrow(/no JSON|not a configuration/);
    }
    await writeFile(join(folder, 'sandbox.json'), '{"base_url":1}');
    await expect(sandboxOf('/', { CAUSEWAY_HOME: folder })).rejects.toThrow('does not describe a sandbox');
    expect(await sandboxOf(folder)).toBeUndefined();
    expect(await readFile(configPath(env), 'utf8')).toContain('null');
  });

  it('have an address over https, or of this machine', () => {
    for (const [given, taken] of [
      ['https://api.example.com/', 'https://api.example.com'],
      ['https://API.example.com:8443', 'https://api.example.com:8443'],
      ['http://localhost:3000', 'http://localhost:3000'],
      ['http://127.1.2.3', 'http://127.1.2.3'],
      ['http://[::1]:3000', 'http://[::1]:3000'],
    ] as const)
      expect(safeAddress(given)).toBe(taken);
    for (const refused of [
      ...[
        'http://api.example.com',
        'http://127.0.0.1.example.com',
        'http://localhost.example.com',
        'http://10.0.0.1',
      ],
      ...[
        'http://0.0.0.0',
        'https://a:b@example.com',
        'https://example.com/api',
        'https://example.com?x',
        'example.com',
        'file:///x',
      ],
    ])
      expect(() => safeAddress(refused), refused).toThrow();
  });
});
