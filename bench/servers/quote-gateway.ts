import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApi } from '../../apps/gateway/src/api.ts';
import type { ChainSettings } from '../../apps/gateway/src/chain/chain-settings.ts';
import { loadConfig } from '../../apps/gateway/src/config.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { createDeps } from '../../apps/gateway/src/deps.ts';
import { seedSandbox } from '../../apps/gateway/src/features/sandbox/seed.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { type SandboxSecrets, SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { describeGround } from '../../apps/gateway/src/sandbox.ts';

/**
 * The candidate: a whole gateway as it ships, with one customer and as many offers for one pair as asked for. Nothing in
 * a quote reaches a chain, so there is none.
 */
const insertCustomer = statement<[userId: string, at: Date]>(
  'bench.insert_customer',
  `INSERT INTO users (user_id, partner_id, email_index, kyc_status, kyc_updated_at, created_at)
   SELECT $1, partner_id, 'bench', 'VERIFIED', $2, $2 FROM partners ORDER BY name LIMIT 1`,
);

/** All of one pair, the hardest case, with margins from 0.3 % up. */
const replaceOffers = statement<[count: number, at: Date]>(
  'bench.replace_offers',
  `WITH gone AS (UPDATE offers SET withdrawn = true)
   INSERT INTO offers (offer_id, vendor_id, side, crypto_currency, fiat_currency, margin_pct, min_amount, max_amount,
     payment_options, countries, available_balance, authorized, created_at)
   SELECT gen_random_uuid(), v.ids[1 + n % cardinality(v.ids)], 'SELL', 'USDC', 'EUR', trim_scale(round(0.3 + (n * 7919 % 100003) / 100000.0, 6)),
     5, 100000, '[{"network_slug": "iban-sepa", "method_slugs": "all"}]', '{DE,FR,NL}', 1000000, true, $2
     FROM generate_series(1, $1::int) n, (SELECT array_agg(vendor_id) AS ids FROM vendors) v`,
);

const ADDRESS = `0x${'1'.repeat(40)}` as const;
const NOWHERE = 'http://127.0.0.1:9';

const { BENCH_HOME: home = '', BENCH_USER: userId = '', BENCH_OFFERS: offers = '100' } = process.env;
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
await deps.db.query(SYSTEM, insertCustomer, [userId, deps.clock.date()]);
await deps.db.query(SYSTEM, replaceOffers, [Number(offers), deps.clock.date()]);
while (deps.offers.book().offerCount !== Number(offers)) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
const api = await createApi(deps, 'http://127.0.0.1');
const port = await api.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ url: `http://127.0.0.1:${port}` });
process.once('SIGTERM', () => {
  void (async () => {
    await api.close();
    await deps.close();
    process.exit(0);
  })();
});
