import { SYSTEM } from '../db/database.ts';
import type { RetrySchedule } from '../lib/backoff.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { repeatEvery } from '../lib/repeat.ts';
import { withSpan } from '../lib/tracing.ts';
import {
  type ClaimedRow,
  claimIntents,
  countPending,
  intentFromRow,
  renewLeases,
  settleIntent,
} from './intent.store.ts';
import type { Intent, Json, JsonObject } from './intent.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from './unit-of-work.ts';

/**
 * What became of an attempt. `followUp` runs in the transaction that settles the intent, so the effect and its
 * consequence (a transition, a posting) are recorded together or not at all.
 */
export type Outcome =
  | {
      readonly kind: 'confirmed';
      readonly result?: Json;
      readonly followUp?: (unit: UnitOfWork) => Promise<void>;
    }
  | {
      readonly kind: 'failed';
      readonly error: string;
      readonly followUp?: (unit: UnitOfWork) => Promise<void>;
    }
  /** It certainly did not happen: try again on the schedule, fail when that is used up. */
  | { readonly kind: 'retry'; readonly error: string }
  /** It is under way elsewhere (mined soon, settled soon): look again; this is no failed attempt. */
  | { readonly kind: 'waiting'; readonly afterMs: number }
  /** It may or may not have happened: ask again, never repeat blindly. */
  | { readonly kind: 'unknown'; readonly error: string; readonly afterMs: number };

export interface IntentHandler<Payload extends JsonObject = JsonObject> {
  readonly kind: string;
  readonly schedule: RetrySchedule;
  perform(intent: Intent<Payload>): Promise<Outcome>;
  /** Called instead of perform when an earlier attempt may have taken effect. */
  reconcile(intent: Intent<Payload>): Promise<Outcome>;
  /** What follows when the schedule is used up. */
  exhausted?(intent: Intent<Payload>, unit: UnitOfWork): Promise<void>;
}

export interface IntentWorkerOptions {
  readonly concurrency: number;
  readonly leaseMs?: number;
  readonly pollMs?: number;
  /** Told whenever the worker has looked for work or ended some: how one sees from outside that it does not hang. */
  readonly onTurn?: () => void;
}

export interface IntentWorker {
  start(): void;
  /** Something was written, or the clock moved: look now instead of at the next poll. */
  wake(): void;
  /** Takes nothing new and waits for what is running. */
  stop(): Promise<void>;
}

interface WorkerDeps extends UnitDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const DEFAULT_LEASE_MS = 15_000;
const DEFAULT_POLL_MS = 250;
const PENDING_GAUGE_MS = 5_000;

export function createIntentWorker(
  deps: WorkerDeps,
  handlers: readonly IntentHandler<never>[],
  options: IntentWorkerOptions,
): IntentWorker {
  const { logger, metrics } = deps;
  const leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS;
  const { onTurn = () => {} } = options;
  const owner = deps.ids.uuid();
  const byKind = new Map(handlers.map((handler) => [handler.kind, handler as unknown as IntentHandler]));
  const kinds = [...byKind.keys()];
  const running = new Set<Promise<void>>();
  const inHand = new Set<string>();
  const timers: NodeJS.Timeout[] = [];
  let stopping = false;
  let claimInFlight: Promise<void> | undefined;
  let wanted = false;

  async function claim(): Promise<void> {
    if (stopping) return;
    wanted = true;
    claimInFlight ??= claimWhileWanted().finally(() => {
      claimInFlight = undefined;
    });
    await claimInFlight;
  }

  async function claimWhileWanted(): Promise<void> {
    try {
      do {
        wanted = false;
        const free = options.concurrency - running.size;
        if (free <= 0) break;
        const rows = await deps.db.query(SYSTEM, claimIntents, [
          deps.clock.date(),
          kinds,
          free,
          leaseMs,
          owner,
        ]);
        onTurn();
        for (const row of rows) track(row);
        if (rows.length === free) wanted = true;
      } while (wanted && !stopping);
    } catch (error) {
      logger.error({ err: error }, 'claiming intents failed');
    }
  }

  function track(row: ClaimedRow): void {
    inHand.add(row.intent_id);
    const work = carryOut(row);
    running.add(work);
    void work.finally(() => {
      inHand.delete(row.intent_id);
      running.delete(work);
      onTurn();
      void claim();
    });
  }

  async function carryOut(row: ClaimedRow): Promise<void> {
    const handler = byKind.get(row.kind);
    if (!handler) return;
    const intent = intentFromRow(row);
    const stopTimer = metrics.intentDurationSeconds.startTimer({ kind: row.kind });
    let outcome: Outcome;
    try {
      outcome = await withSpan(`intent ${intent.kind}`, { 'causeway.intent_id': intent.intentId }, () =>
        row.found_as === 'prepared' ? handler.perform(intent) : handler.reconcile(intent),
      );
    } catch (error) {
      // A handler that throws did not say how far it came; only reconciling can tell.
      logger.error({ err: error, intent_id: intent.intentId, kind: intent.kind }, 'intent handler threw');
      outcome = { kind: 'unknown', error: errorText(error), afterMs: 1_000 };
    }
    stopTimer();
    try {
      await settle(handler, intent, outcome);
      metrics.intentsTotal.inc({ kind: row.kind, outcome: outcome.kind });
    } catch (error) {
      // The lease runs out and the intent is reconciled; nothing is lost.
      logger.error(
        { err: error, intent_id: intent.intentId, kind: intent.kind },
        'settling an intent failed',
      );
    }
  }

  async function settle(handler: IntentHandler, intent: Intent, outcome: Outcome): Promise<void> {
    await unitOfWork(deps, SYSTEM, async (unit) => {
      const plan = settlementOf(handler, intent, outcome, unit.at);
      const settled = await unit.tx.query(settleIntent, [
        intent.intentId,
        owner,
        plan.status,
        plan.result,
        plan.error,
        plan.runAt,
        plan.attempts,
        plan.settled ? unit.at : null,
      ]);
      if (settled.length === 0) {
        logger.warn({ intent_id: intent.intentId, kind: intent.kind }, 'lease lost before settling');
        return;
      }
      if (plan.exhausted) await handler.exhausted?.(intent, unit);
      else if ('followUp' in outcome) await outcome.followUp?.(unit);
    });
  }

  async function updateGauges(): Promise<void> {
    const rows = await deps.db.query(SYSTEM, countPending, [deps.clock.date()]);
    metrics.intentsPending.reset();
    let oldest = 0;
    for (const row of rows) {
      metrics.intentsPending.set({ kind: row.kind }, Number(row.pending));
      oldest = Math.max(oldest, Number(row.oldest_seconds));
    }
    metrics.intentOldestSeconds.set(oldest);
  }

  async function renew(): Promise<void> {
    if (inHand.size > 0) await deps.db.query(SYSTEM, renewLeases, [owner, leaseMs, [...inHand]]);
  }

  function every(ms: number, run: () => Promise<unknown>): void {
    const failed = (error: unknown) => logger.error({ err: error }, 'worker upkeep failed');
    timers.push(repeatEvery(ms, run, failed).unref());
  }

  return {
    start() {
      every(options.pollMs ?? DEFAULT_POLL_MS, claim);
      every(leaseMs / 3, renew);
      every(PENDING_GAUGE_MS, updateGauges);
      void claim();
    },
    wake() {
      void claim();
    },
    async stop() {
      stopping = true;
      await claimInFlight;
      // Leases are renewed to the end: what is still running must not be handed to another worker.
      await Promise.allSettled([...running]);
      for (const timer of timers) clearInterval(timer);
    },
  };
}

interface Settlement {
  readonly status: string;
  readonly result: string | null;
  readonly error: string | null;
  readonly runAt: Date | null;
  readonly attempts: number;
  readonly settled: boolean;
  readonly exhausted: boolean;
}

function settlementOf(handler: IntentHandler, intent: Intent, outcome: Outcome, at: Date): Settlement {
  const base = {
    result: null,
    error: 'error' in outcome ? outcome.error : null,
    runAt: null,
    attempts: intent.attempts,
    settled: false,
    exhausted: false,
  };
  switch (outcome.kind) {
    case 'confirmed':
      return {
        ...base,
        status: 'confirmed',
        result: outcome.result === undefined ? null : JSON.stringify(outcome.result),
        settled: true,
      };
    case 'failed':
      return { ...base, status: 'failed', settled: true };
    case 'retry': {
      const delaySeconds = handler.schedule.delayBeforeAttempt(intent.attempts + 1);
      if (delaySeconds === null) return { ...base, status: 'failed', settled: true, exhausted: true };
      return { ...base, status: 'prepared', runAt: later(at, delaySeconds * 1_000) };
    }
    case 'waiting':
      // Counted back: looking again is not another try.
      return {
        ...base,
        status: 'unknown',
        attempts: Math.max(1, intent.attempts - 1),
        runAt: later(at, outcome.afterMs),
      };
    case 'unknown':
      return { ...base, status: 'unknown', runAt: later(at, outcome.afterMs) };
  }
}

function later(at: Date, ms: number): Date {
  return new Date(at.getTime() + Math.ceil(ms));
}

function errorText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error';
}
