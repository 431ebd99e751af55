import { createDatabase } from '../../apps/gateway/src/db/database.ts';
import { createDeliveryDrain } from '../../apps/gateway/src/features/webhooks/delivery-drain.ts';
import { createWebhookSender } from '../../apps/gateway/src/features/webhooks/webhook-sender.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { createMetrics } from '../../apps/gateway/src/lib/metrics.ts';

/** A process that drains deliveries until it is killed; its clock is moved over standard input, in milliseconds. */
const [databaseUrl = '', secret = ''] = process.argv.slice(2);
// Short, so that hanging receivers and dead workers cost a test little; the order of the three is the real one.
const [TIMEOUT_MS, LEASE_MS, POLL_MS] = [1_000, 3_000, 50];

const clock = createClock();
const drain = createDeliveryDrain(
  {
    db: createDatabase({ connectionString: databaseUrl, poolSize: 4 }),
    clock,
    ids: createIdGenerator(),
    logger: createLogger({ level: 'error', format: 'json', destination: process.stderr }),
    metrics: createMetrics({ processMetrics: false }),
    sender: createWebhookSender({ allowLoopback: true }, () => Math.floor(Date.now() / 1_000), {
      timeoutMs: TIMEOUT_MS,
    }),
    openSecrets: () => ({ current: secret }),
  },
  { leaseMs: LEASE_MS, pollMs: POLL_MS },
);
drain.start();
process.stdin.on('data', (chunk) => {
  clock.moveTo(Number(chunk.toString().trim().split('\n').at(-1)));
  drain.wake();
});
process.stdout.write('ready\n');
