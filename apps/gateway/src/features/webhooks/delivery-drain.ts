import { type Database, SYSTEM } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdGenerator } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { RENEWALS_PER_LEASE, repeatEvery, WORK_LEASE_MS } from '../../lib/pacing.ts';
import { type ConcurrencySlots, createConcurrencySlots, type Slot } from './concurrency-slots.ts';
import {
  type ClaimedDelivery,
  cancelForDisabled,
  claimDeliveries,
  endpointsWithDueDeliveries,
  renewDeliveries,
} from './delivery.store.ts';
import { type DeliveryOutcome, outcomeOf } from './delivery-outcome.ts';
import { createEndpointWindows, type EndpointWindows, settleOutcomes } from './endpoint-health.ts';
import { type OpenSecrets, type SendResult, secretContextOf, type WebhookSender } from './webhook-sender.ts';

/**
 * Carries deliveries from their table to the partners' endpoints.
 *
 * Claims and settlements are batches that grow with the load: while one is on its way to the database, work for the
 * next gathers. Endpoints take turns, each within its own window, so a long queue or a hanging endpoint
 * is not felt by another, of the same partner or not. Any number of processes may drain at once; what one of them had in hand when
 * it died is taken up by the others when its lease runs out.
 */
export interface DeliveryDrain {
  start(): void;
  /** Something was written for this endpoint; without one, any may have something due. The default one goes by its partner's id. */
  wake(endpointId?: string): void;
  /** Takes nothing new and waits for what is under way. */
  stop(): Promise<void>;
}

export interface DrainDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly sender: WebhookSender;
  readonly openSecrets: OpenSecrets;
}

export interface DrainOptions {
  /** Deliveries under way at the same time in this process, those aside whose receivers let them wait. */
  readonly concurrency?: number;
  readonly leaseMs?: number;
  readonly pollMs?: number;
  readonly random?: () => number;
  /** Told whenever it has looked who has something due. */
  readonly onTurn?: () => void;
}

const CONCURRENCY = 512;
const POLL_MS = 500;
const SWEEP_MS = 60_000;
const ENDPOINTS_A_CLAIM = 64;
const CIRCUIT_GAP_MS = 1_000;
const SETTLE_AGAIN_MS = 250;
const LOOK_FOR_SLOW_MS = 250;

/** What claiming, attempting and settling share. */
interface DrainState {
  /** Names this process in the leases it takes. */
  readonly owner: string;
  /** Endpoints that may have something due, in the order of their turns. */
  readonly ready: Set<string>;
  readonly windows: EndpointWindows;
  /** Held until the outcome is recorded: sending may not run ahead of that, or a circuit would open too late. */
  readonly slots: ConcurrencySlots;
  /** Deliveries whose outcome is not recorded yet, by id. */
  readonly inHand: Map<string, { readonly partnerId: string; readonly sinceMs: number }>;
  isStopping: boolean;
}

export function createDeliveryDrain(deps: DrainDeps, options: DrainOptions = {}): DeliveryDrain {
  const { db, clock, logger } = deps;
  const size = options.concurrency ?? CONCURRENCY;
  const state: DrainState = {
    owner: deps.ids.uuid(),
    ready: new Set(),
    windows: createEndpointWindows(),
    slots: createConcurrencySlots({ size, now: () => performance.now() }),
    inHand: new Map(),
    isStopping: false,
  };
  const settling = createSettling(deps, state, () => claiming.soon());
  const attempts = createAttempts(deps, state, settling.add, options.random ?? Math.random);
  const leaseMs = options.leaseMs ?? WORK_LEASE_MS;
  const renewMs = leaseMs / RENEWALS_PER_LEASE;
  const claiming = createClaiming(deps, state, attempts.begin, leaseMs);
  const timers: NodeJS.Timeout[] = [];

  async function discover(): Promise<void> {
    for (const { endpoint_id } of await db.query(SYSTEM, endpointsWithDueDeliveries, [clock.date()])) {
      state.ready.add(endpoint_id);
    }
    options.onTurn?.();
    claiming.soon();
  }

  async function withdrawFromSlow(): Promise<void> {
    const slow = state.slots.withdrawFromSlow(performance.now());
    for (const endpointId of slow) state.windows.slowed(endpointId);
    if (slow.length > 0) claiming.soon();
  }

  /** Most attempts end long before: their leases are not written again. */
  async function renewLeases(): Promise<void> {
    const before = performance.now() - renewMs;
    const held = [...state.inHand].filter(([, { sinceMs }]) => sinceMs <= before);
    if (held.length === 0) return;
    const partnerIds = held.map(([, { partnerId }]) => partnerId);
    const deliveryIds = held.map(([deliveryId]) => deliveryId);
    await db.query(SYSTEM, renewDeliveries, [partnerIds, deliveryIds, state.owner, leaseMs]);
  }

  const upkeep = (ms: number, run: () => Promise<unknown>) =>
    repeatEvery(ms, run, (error) =>
      logger.error({ err: error }, 'upkeep of webhook deliveries failed'),
    ).unref();

  return {
    start() {
      timers.push(
        upkeep(options.pollMs ?? POLL_MS, discover),
        upkeep(LOOK_FOR_SLOW_MS, withdrawFromSlow),
        upkeep(renewMs, renewLeases),
        upkeep(SWEEP_MS, () => db.query(SYSTEM, cancelForDisabled, [clock.date()])),
      );
      this.wake();
    },
    wake(endpointId) {
      if (endpointId === undefined) {
        discover().catch((error) => logger.error({ err: error }, 'looking for webhook deliveries failed'));
        return;
      }
      state.ready.add(endpointId);
      claiming.soon();
    },
    async stop() {
      state.isStopping = true;
      await claiming.done();
      await attempts.done();
      await settling.done();
      // Leases are renewed to the end: what is still being sent must not be sent by another process as well.
      for (const timer of timers) clearInterval(timer);
    },
  };
}

/** Takes due deliveries under a lease, as many as there are slots and each endpoint's window has room for. */
function createClaiming(
  { db, clock, logger }: DrainDeps,
  state: DrainState,
  begin: (claimed: ClaimedDelivery) => void,
  leaseMs: number,
) {
  const { ready, windows, slots } = state;
  let running: Promise<void> | undefined;

  function soon(): void {
    if (state.isStopping) return;
    running ??= claimWhilePossible().then(
      () => {
        running = undefined;
        // An endpoint may have got in line between the last look and now.
        if (ready.size > 0 && slots.free() > 0) soon();
      },
      (error) => {
        // The next poll tries again.
        running = undefined;
        logger.error({ err: error }, 'claiming webhook deliveries failed');
      },
    );
  }

  async function claimWhilePossible(): Promise<void> {
    for (;;) {
      const turns = nextTurns();
      if (turns.length === 0 || state.isStopping) return;
      const rows = await db.query(SYSTEM, claimDeliveries, [
        turns.map(({ endpointId }) => endpointId),
        turns.map(({ quota }) => quota),
        clock.date(),
        leaseMs,
        state.owner,
        CIRCUIT_GAP_MS,
      ]);
      const taken = new Map<string, number>();
      for (const row of rows) {
        taken.set(row.endpoint_id, (taken.get(row.endpoint_id) ?? 0) + 1);
        begin(row);
      }
      // Who filled its quota may have more; it goes to the end of the line.
      for (const { endpointId, quota } of turns) if (taken.get(endpointId) === quota) ready.add(endpointId);
    }
  }

  /** Takes endpoints from the head of the line and shares the free slots among them. */
  function nextTurns(): { endpointId: string; quota: number }[] {
    const free = slots.free();
    if (free <= 0) return [];
    const chosen: string[] = [];
    for (const endpointId of ready) {
      if (chosen.length >= Math.min(ENDPOINTS_A_CLAIM, free)) break;
      // One whose window is full comes back when one of its deliveries ends.
      ready.delete(endpointId);
      if (windows.roomFor(endpointId) > 0) chosen.push(endpointId);
    }
    const share = Math.max(1, Math.floor(free / Math.max(1, chosen.length)));
    return chosen.map((endpointId) => ({ endpointId, quota: Math.min(share, windows.roomFor(endpointId)) }));
  }

  return { soon, done: async () => running };
}

interface Ended {
  readonly outcome: DeliveryOutcome;
  readonly slot: Slot;
}

/** Signs and sends what was claimed, once each. */
function createAttempts(
  deps: DrainDeps,
  state: DrainState,
  onEnded: (ended: Ended) => void,
  random: () => number,
) {
  const { clock, logger, metrics } = deps;
  const underWay = new Set<Promise<void>>();

  async function attempt(claimed: ClaimedDelivery, slot: Slot): Promise<void> {
    const startedAt = clock.date();
    let result: SendResult;
    try {
      const secrets = deps.openSecrets(
        secretContextOf(claimed.partner_id, claimed.endpoint_id),
        claimed,
        startedAt.getTime(),
      );
      const { webhook_url: url, body, api_version: apiVersion } = claimed;
      result = await deps.sender.send({ url, secrets, body, apiVersion });
    } catch (error) {
      // Nothing was sent: the lease runs out and the delivery is due again.
      logger.error({ err: error, delivery_id: claimed.delivery_id }, 'a webhook could not be signed');
      letGo(state, claimed.delivery_id, claimed.endpoint_id, slot, 'prompt');
      return;
    }
    slot.answered();
    const outcome = outcomeOf(claimed, result, startedAt, clock.now(), random);
    metrics.webhookDeliveriesTotal.inc({ outcome: outcome.delivered ? 'delivered' : 'refused' });
    onEnded({ outcome, slot });
  }

  return {
    begin(claimed: ClaimedDelivery): void {
      const { delivery_id: deliveryId, partner_id: partnerId } = claimed;
      state.inHand.set(deliveryId, { partnerId, sinceMs: performance.now() });
      state.windows.started(claimed.endpoint_id);
      const work = attempt(claimed, state.slots.take(claimed.endpoint_id)).finally(() =>
        underWay.delete(work),
      );
      underWay.add(work);
    },
    done: () => Promise.allSettled([...underWay]),
  };
}

/** Records outcomes in batches, then makes room for the next event about the same subject. */
function createSettling(deps: DrainDeps, state: DrainState, onSettled: () => void) {
  let outcomes: Ended[] = [];
  let running: Promise<void> | undefined;

  function soon(): void {
    running ??= settleWhileNeeded().finally(() => {
      running = undefined;
      if (outcomes.length > 0) soon();
    });
  }

  async function settleWhileNeeded(): Promise<void> {
    while (outcomes.length > 0) {
      const batch = outcomes;
      outcomes = [];
      try {
        await settleOutcomes(
          deps,
          state.owner,
          batch.map(({ outcome }) => outcome),
        );
      } catch (error) {
        deps.logger.error({ err: error, deliveries: batch.length }, 'settling webhook deliveries failed');
        // While the leases last this is only late; after that they are sent again.
        if (state.isStopping) return;
        outcomes = [...batch, ...outcomes];
        await new Promise((resolve) => setTimeout(resolve, SETTLE_AGAIN_MS));
        continue;
      }
      for (const { outcome, slot } of batch) {
        const { deliveryId, endpointId, error } = outcome;
        letGo(state, deliveryId, endpointId, slot, error === 'timeout' ? 'timeout' : 'prompt');
        state.ready.add(endpointId);
      }
      onSettled();
    }
  }

  return {
    add(ended: Ended): void {
      outcomes.push(ended);
      soon();
    },
    async done(): Promise<void> {
      while (running !== undefined) await running;
    },
  };
}

function letGo(
  { inHand, windows }: DrainState,
  deliveryId: string,
  endpointId: string,
  slot: Slot,
  end: 'prompt' | 'timeout',
): void {
  inHand.delete(deliveryId);
  slot.giveBack();
  windows.ended(endpointId, end);
}
