import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import type { ChainSettings } from '../../apps/gateway/src/chain/chain-settings.ts';
import { loadConfig } from '../../apps/gateway/src/config.ts';
import { migrate } from '../../apps/gateway/src/db/migrate.ts';
import { createDeps } from '../../apps/gateway/src/deps.ts';
import { seedSandbox } from '../../apps/gateway/src/features/sandbox/seed.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { startLocalChain } from '../../apps/gateway/src/local/local-chain.ts';
import { startLocalPostgres } from '../../apps/gateway/src/local/local-postgres.ts';
import { CONFIRMATIONS, LOCAL_CHAINS } from '../../apps/gateway/src/local/local-services.ts';
import { type SandboxSecrets, SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { describeGround, makeSecrets, prepareChain } from '../../apps/gateway/src/sandbox.ts';

/**
 * Once a run: a throw-away PostgreSQL with a migrated template database, and a template of both chains with contracts and
 * funded wallets. Every test file clones the template, so that files share nothing and run in any order.
 */
export interface Ground {
  /** A database of the server from which others are created. */
  readonly adminUrl: string;
  readonly templateDatabase: string;
  /** The same with all that a sandbox puts there when it first starts. */
  readonly sandboxDatabase: string;
  /** Secrets and chain states to copy. */
  readonly templateHome: string;
  readonly chains: readonly ChainSettings[];
}

declare module 'vitest' {
  interface ProvidedContext {
    ground: Ground;
  }
}

const TEMPLATE = 'causeway_template';
const SANDBOX_TEMPLATE = 'causeway_sandbox_template';
const quiet = { onNotice: () => {}, durable: false };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-tests-'));
  const postgres = await startLocalPostgres({
    home,
    onProgress: () => {},
    onNotice: () => {},
    // Nothing here has to survive a crash of the machine, and hundreds of databases would be vacuumed in turn all the time.
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '300',
      autovacuum_naptime: '1h',
    },
  });
  const admin = new pg.Client({ connectionString: postgres.databaseUrl });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  const [chains] = await Promise.all([
    layChains(home),
    migrate(withDatabase(postgres.databaseUrl, TEMPLATE)),
  ]);
  await admin.query(`CREATE DATABASE ${SANDBOX_TEMPLATE} TEMPLATE ${TEMPLATE}`);
  await admin.end();
  await seedLikeAFirstStart(home, withDatabase(postgres.databaseUrl, SANDBOX_TEMPLATE), chains);
  project.provide('ground', {
    adminUrl: postgres.databaseUrl,
    templateDatabase: TEMPLATE,
    sandboxDatabase: SANDBOX_TEMPLATE,
    templateHome: home,
    chains,
  });
  return async () => {
    await postgres.stop();
    await rm(home, { recursive: true, force: true });
  };
}

async function layChains(home: string): Promise<ChainSettings[]> {
  const secrets = await makeSecrets(home, createIdGenerator());
  return Promise.all(
    LOCAL_CHAINS.map(async (chain) => {
      const node = await startLocalChain({ home, ...chain, confirmations: CONFIRMATIONS, ...quiet });
      const settings = await prepareChain(chain.slug, node.rpcUrl, secrets);
      await node.stop();
      return settings;
    }),
  );
}

/** Reference data, the market and its past: half of a start, which no file has to repeat. */
async function seedLikeAFirstStart(
  home: string,
  databaseUrl: string,
  chains: readonly ChainSettings[],
): Promise<void> {
  const config = loadConfig({ CAUSEWAY_HOME: home, DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent' }, []);
  const secrets = JSON.parse(await readFile(join(home, SECRETS_FILE), 'utf8')) as SandboxSecrets;
  const ground = describeGround(config, { home, databaseUrl, secrets, chains });
  const logger = createLogger({ level: config.logLevel, format: 'json' });
  const deps = await createDeps(config, ground.surroundings, logger, (early) =>
    seedSandbox({ ...early, at: early.clock.date() }, ground.seed),
  );
  await deps.close();
}

export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
