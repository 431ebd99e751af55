import { randomUUID } from 'node:crypto';
import { openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createDatabase, type Database, SYSTEM } from '../../../db/database.ts';
import { createListener, type Listener } from '../../../db/listener.ts';
import { migrate } from '../../../db/migrate.ts';
import { statement } from '../../../db/statement.ts';
import { createPrincipals } from '../../../http/principals.ts';
import { createRateLimit } from '../../../http/rate-limit.ts';
import { createServer } from '../../../http/server.ts';
import { createClock, machineNow } from '../../../lib/clock.ts';
import { sha256Hex } from '../../../lib/crypto.ts';
import { createIdGenerator } from '../../../lib/ids.ts';
import { createLogger } from '../../../lib/logger.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { startLocalPostgres } from '../../../local/local-postgres.ts';
import { createCurrenciesParts } from '../../../upstream/currencies/currencies.ts';
import { seedReference } from '../../../upstream/currencies/reference.ts';
import { createOffers } from '../../../upstream/offers/offers.ts';
import { registerDiscoveryRoutes } from '../reference.routes.ts';

/** A database of its own with the reference data in it. */
export interface TestDatabase {
  readonly db: Database;
  readonly listener: Listener;
  readonly connectionString: string;
  stop(): Promise<void>;
}

/** Writes to a sink that is not read; what is measured here pays for its lines all the same. */
export const testLogger = createLogger({ level: 'silent', format: 'json', fd: openSync(devNull, 'w') });

export async function startTestDatabase(): Promise<TestDatabase> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-discovery-'));
  const postgres = await startLocalPostgres({ home, onProgress: () => {}, onNotice: () => {} });
  const connectionString = postgres.databaseUrl;
  await migrate(connectionString);
  const db = createDatabase({ connectionString, poolSize: 4 });
  const listener = createListener(connectionString, () => {});
  await seedReference(db, createClock());
  return {
    db,
    listener,
    connectionString,
    async stop() {
      await listener.close();
      await db.close();
      await postgres.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

export const TEST_LOCAL_CHAIN = {
  slug: 'base-mainnet',
  chainId: 73_570_001,
  tokens: [{ code: 'USDC', address: '0x00000000000000000000000000000000000c0de1', decimals: 6 }],
};

const addOperatorKey = statement<[keyId: string, hash: string, at: Date]>(
  'testing.add_operator_key',
  `INSERT INTO api_keys (key_id, kind, owner_id, key_hash, hint, created_at) VALUES ($1, 'operator', NULL, $2, 'test', $3)`,
);

export interface DiscoveryGateway extends TestDatabase {
  readonly app: FastifyInstance;
  readonly baseUrl: string;
  readonly operatorKey: string;
}

export interface DiscoveryGatewayOptions {
  /** A remote backend in place of the one in the process. */
  readonly currenciesUrl?: string;
  readonly withRates?: boolean;
  readonly beforeListening?: (app: FastifyInstance) => void;
}

/** The discovery feature behind the real HTTP shell, on a real database, with the sandbox's rates. */
export async function startDiscoveryGateway(
  options: DiscoveryGatewayOptions = {},
): Promise<DiscoveryGateway> {
  const base = await startTestDatabase();
  const { db, listener } = base;
  const clock = createClock();
  const ids = createIdGenerator();
  const operatorKey = `cw_operator_${randomUUID().replaceAll('-', '')}`;
  await db.query(SYSTEM, addOperatorKey, [ids.uuid(), sha256Hex(operatorKey), clock.date()]);
  const principals = createPrincipals(db, listener, clock, testLogger);
  const parts = createCurrenciesParts({
    db,
    listener,
    logger: testLogger,
    wall: machineNow,
    holder: ids.uuid(),
    currenciesUrl: options.currenciesUrl,
    rateSources: ['simulated'],
    catalogue: { localChains: [TEST_LOCAL_CHAIN] },
  });
  const offers = createOffers({ db, listener, logger: testLogger, wall: machineNow, offersUrl: undefined });
  await listener.start();
  if (options.withRates !== false) await parts.rateKeeper.start();
  await Promise.all([principals.refresh(), parts.start(), offers.start()]);
  const rateLimit = createRateLimit(db, machineNow, testLogger);
  const app = await createServer({
    logger: testLogger,
    ids,
    metrics: createMetrics(),
    accessLog: true,
    bodyLimitBytes: 1_048_576,
    trustedProxies: [],
    principals,
    rateLimit,
    partnerTimeSharePct: 0,
    requestsAtOnce: 0,
    partnerPerMinute: 1_000_000,
    publicPerMinute: 1_000_000_000,
    wrongKeysPerMinute: 1_000_000,
    baseUrl: 'http://localhost:8080',
    sandbox: true,
    routes: async (server) =>
      registerDiscoveryRoutes(server, {
        ...parts,
        offers,
        wall: machineNow,
        db,
        editor: { db, clock, ids, ownsCatalogue: parts.ownsCatalogue },
      }),
  });
  options.beforeListening?.(app);
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    ...base,
    app,
    baseUrl,
    operatorKey,
    async stop() {
      await app.close();
      await parts.stop();
      await parts.rateKeeper.stop();
      await rateLimit.stop();
      await base.stop();
    },
  };
}
