import { type Database, SYSTEM } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  lockEndpoints,
  recordEndpointFailures,
  recordEndpointSuccess,
  settleDeliveries,
} from './delivery.store.ts';
import type { DeliveryOutcome } from './delivery-outcome.ts';

/**
 * How many deliveries one endpoint may have under way in this process. It grows while the endpoint answers and is halved
 * when it lets us wait in vain, so that a hanging endpoint soon holds one connection and delays no other endpoint.
 */
export interface EndpointWindows {
  /** How many more may be started now. */
  roomFor(endpointId: string): number;
  started(endpointId: string): void;
  /** An attempt has waited long for its answer: a large window is halved, down to where it began. */
  slowed(endpointId: string): void;
  ended(endpointId: string, end: 'prompt' | 'timeout'): void;
}

interface Window {
  size: number;
  inFlight: number;
}

const FIRST_SIZE = 16;
const LARGEST_SIZE = 64;
const KEPT_IDLE_WINDOWS = 10_000;

export function createEndpointWindows(): EndpointWindows {
  const windows = new Map<string, Window>();

  function windowOf(endpointId: string): Window {
    const known = windows.get(endpointId);
    if (known !== undefined) return known;
    const fresh = { size: FIRST_SIZE, inFlight: 0 };
    windows.set(endpointId, fresh);
    return fresh;
  }

  function purgeIdle(): void {
    if (windows.size <= KEPT_IDLE_WINDOWS) return;
    for (const [endpointId, { inFlight }] of windows) if (inFlight === 0) windows.delete(endpointId);
  }

  return {
    roomFor(endpointId) {
      const known = windows.get(endpointId);
      return known === undefined ? FIRST_SIZE : Math.max(0, known.size - known.inFlight);
    },
    started(endpointId) {
      windowOf(endpointId).inFlight += 1;
    },
    slowed(endpointId) {
      const window = windowOf(endpointId);
      // Answering after seconds is allowed: such an endpoint keeps a window it can work with.
      if (window.size > FIRST_SIZE) window.size = Math.max(FIRST_SIZE, Math.floor(window.size / 2));
    },
    ended(endpointId, end) {
      const window = windowOf(endpointId);
      window.inFlight -= 1;
      window.size =
        end === 'timeout'
          ? Math.max(1, Math.floor(window.size / 2))
          : Math.min(LARGEST_SIZE, window.size + 1);
      purgeIdle();
    },
  };
}

/** Failures in a row, whatever the delivery, after which an endpoint is only tried once a second. */
const CIRCUIT_OPENS_AT = 20;

/** Records a batch of attempts and what they say about their endpoints, in one transaction and one round trip. */
export async function settleOutcomes(
  deps: { readonly db: Database; readonly clock: Clock },
  owner: string,
  batch: readonly DeliveryOutcome[],
): Promise<void> {
  const at = deps.clock.date();
  const { answering, failing } = endpointsIn(batch);
  await deps.db.transaction(SYSTEM, async (tx) => {
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
    tx.defer(lockEndpoints, [answering, failing.map(({ endpointId }) => endpointId)]);
    if (answering.length > 0) tx.defer(recordEndpointSuccess, [answering]);
    if (failing.length === 0) return;
    tx.defer(recordEndpointFailures, [
      failing.map(({ endpointId }) => endpointId),
      failing.map(({ partnerId }) => partnerId),
      failing.map(({ failures }) => failures),
      failing.map(({ error }) => error),
      at,
      CIRCUIT_OPENS_AT,
    ]);
  });
}

interface FailingEndpoint {
  readonly endpointId: string;
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
  for (const { partnerId, endpointId, delivered, error, logEntry } of batch) {
    if (delivered) {
      answering.add(endpointId);
      failing.delete(endpointId);
      continue;
    }
    const failures = (failing.get(endpointId)?.failures ?? 0) + 1;
    const status = logEntry.http_status === null ? '' : `: answered ${logEntry.http_status}`;
    failing.set(endpointId, { endpointId, partnerId, failures, error: `${error}${status}` });
  }
  return { answering: [...answering], failing: [...failing.values()] };
}
