import { SYSTEM } from '../db/database.ts';
import { isOutage } from '../db/outage.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { RENEWALS_PER_LEASE, repeatEvery, WORK_LEASE_MS } from '../lib/pacing.ts';
import { withSpan } from '../lib/tracing.ts';
import { longestWaitMinutes, payloadProblem } from './effects.ts';
import {
  abandonLeases,
  type ClaimedRow,
  claimIntents,
  countPending,
  intentFromRow,
  renewLeases,
  settleIntent,
} from './intent.store.ts';
import type { Intent } from './intent.ts';
import { type AnyHandler, handlersByKind, type IntentHandlers, type Outcome } from './intent-handler.ts';
import { type UnitDeps, type UnitOfWork, writeWith } from './unit-of-work.ts';

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

const DEFAULT_POLL_MS = 250;
const PENDING_GAUGE_MS = 5_000;
const MISFIT_LOOK_MS = 60_000;

export function createIntentWorker(
  deps: WorkerDeps,
  handlers: Partial<IntentHandlers>,
  options: IntentWorkerOptions,
): IntentWorker {
  const { logger, metrics } = deps;
  const leaseMs = options.leaseMs ?? WORK_LEASE_MS;
  const owner = deps.ids.uuid();
  const byKind = handlersByKind(handlers);
  const kinds = [...byKind.keys()];
  const claims = createClaims(deps, { ...options, leaseMs, owner, kinds }, carryOut);
  const timers: NodeJS.Timeout[] = [];

  async function carryOut(row: ClaimedRow): Promise<void> {
    const handler = byKind.get(row.kind);
    if (!handler) return;
    const intent = intentFromRow(row);
    const stopTimer = metrics.intentDurationSeconds.startTimer({ kind: row.kind });
    let outcome: Outcome;
    try {
      outcome = await withSpan(`intent ${intent.kind}`, { 'causeway.intent_id': intent.intentId }, () =>
        attempt(handler, intent, row.found_as),
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
      // The lease ends and the intent is reconciled; nothing is lost.
      claims.doubt(error);
      logger.error(
        { err: error, intent_id: intent.intentId, kind: intent.kind },
        'settling an intent failed',
      );
    }
  }

  async function settle(handler: AnyHandler, intent: Intent, outcome: Outcome): Promise<void> {
    const plan = settlementOf(handler, intent, outcome, deps.clock.now());
    const params = (at: Date) => settlementParams(intent, owner, plan, at);
    const settled = await writeWith(deps, SYSTEM, [settleIntent, params], plan.further);
    if (settled.length === 0) {
      logger.warn({ intent_id: intent.intentId, kind: intent.kind }, 'lease lost before settling');
    } else {
      tellOf(logger, intent, plan, deps.clock.date());
    }
  }

  function every(ms: number, run: () => Promise<unknown>): void {
    const failed = (error: unknown) => logger.error({ err: error }, 'worker upkeep failed');
    timers.push(repeatEvery(ms, run, failed).unref());
  }

  return {
    start() {
      every(options.pollMs ?? DEFAULT_POLL_MS, claims.claim);
      every(leaseMs / RENEWALS_PER_LEASE, claims.renew);
      every(PENDING_GAUGE_MS, () => updateGauges(deps));
      void claims.claim();
    },
    wake() {
      void claims.claim();
    },
    async stop() {
      // Leases are renewed to the end: what is still running must not be handed to another worker.
      await claims.stop();
      for (const timer of timers) clearInterval(timer);
    },
  };
}

async function attempt(
  handler: AnyHandler,
  intent: Intent,
  foundAs: ClaimedRow['found_as'],
): Promise<Outcome> {
  // Another version wrote it. It is listed as stuck and looked at again: this version may be replaced by one that knows.
  const problem = payloadProblem(intent.kind, intent.payload);
  if (problem !== undefined) return { kind: 'unknown', error: problem, afterMs: MISFIT_LOOK_MS };
  const carryOut = foundAs === 'prepared' ? handler.perform : (handler.reconcile ?? handler.perform);
  return carryOut(intent);
}

interface Settlement {
  readonly status: string;
  readonly result: string | null;
  readonly error: string | null;
  /** When to look at it again; null where that is over. */
  readonly afterMs: number | null;
  readonly attempts: number;
  /** What is recorded together with it. */
  readonly further: ((unit: UnitOfWork) => Promise<void>) | undefined;
}

function settlementOf(handler: AnyHandler, intent: Intent, outcome: Outcome, nowMs: number): Settlement {
  const base = {
    result: null,
    error: 'error' in outcome ? outcome.error : null,
    afterMs: null,
    attempts: intent.attempts,
    further: 'followUp' in outcome ? outcome.followUp : undefined,
  };
  switch (outcome.kind) {
    case 'confirmed': {
      const result = outcome.result === undefined ? null : JSON.stringify(outcome.result);
      return { ...base, status: 'confirmed', result };
    }
    case 'failed':
      return { ...base, status: 'failed' };
    case 'retry': {
      const delaySeconds = handler.schedule.delayBeforeAttempt(intent.attempts + 1);
      if (delaySeconds !== null) return { ...base, status: 'prepared', afterMs: delaySeconds * 1_000 };
      const { exhausted } = handler;
      return { ...base, status: 'failed', further: exhausted && ((unit) => exhausted(intent, unit)) };
    }
    case 'waiting':
      // Counted back: looking again is not another try.
      return {
        ...base,
        status: 'unknown',
        error: overlongWait(intent, outcome.reason, nowMs),
        attempts: Math.max(1, intent.attempts - 1),
        afterMs: outcome.afterMs,
      };
    case 'unknown':
      return { ...base, status: 'unknown', afterMs: outcome.afterMs };
  }
}

const LONG_RETRY_MS = 60_000;

/** Of quick retries the 1st, 2nd, 4th, 8th … leave a line: a thousand effects that wait for one server would bury it. */
const leavesLine = (attempts: number, afterMs: number) =>
  afterMs >= LONG_RETRY_MS || Number.isInteger(Math.log2(attempts));

/** What failed waits for a person. What is merely under way, or was asked about in vain, is in the metrics. */
function tellOf(logger: Logger, intent: Intent, { status, error, afterMs, attempts }: Settlement, at: Date) {
  const order = 'order_id' in intent.payload ? { order_id: intent.payload.order_id } : {};
  const about = { intent_id: intent.intentId, kind: intent.kind, ...order, attempts, reason: error };
  if (status === 'failed') {
    logger.error(about, 'an effect failed');
  } else if (status === 'prepared' && afterMs !== null && leavesLine(attempts, afterMs)) {
    logger.warn({ ...about, next_attempt_at: later(at, afterMs) }, 'an effect is tried again');
  }
}

/** With an error it is listed as stuck, and is looked at as before: what it waits for may still come. */
function overlongWait({ kind, createdAt }: Intent, reason: string | undefined, nowMs: number): string | null {
  const minutes = longestWaitMinutes(kind);
  if (nowMs - createdAt.getTime() <= minutes * 60_000) return null;
  const text = `has waited for more than ${minutes} minutes`;
  return reason === undefined ? text : `${text}: ${reason}`;
}

function settlementParams(intent: Intent, owner: string, plan: Settlement, at: Date) {
  const { status, result, error, afterMs, attempts } = plan;
  const [runAt, settledAt] = afterMs === null ? [null, at] : [later(at, afterMs), null];
  return [intent.intentId, owner, status, result, error, runAt, attempts, settledAt] as const;
}

function later(at: Date, ms: number): Date {
  return new Date(at.getTime() + Math.ceil(ms));
}

function errorText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error';
}

interface ClaimOptions extends IntentWorkerOptions {
  readonly leaseMs: number;
  readonly owner: string;
  readonly kinds: readonly string[];
}

/** Takes due intents under a lease, as many as may run at once, and keeps the lease until each is carried out. */
function createClaims(
  { db, clock, logger }: WorkerDeps,
  { kinds, owner, leaseMs, concurrency, onTurn = () => {} }: ClaimOptions,
  carryOut: (row: ClaimedRow) => Promise<void>,
) {
  const running = new Set<Promise<void>>();
  const inHand = new Set<string>();
  let stopping = false;
  let claimInFlight: Promise<void> | undefined;
  let wanted = false;
  // An outage leaves leases behind that no work belongs to: a claim whose answer was lost, an outcome that was not written.
  let isInDoubt = false;
  // Where a claim has taken all that was due, what comes later is announced; the poll finds what only time makes due.
  let isMoreDue = false;

  /** Only an outage: what fails for another reason fails again, and its lease is the pause before that. */
  function doubt(error: unknown): void {
    isInDoubt ||= isOutage(error);
  }

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
        const free = concurrency - running.size;
        isMoreDue = true;
        if (free <= 0) break;
        if (isInDoubt) {
          await db.query(SYSTEM, abandonLeases, [owner, [...inHand]]);
          isInDoubt = false;
        }
        const rows = await db.query(SYSTEM, claimIntents, [clock.date(), kinds, free, leaseMs, owner]);
        onTurn();
        for (const row of rows) track(row);
        isMoreDue = rows.length === free;
        if (isMoreDue) wanted = true;
      } while (wanted && !stopping);
    } catch (error) {
      doubt(error);
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
      if (isMoreDue) void claim();
    });
  }

  return {
    claim,
    doubt,
    async renew(): Promise<void> {
      if (inHand.size > 0) await db.query(SYSTEM, renewLeases, [owner, leaseMs, [...inHand]]);
    },
    /** Takes nothing new and waits for what is running. */
    async stop(): Promise<void> {
      stopping = true;
      await claimInFlight;
      await Promise.allSettled([...running]);
    },
  };
}

async function updateGauges({ db, clock, metrics }: WorkerDeps): Promise<void> {
  const rows = await db.query(SYSTEM, countPending, [clock.date()]);
  metrics.intentsPending.reset();
  metrics.intentsUnknown.reset();
  let oldest = 0;
  for (const row of rows) {
    metrics.intentsPending.set({ kind: row.kind }, Number(row.pending));
    metrics.intentsUnknown.set({ kind: row.kind }, Number(row.unknown));
    oldest = Math.max(oldest, Number(row.oldest_seconds));
  }
  metrics.intentOldestSeconds.set(oldest);
}
