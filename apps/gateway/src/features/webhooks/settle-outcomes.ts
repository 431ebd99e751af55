import { type Database, SYSTEM } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  lockEndpoints,
  recordEndpointFailures,
  recordEndpointSuccess,
  settleDeliveries,
} from './delivery.store.ts';
import type { DeliveryOutcome } from './delivery-outcome.ts';

/** Failures in a row, whatever the delivery, after which an endpoint is only tried once a second. */
const CIRCUIT_OPENS_AT = 20;

/** Records a batch of attempts and what they say about their endpoints, in one transaction and one round trip. */
export async function settleOutcomes(
  tools: { readonly db: Database; readonly clock: Clock },
  owner: string,
  batch: readonly DeliveryOutcome[],
): Promise<void> {
  const at = tools.clock.date();
  const { answering, failing } = endpointsIn(batch);
  await tools.db.transaction(SYSTEM, async (tx) => {
    tx.defer(settleDeliveries, [
      batch.map(({ partnerId }) => partnerId),
      batch.map(({ deliveryId }) => deliveryId),
      batch.map(({ attempts }) => attempts),
      batch.map(({ delivered }) => delivered),
      batch.map(({ retryAt }) => retryAt),
      batch.map(({ logEntry }) => JSON.stringify(logEntry)),
      owner,
      at,
    ]);
    tx.defer(lockEndpoints, [answering, failing.map(({ partnerId }) => partnerId)]);
    if (answering.length > 0) tx.defer(recordEndpointSuccess, [answering]);
    if (failing.length === 0) return;
    tx.defer(recordEndpointFailures, [
      failing.map(({ partnerId }) => partnerId),
      failing.map(({ failures }) => failures),
      failing.map(({ error }) => error),
      at,
      CIRCUIT_OPENS_AT,
    ]);
  });
}

interface FailingEndpoint {
  readonly partnerId: string;
  /** Since the last accepted delivery of the batch. */
  readonly failures: number;
  readonly error: string;
}

function endpointsIn(batch: readonly DeliveryOutcome[]): {
  answering: string[];
  failing: FailingEndpoint[];
} {
  const answering = new Set<string>();
  const failing = new Map<string, FailingEndpoint>();
  for (const { partnerId, delivered, error, logEntry } of batch) {
    if (delivered) {
      answering.add(partnerId);
      failing.delete(partnerId);
      continue;
    }
    const failures = (failing.get(partnerId)?.failures ?? 0) + 1;
    const status = logEntry.http_status === null ? '' : `: answered ${logEntry.http_status}`;
    failing.set(partnerId, { partnerId, failures, error: `${error}${status}` });
  }
  return { answering: [...answering], failing: [...failing.values()] };
}
