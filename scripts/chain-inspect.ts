import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Address } from '../apps/gateway/src/chain/chain-settings.ts';
import { inspectOrder } from '../apps/gateway/src/chain/inspect/inspect-order.ts';
import { createChainClient } from '../apps/gateway/src/chain/rpc/chain-client.ts';
import { localSigner } from '../apps/gateway/src/chain/signers/keystore-signer.ts';
import { type Config, ConfigError, loadConfig } from '../apps/gateway/src/config.ts';
import { createDatabase } from '../apps/gateway/src/db/database.ts';
import { type SandboxSecrets, SECRETS_FILE } from '../apps/gateway/src/local/sandbox-secrets.ts';

/**
 * `npm run chain:inspect -- <order id>`: what is where on chain for an order, decoded. Takes the same configuration as the
 * program: a running sandbox is found by its folder, production by DATABASE_URL and CHAINS_FILE.
 */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface KnownChain {
  readonly slug: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly rpcUrls?: readonly string[];
  readonly treasury?: Address;
}

/** Something the person who called can put right. */
class CannotInspect extends Error {}

const [orderId = ''] = process.argv.slice(2);
if (!UUID.test(orderId)) {
  process.stderr.write('Usage: npm run chain:inspect -- <order id>\n');
  process.exit(2);
}
try {
  process.stdout.write(`${(await inspect(orderId.toLowerCase())).join('\n')}\n`);
} catch (error) {
  if (!(error instanceof CannotInspect || error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function inspect(id: string): Promise<string[]> {
  const config = loadConfig(undefined, []);
  const chains = (config.chains.length > 0 ? config.chains : sandboxChains(config)).map((chain) => ({
    ...chain,
    client: createChainClient(chain),
  }));
  const connectionString = config.databaseUrl ?? sandboxDatabase(config);
  const db = createDatabase({ connectionString, poolSize: 4 });
  try {
    const lines = await inspectOrder({ db, chains }, id);
    if (lines === undefined) throw new CannotInspect(`There is no order ${id} in this deployment.`);
    return lines;
  } catch (error) {
    if (!isRefusedConnection(error)) throw error;
    throw new CannotInspect('The database does not answer. Is the deployment running?');
  } finally {
    await db.close();
  }
}

function isRefusedConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

function sandboxChains(config: Config): KnownChain[] {
  const { chains } = JSON.parse(sandboxFile(config, 'sandbox.json')) as {
    chains: { slug: string; chain_id: number; rpc_url: string }[];
  };
  const { treasuryKey } = JSON.parse(sandboxFile(config, SECRETS_FILE)) as SandboxSecrets;
  const treasury = localSigner(treasuryKey).address;
  return chains.map(({ slug, chain_id: chainId, rpc_url: rpcUrl }) => ({ slug, chainId, rpcUrl, treasury }));
}

/** The database of a sandbox that runs on this machine, by the files it keeps in its folder. */
function sandboxDatabase(config: Config): string {
  const port = sandboxFile(config, 'postgres-port').trim();
  const { password } = JSON.parse(sandboxFile(config, 'postgres-secrets.json')) as { password: string };
  return `postgres://causeway:${password}@127.0.0.1:${port}/causeway`;
}

function sandboxFile({ causewayHome }: Config, name: string): string {
  try {
    return readFileSync(join(causewayHome, name), 'utf8');
  } catch {
    throw new CannotInspect(
      `No sandbox runs in ${causewayHome}: start one with npm start, name its folder in CAUSEWAY_HOME, or set DATABASE_URL and CHAINS_FILE.`,
    );
  }
}
