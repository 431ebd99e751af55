import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainClient } from '../apps/gateway/src/chain/chain-client.ts';
import { inspectOrder } from '../apps/gateway/src/chain/inspect-order.ts';
import { loadConfig } from '../apps/gateway/src/config.ts';
import { createDatabase } from '../apps/gateway/src/db/database.ts';

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
}

const [orderId = ''] = process.argv.slice(2);
if (!UUID.test(orderId)) {
  process.stderr.write('Usage: npm run chain:inspect -- <order id>\n');
  process.exit(2);
}
const config = loadConfig(undefined, []);
const clients = new Map(
  (config.chains.length > 0 ? config.chains : sandboxChains(config.causewayHome)).map((chain) => [
    chain.chainId,
    createChainClient(chain),
  ]),
);
const db = createDatabase({
  connectionString: config.databaseUrl ?? sandboxDatabase(config.causewayHome),
  poolSize: 4,
});
try {
  const lines = await inspectOrder(
    { db, clientOf: (chainId) => clients.get(chainId) },
    orderId.toLowerCase(),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
} finally {
  await db.close();
}

function sandboxChains(home: string): KnownChain[] {
  const { chains } = JSON.parse(readFileSync(join(home, 'sandbox.json'), 'utf8')) as {
    chains: { slug: string; chain_id: number; rpc_url: string }[];
  };
  return chains.map(({ slug, chain_id: chainId, rpc_url: rpcUrl }) => ({ slug, chainId, rpcUrl }));
}

/** The database of a sandbox that runs on this machine, by the files it keeps in its folder. */
function sandboxDatabase(home: string): string {
  const port = readFileSync(join(home, 'postgres-port'), 'utf8').trim();
  const { password } = JSON.parse(readFileSync(join(home, 'postgres-secrets.json'), 'utf8')) as {
    password: string;
  };
  return `postgres://causeway:${password}@127.0.0.1:${port}/causeway`;
}
