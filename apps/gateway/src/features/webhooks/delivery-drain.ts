import { type Database, SYSTEM } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdGenerator } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { createConcurrencySlots, type Place } from './concurrency-slots.ts';
import {
  type ClaimedDelivery,
  cancelForDisabled,
  claimDeliveries,
  partnersWithDueDeliveries,
} from './delivery.store.ts';
import { type DeliveryOutcome, outcomeOf } from './delivery-outcome.ts';
import { createEndpointWindows, settleOutcomes } from './endpoint-health.ts';
import type { OpenSecrets, SendResult, WebhookSender } from './webhook-sender.ts';

/**
 * Carries deliveries from their table to the partners' endpoints.
 *
 * Claims and settlements are batches that grow with the load: while one is on its way to the database, work for the
 * next gathers. Partners take turns, each within its own window, so a long queue or a hanging endpoint
 * of one is not felt by another. Any number of processes may drain at once; what one of them had in hand when
 * it died is taken up by the others when its lease runs out.
 */
export interface DeliveryDrain {
  start(): void;
  /** Something was written for this partner; without one, anybody may have something due. */
  wake(partnerId?: string): void;
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
  /** Longer than an attempt can take: a lease is not renewed. */
  readonly leaseMs?: number;
  readonly pollMs?: number;
  readonly random?: () => number;
  /** Told whenever it has looked who has something due. */
  readonly onTurn?: () => void;
}

const CONCURRENCY = 512;
const LEASE_MS = 20_000;
const POLL_MS = 500;
const SWEEP_MS = 60_000;
const PARTNERS_A_CLAIM = 64;
const CIRCUIT_GAP_MS = 1_000;
const SETTLE_AGAIN_MS = 250;
const LOOK_FOR_SLOW_MS = 250;

interface Ended {
  readonly outcome: DeliveryOutcome;
  readonly place: Place;
}

export function createDeliveryDrain(deps: DrainDeps, options: DrainOptions = {}): DeliveryDrain {
  const { db, clock, logger, metrics } = deps;
  const concurrency = options.concurrency ?? CONCURRENCY;
  const random = options.random ?? Math.random;
  const owner = deps.ids.uuid();
  const windows = createEndpointWindows();
  // In the order of their turns.
  const ready = new Set<string>();
  const underWay = new Set<Promise<void>>();
  const timers: NodeJS.Timeout[] = [];
  // Held until the outcome is recorded: sending may not run ahead of that, or a circuit would open too late.
  const places = createConcurrencySlots({ size: concurrency, now: () => performance.now() });
  let outcomes: Ended[] = [];
  let claiming: Promise<void> | undefined;
  let settling: Promise<void> | undefined;
  let stopping = false;

  function claimSoon(): void {
    if (stopping) return;
    claiming ??= claimWhilePossible().then(
      () => {
        claiming = undefined;
        // Somebody may have got in line between the last look and now.
        if (ready.size > 0 && places.free() > 0) claimSoon();
      },
      (error) => {
        // The next poll tries again.
        claiming = undefined;
        logger.error({ err: error }, 'claiming webhook deliveries failed');
      },
    );
  }

  async function claimWhilePossible(): Promise<void> {
    for (;;) {
      const turns = nextTurns();
      if (turns.length === 0 || stopping) return;
      const rows = await db.query(SYSTEM, claimDeliveries, [
        turns.map(({ partnerId }) => partnerId),
        turns.map(({ quota }) => quota),
        clock.date(),
        options.leaseMs ?? LEASE_MS,
        owner,
        CIRCUIT_GAP_MS,
      ]);
      const taken = new Map<string, number>();
      for (const row of rows) {
        taken.set(row.partner_id, (taken.get(row.partner_id) ?? 0) + 1);
        begin(row);
      }
      // Who filled its quota may have more; it goes to the end of the line.
      for (const { partnerId, quota } of turns) if (taken.get(partnerId) === quota) ready.add(partnerId);
    }
  }

  /** Takes partners from the head of the line and shares the free places among them. */
  function nextTurns(): { partnerId: string; quota: number }[] {
    const free = places.free();
    if (free <= 0) return [];
    const chosen: string[] = [];
    for (const partnerId of ready) {
      if (chosen.length >= Math.min(PARTNERS_A_CLAIM, free)) break;
      // One whose window is full comes back when one of its deliveries ends.
      ready.delete(partnerId);
      if (windows.roomFor(partnerId) > 0) chosen.push(partnerId);
    }
    const share = Math.max(1, Math.floor(free / Math.max(1, chosen.length)));
    return chosen.map((partnerId) => ({ partnerId, quota: Math.min(share, windows.roomFor(partnerId)) }));
  }

  function begin(claimed: ClaimedDelivery): void {
    windows.started(claimed.partner_id);
    const work = attempt(claimed, places.take(claimed.partner_id)).finally(() => underWay.delete(work));
    underWay.add(work);
  }

  async function attempt(claimed: ClaimedDelivery, place: Place): Promise<void> {
    const startedAt = clock.date();
    let result: SendResult;
    try {
      const secrets = deps.openSecrets(claimed.partner_id, claimed, startedAt.getTime());
      result = await deps.sender.send({ url: claimed.webhook_url, secrets, body: claimed.body });
    } catch (error) {
      // Nothing was sent: the lease runs out and the delivery is due again.
      logger.error({ err: error, delivery_id: claimed.delivery_id }, 'a webhook could not be signed');
      letGo(claimed.partner_id, place, 'prompt');
      return;
    }
    place.answered();
    const outcome = outcomeOf(claimed, result, startedAt, clock.now(), random);
    metrics.webhookDeliveriesTotal.inc({ outcome: outcome.delivered ? 'delivered' : 'refused' });
    outcomes.push({ outcome, place });
    settleSoon();
  }

  function letGo(partnerId: string, place: Place, end: 'prompt' | 'timeout'): void {
    place.giveBack();
    windows.ended(partnerId, end);
  }

  function settleSoon(): void {
    settling ??= settleWhileNeeded().finally(() => {
      settling = undefined;
      if (outcomes.length > 0) settleSoon();
    });
  }

  async function settleWhileNeeded(): Promise<void> {
    while (outcomes.length > 0) {
      const batch = outcomes;
      outcomes = [];
      try {
        await settleOutcomes(
          deps,
          owner,
          batch.map(({ outcome }) => outcome),
        );
      } catch (error) {
        logger.error({ err: error, deliveries: batch.length }, 'settling webhook deliveries failed');
        // While the leases last this is only late; after that they are sent again.
        if (stopping) return;
        outcomes = [...batch, ...outcomes];
        await new Promise((resolve) => setTimeout(resolve, SETTLE_AGAIN_MS));
        continue;
      }
      // The next event about the same subject may go now.
      for (const { outcome, place } of batch) {
        const { partnerId, error } = outcome;
        letGo(partnerId, place, error === 'timeout' ? 'timeout' : 'prompt');
        ready.add(partnerId);
      }
      claimSoon();
    }
  }

  function withdrawFromSlow(): void {
    const slow = places.withdrawFromSlow(performance.now());
    for (const partnerId of slow) windows.slowed(partnerId);
    if (slow.length > 0) claimSoon();
  }

  async function discover(): Promise<void> {
    for (const { partner_id } of await db.query(SYSTEM, partnersWithDueDeliveries, [clock.date()])) {
      ready.add(partner_id);
    }
    options.onTurn?.();
    claimSoon();
  }

  function every(ms: number, run: () => Promise<unknown>): void {
    let running = false;
    const timer = setInterval(() => {
      if (running) return;
      running = true;
      run()
        .catch((error) => logger.error({ err: error }, 'upkeep of webhook deliveries failed'))
        .finally(() => {
          running = false;
        });
    }, ms);
    timer.unref();
    timers.push(timer);
  }

  return {
    start() {
      every(options.pollMs ?? POLL_MS, discover);
      every(LOOK_FOR_SLOW_MS, async () => withdrawFromSlow());
      every(SWEEP_MS, () => db.query(SYSTEM, cancelForDisabled, [clock.date()]));
      this.wake();
    },
    wake(partnerId) {
      if (partnerId === undefined) {
        discover().catch((error) => logger.error({ err: error }, 'looking for webhook deliveries failed'));
        return;
      }
      ready.add(partnerId);
      claimSoon();
    },
    async stop() {
      stopping = true;
      for (const timer of timers) clearInterval(timer);
      await claiming;
      await Promise.allSettled([...underWay]);
      while (settling !== undefined) await settling;
    },
  };
}
