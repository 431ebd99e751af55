import { openSync } from 'node:fs';
import { devNull } from 'node:os';
import { Type } from 'typebox';
import { createDatabase } from '../../apps/gateway/src/db/database.ts';
import { createListener } from '../../apps/gateway/src/db/listener.ts';
import { createPrincipals } from '../../apps/gateway/src/http/principals.ts';
import { createRateLimit } from '../../apps/gateway/src/http/rate-limit.ts';
import { route } from '../../apps/gateway/src/http/route.ts';
import { createServer } from '../../apps/gateway/src/http/server.ts';
import { createClock, machineNow } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { createMetrics } from '../../apps/gateway/src/lib/metrics.ts';
import { ANSWER } from './answer.ts';

/**
 * The candidate: the gateway's whole shell (keys, limits, headers, metrics, errors, access log) around a route that does
 * nothing. The log is written as ever, to the null device.
 */
const { DATABASE_URL: databaseUrl = '', ACCESS_LOG: accessLog = 'on' } = process.env;
const logger = createLogger({ level: 'warn', format: 'json', fd: openSync(devNull, 'w') });
const db = createDatabase({ connectionString: databaseUrl, poolSize: 4 });
const listener = createListener(databaseUrl, (error) => logger.error({ err: error }, 'listener'));
const principals = createPrincipals(db, listener, createClock(), logger);
const rateLimit = createRateLimit(db, machineNow, logger);
const ids = createIdGenerator();
await listener.start();
await principals.refresh();
const app = await createServer({
  logger,
  ids,
  metrics: createMetrics(),
  accessLog: accessLog === 'on',
  bodyLimitBytes: 1_048_576,
  trustedProxies: [],
  principals,
  rateLimit,
  partnerTimeSharePct: 20,
  requestsAtOnce: 64,
  partnerPerMinute: 100_000_000,
  publicPerMinute: 100_000_000,
  wrongKeysPerMinute: 100_000_000,
  baseUrl: 'http://127.0.0.1',
  sandbox: true,
  routes: async (server) => {
    route(server, {
      access: 'partner',
      transaction: 'none',
      method: 'GET',
      url: '/api/v1/partner/trivial',
      operationId: 'trivial',
      tag: 'Gateway',
      summary: 'Nothing',
      data: Type.Object({ message: Type.String() }),
      handle: () => ANSWER.data,
    });
  },
});
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
if (typeof address === 'object' && address !== null)
  process.send?.({ url: `http://127.0.0.1:${address.port}/api/v1/partner/trivial` });
process.once('SIGTERM', () => {
  void (async () => {
    await app.close();
    await rateLimit.stop();
    await listener.close();
    await db.close();
    process.exit(0);
  })();
});
