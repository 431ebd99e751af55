import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createApi } from '../../apps/gateway/src/api.ts';
import type { ChainSettings } from '../../apps/gateway/src/chain/chain-settings.ts';
import { loadConfig } from '../../apps/gateway/src/config.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { createDeps } from '../../apps/gateway/src/deps.ts';
import { seedSandbox } from '../../apps/gateway/src/features/sandbox/seed.ts';
import { newId } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { type SandboxSecrets, SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { describeGround } from '../../apps/gateway/src/sandbox.ts';
import { RECORDED_ORDER_FILE, type RecordedCall, type RecordedOrder, recordSql } from './recorded-sql.ts';

/**
 * The candidate: a whole gateway as it ships, with one customer. It makes one order itself, through its own front door,
 * and leaves in its home what was asked of the database for it. Nothing in quoting and initiating reaches a chain, so
 * there is none.
 */
const insertCustomer = statement<[userId: string, at: Date]>(
  'bench.insert_customer',
  `INSERT INTO users (user_id, partner_id, email_index, kyc_status, kyc_updated_at, created_at)
   SELECT $1::uuid, partner_id, $1::uuid::text, 'VERIFIED', $2, $2 FROM partners ORDER BY name LIMIT 1`,
);

/** Deep enough that no run empties one: what is measured must not change on the way. */
const deepenOffers = statement<[]>(
  'bench.deepen_offers',
  'UPDATE offers SET available_balance = 1000000000000',
);

const ADDRESS = `0x${'1'.repeat(40)}` as const;
const NOWHERE = 'http://127.0.0.1:9';

const { BENCH_HOME: home = '', BENCH_KEY: apiKey = '' } = process.env;
const config = loadConfig(process.env, []);
const logger = createLogger({ level: 'error', format: 'json' });
const secrets = JSON.parse(await readFile(join(home, SECRETS_FILE), 'utf8')) as SandboxSecrets;
const chain: ChainSettings = {
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
const databaseUrl = config.databaseUrl ?? '';
const ground = describeGround(config, { home, databaseUrl, secrets, chains: [chain], stop: async () => {} });
const deps = await createDeps(config, ground.surroundings, logger, (early) =>
  seedSandbox({ ...early, at: early.clock.date() }, ground.seed),
);
const userId = newId();
await deps.db.query(SYSTEM, insertCustomer, [userId, deps.clock.date()]);
await deps.db.query(SYSTEM, deepenOffers, []);
const api = await createApi(deps, 'http://127.0.0.1');
const port = await api.listen({ host: '127.0.0.1', port: 0 });
const url = `http://127.0.0.1:${port}/api/v1/partner`;

async function recordCall(method: string, path: string, body?: object): Promise<RecordedCall> {
  const recorder = recordSql(deps.db);
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const sql = recorder.stop();
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return { answer: JSON.parse(text) as RecordedCall['answer'], sql };
}

const madeAfter = newId();
// Ids of two generators sort by their milliseconds only.
await delay(2);
const quote = await recordCall('POST', '/onramp/quote', {
  crypto_currency: 'USDC',
  fiat_currency: 'EUR',
  fiat_amount: '100.00',
  partner_fee_pct: '1',
  user_uuid: userId,
});
const initiate = await recordCall('POST', '/onramp/initiate', { quote_id: quote.answer.data.quote_id });
const read = await recordCall('GET', `/orders/${initiate.answer.data.order_id}`);
const recorded: RecordedOrder = { userId, madeAfter, quote, initiate, read };
await writeFile(join(home, RECORDED_ORDER_FILE), JSON.stringify(recorded));
process.send?.({ url });
process.once('SIGTERM', () => {
  void (async () => {
    await api.close();
    await deps.close();
    process.exit(0);
  })();
});
