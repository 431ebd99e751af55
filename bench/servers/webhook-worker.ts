import { createDatabase } from '../../apps/gateway/src/db/database.ts';
import { createListener } from '../../apps/gateway/src/db/listener.ts';
import { createDeliveryDrain } from '../../apps/gateway/src/features/webhooks/delivery-drain.ts';
import { createWebhookSender } from '../../apps/gateway/src/features/webhooks/webhook-sender.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { createMetrics } from '../../apps/gateway/src/lib/metrics.ts';

/** The delivering part of a worker, with its own limits and time-outs, until it is told to stop. */
const [databaseUrl = '', secret = ''] = process.argv.slice(2);
const listener = createListener(databaseUrl, () => {});
const drain = createDeliveryDrain({
  db: createDatabase({ connectionString: databaseUrl, poolSize: 4 }),
  clock: createClock(),
  ids: createIdGenerator(),
  logger: createLogger({ level: 'error', format: 'json', destination: process.stderr }),
  metrics: createMetrics({ processMetrics: false }),
  sender: createWebhookSender({ allowLoopback: true }, () => Math.floor(Date.now() / 1_000)),
  openSecrets: () => ({ current: secret }),
});
await listener.start();
await listener.on('events_written', (partnerId) => drain.wake(partnerId));
drain.start();
// What it has in hand is left as a crash would leave it: nobody waits ten seconds for a receiver that hangs.
process.on('SIGTERM', () => process.exit(0));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1_000 });
});
process.send?.({ url: 'ready' });
