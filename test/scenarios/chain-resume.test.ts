import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestChain, type TestChain } from '../../apps/gateway/src/chain/testing/local-chain.ts';
import { createWatcher } from '../../apps/gateway/src/chain/watcher/watcher.ts';
import { withChain } from '../../apps/gateway/src/config/chains-file.ts';
import { createDatabase, type Database } from '../../apps/gateway/src/db/database.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { cloneDatabase } from '../harness/database.ts';

const CONFIRMATIONS = 2;

describe('npm run chain:resume', () => {
  let chain: TestChain;
  let databaseUrl: string;
  let db: Database;
  let folder: string;

  beforeAll(async () => {
    [chain, databaseUrl, folder] = await Promise.all([
      startTestChain(31_417),
      cloneDatabase(),
      mkdtemp(join(tmpdir(), 'causeway-resume-')),
    ]);
    db = createDatabase({ connectionString: databaseUrl, poolSize: 2 });
    const { rpcUrl } = chain.settings;
    const configured = { ...chain.settings, rpcUrls: [rpcUrl], confirmations: CONFIRMATIONS };
    await writeFile(join(folder, 'chains.json'), withChain(undefined, configured));
  });
  afterAll(async () => {
    await db?.close();
    await Promise.all([chain?.stop(), folder && rm(folder, { recursive: true, force: true })]);
  });

  const watcher = () =>
    createWatcher({
      db,
      clock: createClock(),
      ids: createIdGenerator(),
      logger: createLogger({ level: 'silent', format: 'json' }),
      settings: { ...chain.settings, confirmations: CONFIRMATIONS },
      client: chain.client,
      handlers: [],
      bookHeldDeposits: () => {},
    });

  /** A process of its own, seen by what it prints and how it ends. */
  function run(...args: readonly string[]) {
    const path = new URL('../../scripts/chain-resume.ts', import.meta.url).pathname;
    const env = {
      PATH: process.env.PATH ?? '',
      CAUSEWAY_ENV: 'production',
      PUBLIC_BASE_URL: 'https://pay.example.com',
      SERVICE_SIGNER_KEY: `0x${randomBytes(32).toString('hex')}`,
      DATA_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      OPERATOR_KEY: `cw_operator_${randomBytes(24).toString('hex')}`,
      DATABASE_URL: databaseUrl,
      CHAINS_FILE: join(folder, 'chains.json'),
    };
    return new Promise<{ code: number | null; output: string }>((resolve) => {
      const child = execFile(process.execPath, [path, ...args], { env }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, output: stdout + stderr }),
      );
    });
  }

  // Proves trap 23.
  it('changes nothing until it is told to, and then the watcher goes on', async () => {
    await watcher().catchUp();
    await chain.control.mine({ blocks: 4 });
    await watcher().catchUp();
    expect(await run()).toMatchObject({ code: 0, output: expect.stringContaining('is as it was read') });
    await chain.reorganise(4);
    await chain.control.mine({ blocks: 3 });
    const stuck = await watcher()
      .catchUp()
      .catch((error: Error) => error.message);
    expect(stuck).toContain('npm run chain:resume');

    const [looked, unexplained, elsewhere] = await Promise.all([
      run(),
      run('--yes'),
      run('--chain', 'another-chain'),
    ]);
    expect(looked).toMatchObject({ code: 1, output: expect.stringContaining('add --yes to read again') });
    expect(looked.output).toContain('nothing was recorded from blocks that are gone');
    expect(unexplained).toMatchObject({ code: 2, output: expect.stringContaining('--reason') });
    expect(elsewhere).toMatchObject({ code: 1, output: expect.stringContaining('no chain another-chain') });
    await expect(watcher().catchUp()).rejects.toThrow('chain:resume');

    const done = await run('--chain', 'test-chain', '--yes', '--reason', 'the provider has told us');
    expect(done).toMatchObject({ code: 0, output: expect.stringContaining('is read again from block') });
    await watcher().catchUp();
  });
});
