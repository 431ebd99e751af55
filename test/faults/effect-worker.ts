import { flushCompileCache } from 'node:module';
import { createDatabase } from '../../apps/gateway/src/db/database.ts';
import type { Intent } from '../../apps/gateway/src/engine/intent.ts';
import type { Outcome, ReconcilingHandler } from '../../apps/gateway/src/engine/intent-handler.ts';
import { createIntentWorker } from '../../apps/gateway/src/engine/intent-worker.ts';
import { accountBalances, moveFunds, postEntry } from '../../apps/gateway/src/engine/ledger.ts';
import { schedule } from '../../apps/gateway/src/lib/backoff.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { createMetrics } from '../../apps/gateway/src/lib/metrics.ts';

/** A worker process that killed-workers.test.ts starts and kills: its effects are calls to a bank that never deduplicates. */
const [databaseUrl = '', bankUrl = '', partnerId = ''] = process.argv.slice(2);

const deps = {
  db: createDatabase({ connectionString: databaseUrl, poolSize: 4 }),
  clock: createClock(),
  ids: createIdGenerator(),
  logger: createLogger({ level: 'silent', format: 'json' }),
  metrics: createMetrics({ processMetrics: false }),
};

function paid(intent: Intent): Outcome {
  return {
    kind: 'confirmed',
    followUp: async (unit) => {
      await unit.tx.query(accountBalances, ['bank']);
      postEntry(unit, {
        kind: 'paid',
        dedupeKey: unit.ids.uuid(),
        partnerId,
        orderId: null,
        postings: moveFunds('bank', `payee:${intent.dedupeKey}`, 'EUR@bank', 1n),
      });
    },
  };
}

const handler: ReconcilingHandler<'escrow.release'> = {
  schedule: schedule([0], { maxAttempts: 1_000 }),
  async perform(intent) {
    const response = await fetch(`${bankUrl}/payments/${intent.dedupeKey}`, { method: 'POST' });
    if (response.status === 503) return { kind: 'retry', error: 'refused' };
    return paid(intent);
  },
  async reconcile(intent) {
    const response = await fetch(`${bankUrl}/payments/${intent.dedupeKey}`);
    return response.status === 404 ? { kind: 'retry', error: 'the bank knows nothing of it' } : paid(intent);
  },
};

createIntentWorker(
  deps,
  { 'escrow.release': handler },
  {
    concurrency: 8,
    pollMs: 20,
    leaseMs: 1_000,
  },
).start();
// The worker's own timers do not keep a process alive; this one does until it is killed.
setInterval(() => {}, 1_000);
// Written at an exit otherwise, and none of these has one.
flushCompileCache();
process.stdout.write('ready\n');
