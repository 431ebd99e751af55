import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createDatabase, SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { emitEvent } from '../../apps/gateway/src/engine/outbox.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { insertReceivers, WEBHOOK_SECRET } from '../harness/delivery-drain.ts';
import { orderChanged } from '../harness/events.ts';
import { startWebhookSink } from '../harness/webhook-sink.ts';
import { COMMON_FAULTS } from '../harness/webhook-sink-faults.ts';
import { type DeliveryWorker, forkDeliveryWorker } from './delivery-worker.ts';

export interface SoakOptions {
  readonly databaseUrl: string;
  readonly events: number;
  readonly seed: number;
  readonly partners?: number;
  readonly workers?: number;
  readonly kills: number;
  readonly timeoutMs: number;
  readonly say?: (text: string) => void;
}

export interface SoakResult {
  readonly events: number;
  /** Events that arrived whole at least once and got a complete 200, at once or slowly. */
  readonly acknowledged: number;
  readonly undelivered: number;
  readonly requests: number;
  readonly wronglySigned: number;
  readonly alteredBodies: number;
  /** Pairs of events about one subject whose first attempts were begun in the wrong order, by the senders' own record. */
  readonly begunOutOfOrder: number;
  /** Subjects whose events arrived out of order, among those whose first attempt is known to have arrived. */
  readonly arrivedOutOfOrder: number;
  readonly faultyAnswers: number;
  readonly killed: number;
  readonly seconds: number;
}

const EVENTS_A_SUBJECT = 5;
const SUBJECTS_A_TRANSACTION = 20;
const FAULTY_SHARE = 0.3;
const JUMP_MS = 24 * 60 * 60 * 1_000 + 2_000;

/** Events to a sink that fails three times in ten, by workers that are killed at random, under a clock that is moved. */
export async function soakWebhooks(options: SoakOptions): Promise<SoakResult> {
  const { partners = 8, workers = 3, say = () => {} } = options;
  const random = seeded(options.seed);
  const ids = createIdGenerator();
  const clock = createClock();
  const began = performance.now();
  const owner = new pg.Client({ connectionString: options.databaseUrl });
  await owner.connect();
  const db = createDatabase({ connectionString: options.databaseUrl, poolSize: 4 });
  const sink = await startWebhookSink({
    tls: false,
    secret: WEBHOOK_SECRET,
    seed: options.seed,
    faults: { probability: FAULTY_SHARE, mix: COMMON_FAULTS },
  });
  const crew = createCrew(options.databaseUrl, () => clock.offsetMs);
  try {
    const partnerIds = await insertReceivers(owner, partners, (partnerId) => `${sink.url}/${partnerId}`);
    await Promise.all(Array.from({ length: workers }, () => crew.hire()));
    const writing = writeEvents({ db, clock, ids }, partnerIds, options.events);
    const deadline = performance.now() + options.timeoutMs;
    let killed = 0;
    let written = false;
    void writing.then(() => {
      written = true;
    });
    for (let turn = 0; ; turn++) {
      await sleep(100 + random() * 200);
      const { pending, due } = await progress(owner, clock.now());
      if (turn % 25 === 0) say(`${pending} waiting, ${sink.counts.requests} requests, ${killed} killed`);
      if (written && pending === 0) break;
      if (performance.now() > deadline) break;
      if (killed < options.kills) {
        await crew.killOne(random());
        killed++;
        void crew.hire();
      }
      // What is left waits for a retry or is under way: go to where the retries are due.
      if (written && due === 0) {
        clock.moveTo(clock.offsetMs + JUMP_MS);
        await crew.moveClock();
      }
    }
    await writing;
    return {
      ...(await judge(owner, sink, options.events)),
      killed,
      seconds: (performance.now() - began) / 1_000,
    };
  } finally {
    await crew.dismiss();
    await sink.close();
    await db.close();
    await owner.end();
  }
}

async function writeEvents(
  deps: Parameters<typeof unitOfWork>[0],
  partnerIds: readonly string[],
  events: number,
): Promise<void> {
  const subjects = Math.ceil(events / EVENTS_A_SUBJECT);
  for (let first = 0; first < subjects; first += SUBJECTS_A_TRANSACTION) {
    await unitOfWork(deps, SYSTEM, async (unit) => {
      for (let n = first; n < Math.min(subjects, first + SUBJECTS_A_TRANSACTION); n++) {
        const subjectId = unit.ids.uuid();
        const partnerId = partnerIds[n % partnerIds.length] as string;
        for (let step = 0; step < Math.min(EVENTS_A_SUBJECT, events - n * EVENTS_A_SUBJECT); step++) {
          emitEvent(unit, {
            eventType: 'order.status.changed',
            partnerId,
            subjectId,
            data: orderChanged({ subjectId, step }),
          });
        }
      }
    });
  }
}

async function progress(owner: pg.Client, now: number): Promise<{ pending: number; due: number }> {
  const { rows } = await owner.query(
    `SELECT count(*)::int AS pending, count(*) FILTER (
              WHERE run_at <= $1 AND (leased_until IS NULL OR leased_until < clock_timestamp()))::int AS due
       FROM webhook_deliveries WHERE status = 'pending'`,
    [new Date(now)],
  );
  return rows[0];
}

async function judge(
  owner: pg.Client,
  sink: Awaited<ReturnType<typeof startWebhookSink>>,
  events: number,
): Promise<Omit<SoakResult, 'killed' | 'seconds'>> {
  const { rows } = await owner.query('SELECT event_id, body FROM events');
  const bodies = new Map<string, string>(rows.map(({ event_id, body }) => [event_id, body]));
  // A reset before the body, or a time-out, may have kept the first attempt from the sink's eyes.
  const arrivals = await owner.query(
    `SELECT event_id FROM webhook_deliveries
      WHERE coalesce(attempt_log->0->>'error', 'none') IN ('none', 'not_acknowledged', 'answer_incomplete')`,
  );
  const arrivedAtFirst = new Set<string>(arrivals.rows.map(({ event_id }) => event_id));
  const acknowledged = new Set<string>();
  const firstSeen = new Set<string>();
  const latestStep = new Map<string, number>();
  const disordered = new Set<string>();
  let [wronglySigned, alteredBodies, faultyAnswers] = [0, 0, 0];
  for (const { event, rawBody, signatureValid, fault } of sink.received) {
    const id = event?.event_id ?? '';
    if (signatureValid !== true) wronglySigned++;
    if (bodies.get(id) !== rawBody.toString()) alteredBodies++;
    if (fault === 'none' || fault === 'slow') acknowledged.add(id);
    if (fault !== 'none') faultyAnswers++;
    if (event === null || firstSeen.has(id) || !arrivedAtFirst.has(id)) continue;
    firstSeen.add(id);
    const { subjectId, step } = event.data as { subjectId: string; step: number };
    if (step < (latestStep.get(subjectId) ?? -1)) disordered.add(subjectId);
    latestStep.set(subjectId, Math.max(step, latestStep.get(subjectId) ?? -1));
  }
  const undelivered = await owner.query(`SELECT FROM webhook_deliveries WHERE status <> 'delivered'`);
  const begun = await owner.query(
    `SELECT FROM webhook_deliveries later JOIN webhook_deliveries earlier
         ON earlier.subject_id = later.subject_id AND earlier.position < later.position
      WHERE (later.attempt_log->0->>'at')::timestamptz < (earlier.attempt_log->0->>'at')::timestamptz`,
  );
  return {
    events,
    acknowledged: acknowledged.size,
    undelivered: undelivered.rowCount ?? 0,
    requests: sink.counts.requests,
    wronglySigned,
    alteredBodies,
    begunOutOfOrder: begun.rowCount ?? 0,
    arrivedOutOfOrder: disordered.size,
    faultyAnswers,
  };
}

// Short, so that hanging receivers and dead workers cost a test little; the order of the three is the real one.
const DRAIN = { timeoutMs: 1_000, draining: { leaseMs: 3_000, pollMs: 50 } };

/** The worker processes. */
function createCrew(databaseUrl: string, offsetMs: () => number) {
  const working = new Set<DeliveryWorker>();
  let dismissed = false;

  async function hire(): Promise<void> {
    if (dismissed) return;
    const worker = forkDeliveryWorker();
    working.add(worker);
    await unlessKilled(worker, () => worker.start({ databaseUrl, ...DRAIN }, offsetMs()));
    // It may have moved meanwhile.
    await unlessKilled(worker, () => worker.moveClock(offsetMs()));
  }

  /** A worker may be killed while it is being told something. */
  async function unlessKilled(worker: DeliveryWorker, tell: () => Promise<void>): Promise<void> {
    if (!working.has(worker)) return;
    await tell().catch((error) => {
      if (working.has(worker)) throw error;
    });
  }

  async function kill(worker: DeliveryWorker): Promise<void> {
    working.delete(worker);
    await worker.stop();
  }

  return {
    hire,
    killOne: (chance: number) => {
      const worker = [...working][Math.floor(chance * working.size)];
      return worker === undefined ? Promise.resolve() : kill(worker);
    },
    moveClock: () =>
      Promise.all([...working].map((worker) => unlessKilled(worker, () => worker.moveClock(offsetMs())))),
    async dismiss() {
      dismissed = true;
      await Promise.all([...working].map(kill));
    },
  };
}

/** The same seed kills the same workers at the same turns. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
