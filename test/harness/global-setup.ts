import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import type { ChainSettings } from '../../apps/gateway/src/chain/chain-settings.ts';
import { migrate } from '../../apps/gateway/src/db/migrate.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { startLocalChain } from '../../apps/gateway/src/local/local-chain.ts';
import { startLocalPostgres } from '../../apps/gateway/src/local/local-postgres.ts';
import { CONFIRMATIONS, LOCAL_CHAINS, makeSecrets, prepareChain } from '../../apps/gateway/src/sandbox.ts';

/**
 * Once a run: a throw-away PostgreSQL with a migrated template database, and a template of both chains with contracts and
 * funded wallets. Every test file clones the template, so that files share nothing and run in any order.
 */
export interface Ground {
  /** A database of the server from which others are created. */
  readonly adminUrl: string;
  readonly templateDatabase: string;
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
const quiet = { onNotice: () => {}, durable: false };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-tests-'));
  const postgres = await startLocalPostgres({
    home,
    onProgress: () => {},
    onNotice: () => {},
    // Nothing here has to survive a crash of the machine.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  const admin = new pg.Client({ connectionString: postgres.databaseUrl });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();
  const [chains] = await Promise.all([
    layChains(home),
    migrate(withDatabase(postgres.databaseUrl, TEMPLATE)),
  ]);
  project.provide('ground', {
    adminUrl: postgres.databaseUrl,
    templateDatabase: TEMPLATE,
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

export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
