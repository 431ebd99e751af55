import type pg from 'pg';
import { createDatabase, type Database } from '../../apps/gateway/src/db/database.ts';
import { createListener, type Listener } from '../../apps/gateway/src/db/listener.ts';
import type { UnitDeps } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { createPrincipals, type PrincipalKind } from '../../apps/gateway/src/http/principals.ts';
import { createRateLimit } from '../../apps/gateway/src/http/rate-limit.ts';
import { createServer } from '../../apps/gateway/src/http/server.ts';
import { createClock, type MovableClock } from '../../apps/gateway/src/lib/clock.ts';
import { createSealer, randomToken, sha256Hex, TOKEN_PREFIX } from '../../apps/gateway/src/lib/crypto.ts';
import { createIdGenerator, newId } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { createMetrics, type Metrics } from '../../apps/gateway/src/lib/metrics.ts';

type Server = Awaited<ReturnType<typeof createServer>>;

export interface ShellOptions {
  readonly databaseUrl: string;
  readonly routes: (app: Server, deps: UnitDeps) => void;
  readonly partnerPerMinute?: number;
  readonly publicPerMinute?: number;
  readonly wrongKeysPerMinute?: number;
  readonly trustedProxies?: readonly string[];
  /** Machine time, which rate-limit windows follow. */
  readonly wall?: () => number;
  readonly onLog?: (line: string) => void;
  /** A line for every request; true by default. */
  readonly accessLog?: boolean;
}

/** The HTTP shell as a gateway process has it, with routes of the test's own. Several may share a database. */
export interface Shell {
  readonly baseUrl: string;
  readonly port: number;
  readonly metrics: Metrics;
  readonly db: Database;
  readonly clock: MovableClock;
  readonly listener: Listener;
  stop(): Promise<void>;
}

export async function startShell(options: ShellOptions): Promise<Shell> {
  const db = createDatabase({ connectionString: options.databaseUrl, poolSize: 10 });
  const clock = createClock();
  const ids = createIdGenerator();
  const logger = createLogger({
    level: options.onLog ? 'debug' : 'silent',
    format: 'json',
    destination: { write: (line) => options.onLog?.(line) },
  });
  const metrics = createMetrics({ processMetrics: false });
  const listener = createListener(options.databaseUrl, () => {});
  const principals = createPrincipals(db, listener, clock, logger);
  const rateLimit = createRateLimit(db, options.wall ?? Date.now, logger);
  await listener.start();
  await principals.refresh();
  const app = await createServer({
    logger,
    ids,
    metrics,
    accessLog: options.accessLog ?? true,
    bodyLimitBytes: 1_048_576,
    trustedProxies: options.trustedProxies ?? [],
    principals,
    rateLimit,
    partnerTimeSharePct: 0,
    requestsAtOnce: 0,
    partnerPerMinute: options.partnerPerMinute ?? 100_000,
    publicPerMinute: options.publicPerMinute ?? 100_000,
    wrongKeysPerMinute: options.wrongKeysPerMinute ?? 100_000,
    baseUrl: 'http://127.0.0.1',
    sandbox: true,
    // The same for every server of a deployment.
    responseSealer: createSealer([Buffer.alloc(32, 7)]),
    routes: async (server) => options.routes(server, { db, clock, ids }),
  }).catch(async (error) => {
    await Promise.all([rateLimit.stop(), listener.close()]);
    await db.close();
    throw error;
  });
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    baseUrl,
    port: Number(new URL(baseUrl).port),
    metrics,
    db,
    clock,
    listener,
    async stop() {
      await app.close();
      await rateLimit.stop();
      await listener.close();
      await db.close();
    },
  };
}

/** A new key, written by the owner's connection as the operator's routes would. */
export async function insertKey(
  owner: pg.Client,
  kind: PrincipalKind,
  ownerId: string | null,
): Promise<string> {
  const key = randomToken(kind === 'partner' ? TOKEN_PREFIX.partnerTest : TOKEN_PREFIX[kind]);
  await owner.query(
    `INSERT INTO api_keys (key_id, kind, owner_id, key_hash, hint, created_at) VALUES ($1, $2, $3, $4, '', clock_timestamp())`,
    [newId(), kind, ownerId, sha256Hex(key)],
  );
  return key;
}

export async function revokeKey(owner: pg.Client, key: string): Promise<void> {
  await owner.query('UPDATE api_keys SET revoked_at = clock_timestamp() WHERE key_hash = $1', [
    sha256Hex(key),
  ]);
}

/** An effect of an order that has failed for good, as a worker writes it after the last try; a sandbox’s own do not fail. */
export async function insertFailedEffect(owner: pg.Client, orderId: string): Promise<string> {
  const effectId = newId();
  await owner.query(
    `INSERT INTO intents (intent_id, partner_id, kind, dedupe_key, payload, run_at, created_at, status, attempts,
       last_error, settled_at)
     SELECT $1, partner_id, 'vendor.offer-order', order_id || ':vendor.offer-order:0',
       jsonb_build_object('order_id', order_id), created_at, created_at, 'failed', 8, 'no answer', created_at
       FROM orders WHERE order_id = $2`,
    [effectId, orderId],
  );
  return effectId;
}
