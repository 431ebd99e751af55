import type pg from 'pg';
import { createDatabase } from '../../apps/gateway/src/db/database.ts';
import { createListener } from '../../apps/gateway/src/db/listener.ts';
import {
  createDeliveryDrain,
  type DrainOptions,
} from '../../apps/gateway/src/features/webhooks/delivery-drain.ts';
import { createWebhookSender } from '../../apps/gateway/src/features/webhooks/webhook-sender.ts';
import type { Clock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { createMetrics } from '../../apps/gateway/src/lib/metrics.ts';
import { insertPartner } from './partners.ts';

/** The delivering part of a worker, for soaks and benches of webhooks, with its real limits and time-outs unless told otherwise. */
export interface DrainSettings {
  readonly databaseUrl: string;
  /** Woken by each commit; otherwise by polling only. */
  readonly listens?: boolean;
  readonly timeoutMs?: number;
  readonly draining?: Pick<DrainOptions, 'leaseMs' | 'pollMs'>;
}

export interface RunningDrain {
  wake(): void;
  /** Waits for what is under way. */
  stop(): Promise<void>;
}

/** Every partner's. */
export const WEBHOOK_SECRET = 'whsec_0123456789abcdefghijklmnopqrstuv';
const CONNECTIONS = 4;

export async function startDrain(settings: DrainSettings, clock: Clock): Promise<RunningDrain> {
  const { databaseUrl, listens = false, timeoutMs, draining } = settings;
  const db = createDatabase({ connectionString: databaseUrl, poolSize: CONNECTIONS });
  const wallSeconds = () => Math.floor(Date.now() / 1_000);
  const sender = createWebhookSender(
    { allowLoopback: true },
    wallSeconds,
    timeoutMs === undefined ? {} : { timeoutMs },
  );
  const drain = createDeliveryDrain(
    {
      db,
      clock,
      ids: createIdGenerator(),
      logger: createLogger({ level: 'error', format: 'json', destination: process.stderr }),
      metrics: createMetrics({ processMetrics: false }),
      sender,
      openSecrets: () => ({ current: WEBHOOK_SECRET }),
    },
    draining,
  );
  const listener = createListener(databaseUrl, () => {});
  if (listens) {
    await listener.start();
    await listener.on('deliveries_written', (endpointId) => drain.wake(endpointId));
  }
  drain.start();
  return {
    wake: () => drain.wake(),
    async stop() {
      if (listens) await listener.close();
      await drain.stop();
      await sender.close();
      await db.close();
    },
  };
}

/** Partners whose webhooks go to `urlOf` their id. */
export async function insertReceivers(
  owner: pg.Client,
  count: number,
  urlOf: (partnerId: string) => string,
): Promise<string[]> {
  const ids = createIdGenerator();
  const partnerIds = Array.from({ length: count }, () => ids.uuid());
  for (const partnerId of partnerIds) {
    await insertPartner(owner, partnerId, { webhookEnabled: true, webhookUrl: urlOf(partnerId) });
  }
  return partnerIds;
}
