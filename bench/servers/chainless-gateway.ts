import { openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { createApi } from '../../apps/gateway/src/api.ts';
import type { ChainSettings } from '../../apps/gateway/src/chain/chain-settings.ts';
import { loadConfig } from '../../apps/gateway/src/config.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { createDeps, type Deps } from '../../apps/gateway/src/deps.ts';
import { seedSandbox } from '../../apps/gateway/src/features/sandbox/seed.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { type SandboxSecrets, SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { describeGround } from '../../apps/gateway/src/sandbox.ts';

/**
 * A whole gateway as it ships, with one customer. Nothing in quoting and initiating reaches a chain, so there is none.
 * Its home and its settings come from the environment, as ever.
 */
export interface ChainlessGateway {
  readonly deps: Deps;
  /** Answers where it listens; it ends on SIGTERM. */
  listen(): Promise<string>;
}

const insertCustomer = statement<[userId: string, at: Date]>(
  'bench.insert_customer',
  `INSERT INTO users (user_id, partner_id, email_index, kyc_status, kyc_updated_at, created_at)
   SELECT $1::uuid, partner_id, $1::uuid::text, 'VERIFIED', $2, $2 FROM partners ORDER BY name LIMIT 1`,
);

const ADDRESS = `0x${'1'.repeat(40)}` as const;
const NOWHERE = 'http://127.0.0.1:9';
const CHAIN: ChainSettings = {
  slug: 'base-mainnet',
  chainId: 73_570_001,
  rpcUrl: NOWHERE,
  publicRpcUrl: NOWHERE,
  confirmations: 1,
  contracts: {
    safeSingleton: ADDRESS,
    safeProxyFactory: ADDRESS,
    multiSendCallOnly: ADDRESS,
    fallbackHandler: ADDRESS,
    forwarder: ADDRESS,
    router: ADDRESS,
  },
  tokens: [{ code: 'USDC', address: ADDRESS, decimals: 6 }],
  treasury: ADDRESS,
};

export async function startChainlessGateway(home: string, userId: string): Promise<ChainlessGateway> {
  const config = loadConfig(process.env, []);
  // Every request leaves its line, as it does in production; here to the null device.
  const logger = createLogger({ level: 'error', format: 'json', fd: openSync(devNull, 'w') });
  const secrets = JSON.parse(await readFile(join(home, SECRETS_FILE), 'utf8')) as SandboxSecrets;
  const databaseUrl = config.databaseUrl ?? '';
  const ground = describeGround(config, {
    home,
    databaseUrl,
    secrets,
    chains: [CHAIN],
  });
  const deps = await createDeps(config, ground.surroundings, logger, (early) =>
    seedSandbox({ ...early, at: early.clock.date() }, ground.seed),
  );
  await deps.db.query(SYSTEM, insertCustomer, [userId, deps.clock.date()]);
  return {
    deps,
    async listen() {
      const api = await createApi(deps, 'http://127.0.0.1');
      const port = await api.listen({ host: '127.0.0.1', port: 0 });
      process.once('SIGTERM', () => {
        void (async () => {
          await api.close();
          await deps.close();
          process.exit(0);
        })();
      });
      return `http://127.0.0.1:${port}`;
    },
  };
}
