import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { until } from '../../../../test/harness/until.ts';
import { SYSTEM } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { type RetrySchedule, schedule } from '../lib/backoff.ts';
import { createClock, type MovableClock } from '../lib/clock.ts';
import { createIdGenerator } from '../lib/ids.ts';
import { createLogger } from '../lib/logger.ts';
import { createMetrics, type Metrics } from '../lib/metrics.ts';
import { type Intent, prepareIntent } from './intent.ts';
import type { IntentHandler, Outcome } from './intent-handler.ts';
import { createIntentWorker, type IntentWorker } from './intent-worker.ts';
import { stuckIntents } from './stuck-intents.store.ts';
import { type UnitOfWork, unitOfWork } from './unit-of-work.ts';

const START = Date.UTC(2026, 0, 1);
/** One that must reconcile before it is repeated. */
const KIND = 'escrow.release';
const PAYLOAD = { order_id: '00000000-0000-7000-8000-000000000001' };

const writeFact = statement<[name: string]>(
  'test.worker_fact',
  `INSERT INTO deployment_facts (name, value, updated_at) VALUES ($1, 'true', 'epoch')`,
);

const backendOf = statement<[], { pid: number }>('test.worker_backend', 'SELECT pg_backend_pid() AS pid');
const LONG_LEASE_MS = 60_000;
const WELL_WITHIN_A_LEASE_MS = 10_000;

interface IntentRow {
  status: string;
  attempts: number;
  run_at: Date;
  lease_owner: string | null;
  last_error: string | null;
  result: unknown;
  settled_at: Date | null;
}

type Act = (intent: Intent<typeof KIND>) => Outcome | Promise<Outcome>;

describe('the intent worker', () => {
  let database: TestDatabase;
  let clock: MovableClock;
  let metrics: Metrics;
  let workers: IntentWorker[];
  let calls: string[];
  let lines: string[];
  const gates: (() => void)[] = [];
  const ids = createIdGenerator();

  beforeEach(async () => {
    database = await openTestDatabase();
    clock = createClock(() => START);
    metrics = createMetrics({ processMetrics: false });
    workers = [];
    calls = [];
    lines = [];
  });
  afterEach(async () => {
    // A failed test must not leave a worker waiting for ever.
    for (const open of gates.splice(0)) open();
    await Promise.all(workers.map((worker) => worker.stop()));
    await database.close();
  });

  const deps = () => ({
    db: database.db,
    clock,
    ids,
    logger: createLogger({
      level: 'warn',
      format: 'json',
      destination: { write: (line) => lines.push(line) },
    }),
    metrics,
  });

  function startWorker(
    perform: Act,
    options: {
      reconcile?: Act;
      exhausted?: (intent: Intent<typeof KIND>, unit: UnitOfWork) => Promise<void>;
      retries?: RetrySchedule;
      leaseMs?: number;
      concurrency?: number;
      pollMs?: number;
      onTurn?: () => void;
    } = {},
  ): IntentWorker {
    const record = (what: string, act: Act) => async (intent: Intent<typeof KIND>) => {
      calls.push(`${what} ${intent.dedupeKey}`);
      return act(intent);
    };
    const handler: IntentHandler<typeof KIND> = {
      schedule: options.retries ?? schedule([60, 300], { maxAttempts: 3 }),
      perform: record('perform', perform),
      reconcile: record('reconcile', options.reconcile ?? (() => ({ kind: 'confirmed' }))),
      ...(options.exhausted ? { exhausted: options.exhausted } : {}),
    };
    const worker = createIntentWorker(
      deps(),
      { [KIND]: handler },
      {
        concurrency: options.concurrency ?? 10,
        pollMs: options.pollMs ?? 20,
        ...(options.leaseMs ? { leaseMs: options.leaseMs } : {}),
        ...(options.onTurn ? { onTurn: options.onTurn } : {}),
      },
    );
    workers.push(worker);
    worker.start();
    return worker;
  }

  const prepare = (...drafts: { dedupeKey: string; kind?: 'escrow.refund'; runAt?: Date }[]) =>
    unitOfWork(deps(), SYSTEM, async (unit) => {
      for (const draft of drafts) {
        prepareIntent(unit, { kind: KIND, partnerId: null, payload: PAYLOAD, ...draft });
      }
    });

  async function row(dedupeKey: string): Promise<IntentRow> {
    const { rows } = await database.owner.query<IntentRow>(
      'SELECT * FROM intents WHERE kind = $1 AND dedupe_key = $2',
      [KIND, dedupeKey],
    );
    return rows[0] as IntentRow;
  }
  const reaches = (dedupeKey: string, status: string) =>
    until(`${dedupeKey} ${status}`, async () => {
      const found = await row(dedupeKey);
      return found.status === status && found.lease_owner === null && found;
    });
  const secondsFromStart = (at: Date) => (at.getTime() - START) / 1_000;
  const facts = async () => {
    const { rows } = await database.owner.query('SELECT name FROM deployment_facts ORDER BY name');
    return rows.map(({ name }) => name as string);
  };

  function gate(): { opened: Promise<void>; open: () => void } {
    let open: () => void = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    gates.push(open);
    return { opened, open };
  }

  it('carries out one effect a key, however often it was decided', async () => {
    await Promise.all([
      prepare({ dedupeKey: 'a' }, { dedupeKey: 'a' }),
      prepare({ dedupeKey: 'a' }),
      prepare({ dedupeKey: 'a' }),
    ]);
    startWorker(() => ({ kind: 'confirmed', result: { ok: true } }));
    expect(await reaches('a', 'confirmed')).toMatchObject({ attempts: 1, result: { ok: true } });
    await prepare({ dedupeKey: 'a' }, { dedupeKey: 'b' });
    await reaches('b', 'confirmed');
    expect(calls).toEqual(['perform a', 'perform b']);
  });

  it('goes on with the others while one waits for its retry', async () => {
    await prepare({ dedupeKey: 'first' }, { dedupeKey: 'second' });
    startWorker(({ dedupeKey }) =>
      dedupeKey === 'first' ? { kind: 'retry', error: 'down' } : { kind: 'confirmed' },
    );
    await reaches('second', 'confirmed');
    expect((await row('first')).status).toBe('prepared');
    expect(calls).toEqual(['perform first', 'perform second']);
  });

  it('retries on the schedule in business time and runs what follows exhaustion with the last failure', async () => {
    await prepare({ dedupeKey: 'a' });
    startWorker(() => ({ kind: 'retry', error: 'refused' }), {
      exhausted: async (intent, unit) => unit.tx.defer(writeFact, [`exhausted ${intent.dedupeKey}`]),
    });
    const afterFirst = await until('first failure', async () => {
      const found = await row('a');
      return found.attempts === 1 && found.status === 'prepared' && found;
    });
    expect(secondsFromStart(afterFirst.run_at)).toBe(60);
    clock.moveTo(59_999);
    workers[0]?.wake();
    await prepare({ dedupeKey: 'marker' });
    await until('the marker was seen', () => calls.includes('perform marker'));
    expect(calls.filter((call) => call.endsWith(' a'))).toHaveLength(1);
    clock.moveTo(60_000);
    await until('second failure', async () => secondsFromStart((await row('a')).run_at) === 360);
    clock.moveTo(360_000);
    const failed = await reaches('a', 'failed');
    expect(failed).toMatchObject({ attempts: 3, last_error: 'refused' });
    expect(secondsFromStart(failed.settled_at as Date)).toBe(360);
    expect(await facts()).toContain('exhausted a');
  });

  it('a retry leaves a line with its reason and the next attempt, quick ones not one each, and so does the failure at the end', async () => {
    await prepare({ dedupeKey: 'a' });
    startWorker(
      () => ({ kind: 'retry', error: 'NameScreeningUnavailable, password=abc, of ada@example.com' }),
      { retries: schedule([1, 1, 1, 1, 1, 60, 1], { maxAttempts: 8 }) },
    );
    await until('the last attempt', async () => {
      const { status, run_at } = await row('a');
      if (status === 'prepared') clock.moveTo(run_at.getTime() - START);
      return status === 'failed';
    });
    const told = await until('the last line', () => lines.some((line) => line.includes('failed')) && lines);
    const of = told.map((line) => JSON.parse(line));
    expect(of.map(({ level, msg, attempts }) => [level, msg, attempts])).toEqual([
      ...[1, 2, 4, 6].map((attempt) => ['warn', 'an effect is tried again', attempt]),
      ['error', 'an effect failed', 8],
    ]);
    const about = { intent_id: expect.any(String), kind: KIND, order_id: PAYLOAD.order_id };
    const reason = 'NameScreeningUnavailable, password=[redacted], of [redacted]';
    expect(of[0]).toMatchObject({ ...about, reason, next_attempt_at: new Date(START + 1_000).toISOString() });
    expect(of.at(-1)).toMatchObject({ ...about, reason });
  });

  it('what waits or is asked about again leaves no line', async () => {
    await prepare({ dedupeKey: 'a' });
    let looks = 0;
    const look = (): Outcome => {
      looks += 1;
      if (looks < 5) return { kind: 'waiting', afterMs: 1_000, reason: 'not mined yet' };
      return looks < 9 ? { kind: 'unknown', error: 'no answer', afterMs: 1_000 } : { kind: 'confirmed' };
    };
    startWorker(look, { reconcile: look });
    await until('the end of the wait', async () => {
      const { status, run_at } = await row('a');
      if (status === 'unknown') clock.moveTo(run_at.getTime() - START);
      return status === 'confirmed';
    });
    expect(lines).toEqual([]);
  });

  it('asks once for what is due and once to settle each, and again only where more was due than it could take', async () => {
    await prepare({ dedupeKey: 'a' }, { dedupeKey: 'b' }, { dedupeKey: 'c' });
    const asked = async (concurrency: number, expected: number) => {
      const before = database.db.stats.roundTrips;
      const worker = startWorker(() => ({ kind: 'confirmed' }), { concurrency, pollMs: LONG_LEASE_MS });
      // Not until the last is settled: what the worker asks afterwards counts too.
      await until('all questions', () => database.db.stats.roundTrips - before >= expected);
      await worker.stop();
      return database.db.stats.roundTrips - before;
    };
    expect(await asked(4, 1 + 3)).toBe(1 + 3);
    await prepare({ dedupeKey: 'd' }, { dedupeKey: 'e' }, { dedupeKey: 'f' });
    // One at a time: each is asked for, and at the end whether there is another.
    expect(await asked(1, 2 * 3 + 1)).toBe(2 * 3 + 1);
    for (const key of ['c', 'f']) expect((await row(key)).status).toBe('confirmed');
  });

  it('does not count waiting as an attempt', async () => {
    await prepare({ dedupeKey: 'a' });
    let looks = 0;
    startWorker(() => ({ kind: 'waiting', afterMs: 1_000 }), {
      reconcile: () =>
        ++looks < 8 ? { kind: 'waiting', afterMs: 1_000 } : { kind: 'retry', error: 'it never came' },
    });
    const retried = await until('the retry is planned', async () => {
      const found = await row('a');
      if (found.status === 'unknown') clock.moveTo(found.run_at.getTime() - START);
      return found.status === 'prepared' && found.attempts > 0 && found;
    });
    expect(retried.attempts).toBe(2);
    expect(calls.filter((call) => call === 'reconcile a')).toHaveLength(8);
  });

  it('tells operators of what has waited for longer than its kind should, and looks at it as before', async () => {
    const MINUTE_MS = 60_000;
    await prepare({ dedupeKey: 'a' });
    let node: 'away' | 'back' = 'away';
    const look = (): Outcome =>
      node === 'back'
        ? { kind: 'confirmed' }
        : { kind: 'waiting', afterMs: 1_000, reason: 'the node does not answer' };
    startWorker(look, { reconcile: look });
    const lookedAtAfter = async (ms: number) => {
      clock.moveTo(ms);
      return until('another look', async () => {
        const found = await row('a');
        return found.run_at.getTime() > START + ms && found.lease_owner === null && found;
      });
    };
    const listed = async () =>
      (await database.db.query(SYSTEM, stuckIntents, [new Date(0), null, null, null, null, null, 10])).map(
        ({ kind, last_error }) => [kind, last_error],
      );
    expect((await lookedAtAfter(30 * MINUTE_MS)).last_error).toBeNull();
    expect(await listed()).toEqual([]);
    const late = await lookedAtAfter(30 * MINUTE_MS + 2_000);
    expect(late).toMatchObject({ status: 'unknown', attempts: 1 });
    expect(await listed()).toEqual([[KIND, 'has waited for more than 30 minutes: the node does not answer']]);
    const counted = `intents_unknown{kind="${KIND}"} 1`;
    await until('the metric', async () => (await metrics.registry.metrics()).includes(counted));

    node = 'back';
    clock.moveTo(31 * MINUTE_MS);
    expect((await reaches('a', 'confirmed')).last_error).toBeNull();
    expect(await listed()).toEqual([]);
  });

  it('reconciles an unknown outcome instead of repeating it, and repeats only when it surely did not happen', async () => {
    await prepare({ dedupeKey: 'a' });
    let performed = 0;
    startWorker(
      () =>
        ++performed === 1 ? { kind: 'unknown', error: 'no answer', afterMs: 500 } : { kind: 'confirmed' },
      { reconcile: () => ({ kind: 'retry', error: 'not there' }) },
    );
    const unknown = await reaches('a', 'unknown');
    expect(secondsFromStart(unknown.run_at)).toBe(0.5);
    clock.moveTo(500);
    await reaches('a', 'prepared');
    clock.moveTo(10_000_000);
    await reaches('a', 'confirmed');
    expect(calls).toEqual(['perform a', 'reconcile a', 'perform a']);
  });

  it('treats a handler that throws as unknown, never as not happened', async () => {
    await prepare({ dedupeKey: 'a' });
    startWorker(() => {
      throw new Error('socket hang up');
    });
    expect((await reaches('a', 'unknown')).last_error).toBe('Error: socket hang up');
    clock.moveTo(1_000);
    await reaches('a', 'confirmed');
    expect(calls).toEqual(['perform a', 'reconcile a']);
  });

  it('performs an effect again that the registry calls repeatable, instead of reconciling it', async () => {
    const act = async (intent: Intent<'kyc.verify'>): Promise<Outcome> => {
      calls.push(`perform ${intent.payload.user_id}`);
      if (calls.length === 1) throw new Error('socket hang up');
      return { kind: 'confirmed' };
    };
    const handler = { schedule: schedule([60], { maxAttempts: 3 }), perform: act };
    const worker = createIntentWorker(deps(), { 'kyc.verify': handler }, { concurrency: 1, pollMs: 20 });
    workers.push(worker);
    const userId = ids.uuid();
    await unitOfWork(deps(), SYSTEM, async (unit) =>
      prepareIntent(unit, {
        kind: 'kyc.verify',
        dedupeKey: 'a',
        partnerId: null,
        payload: { user_id: userId },
      }),
    );
    worker.start();
    await until('the first attempt failed', () => calls.length === 1);
    clock.moveTo(1_000);
    await until('it was performed again', () => calls.length === 2);
    expect(calls).toEqual([`perform ${userId}`, `perform ${userId}`]);
  });

  it('does not carry out an intent whose payload does not fit its kind, and says where it does not', async () => {
    await database.owner.query(
      `INSERT INTO intents (intent_id, kind, dedupe_key, payload, run_at, created_at)
       VALUES ($1, $2, 'misfit', '{"order_id":"not a uuid"}', $3, $3)`,
      [ids.uuid(), KIND, new Date(START)],
    );
    startWorker(() => ({ kind: 'confirmed' }));
    const misfit = await reaches('misfit', 'unknown');
    expect(misfit.last_error).toBe('the payload does not fit escrow.release: /order_id');
    expect([calls, secondsFromStart(misfit.run_at)]).toEqual([[], 60]);
  });

  it('records the outcome and what follows from it together or not at all, and tries again when that fails', async () => {
    await prepare({ dedupeKey: 'a' });
    let asked = 0;
    startWorker(
      () => ({
        kind: 'confirmed',
        followUp: async (unit) => {
          unit.tx.defer(writeFact, ['half']);
          throw new Error('no');
        },
      }),
      {
        leaseMs: 300,
        reconcile: () => ({
          kind: 'confirmed',
          followUp: async (unit) => {
            asked++;
            unit.tx.defer(writeFact, ['whole']);
          },
        }),
      },
    );
    await reaches('a', 'confirmed');
    expect(await facts()).toEqual(['whole']);
    expect([calls, asked]).toEqual([['perform a', 'reconcile a'], 1]);
  });

  it('goes on as soon as the database is back: an outcome that was lost with its connection waits for no lease', async () => {
    await prepare({ dedupeKey: 'a' });
    const act = () => ({
      kind: 'confirmed' as const,
      followUp: async (unit: UnitOfWork) => {
        const [backend] = await unit.tx.query(backendOf, []);
        await database.owner.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
        unit.tx.defer(writeFact, ['lost']);
      },
    });
    startWorker(act, { leaseMs: LONG_LEASE_MS });
    await until('a confirmed', async () => (await row('a')).status === 'confirmed', WELL_WITHIN_A_LEASE_MS);
    expect(calls).toEqual(['perform a', 'reconcile a']);
    expect(await facts()).toEqual([]);
  });

  it('reconciles an intent that it claimed without ever hearing of it', async () => {
    const hold = gate();
    await prepare({ dedupeKey: 'held' });
    startWorker(
      async () => {
        await hold.opened;
        return { kind: 'confirmed' };
      },
      { leaseMs: 1_500 },
    );
    const { lease_owner: owner } = await until('held is running', async () => {
      const found = await row('held');
      return found.lease_owner !== null && found;
    });
    await database.owner.query(
      `INSERT INTO intents (intent_id, kind, dedupe_key, payload, status, attempts, run_at, leased_until, lease_owner, created_at)
       VALUES ($1, $2, 'lost', $5, 'submitted', 1, $3, clock_timestamp() + interval '1500 ms', $4, $3)`,
      [ids.uuid(), KIND, new Date(START), owner, PAYLOAD],
    );
    await reaches('lost', 'confirmed');
    expect(calls).toEqual(['perform held', 'reconcile lost']);
    hold.open();
  });

  it('keeps its lease for as long as the effect takes, while it drains too', async () => {
    const hold = gate();
    await prepare({ dedupeKey: 'slow' });
    const act: Act = async () => {
      await hold.opened;
      return { kind: 'confirmed' };
    };
    const first = startWorker(act, { leaseMs: 1_500 });
    await until('it runs', () => calls.length === 1);
    startWorker(act, { leaseMs: 1_500 });
    let stopped = false;
    const stopping = first.stop().then(() => {
      stopped = true;
    });
    const leases = new Set<string>();
    await until('the lease was renewed three times', async () => {
      const { rows } = await database.owner.query('SELECT leased_until::text FROM intents');
      leases.add(rows[0].leased_until);
      return leases.size > 3;
    });
    expect([calls, stopped]).toEqual([['perform slow'], false]);
    hold.open();
    await stopping;
    expect(await row('slow')).toMatchObject({ status: 'confirmed', attempts: 1 });
  });

  it('does nothing more once its lease is in other hands', async () => {
    const hold = gate();
    await prepare({ dedupeKey: 'a' });
    const worker = startWorker(async () => {
      await hold.opened;
      return { kind: 'confirmed', followUp: async (unit) => unit.tx.defer(writeFact, ['too late']) };
    });
    await until('it runs', () => calls.length === 1);
    await database.owner.query(
      `UPDATE intents SET lease_owner = 'somebody else', status = 'unknown', leased_until = clock_timestamp() + interval '1 hour'`,
    );
    hold.open();
    await worker.stop();
    expect(await row('a')).toMatchObject({ status: 'unknown', lease_owner: 'somebody else' });
    expect(await facts()).toEqual([]);
  });

  it('moving the business clock makes work due and takes none out of running hands', async () => {
    const hold = gate();
    await prepare({ dedupeKey: 'running' }, { dedupeKey: 'tomorrow', runAt: new Date(START + 86_400_000) });
    const act: Act = async ({ dedupeKey }) => {
      if (dedupeKey === 'running') await hold.opened;
      return { kind: 'confirmed' };
    };
    startWorker(act);
    startWorker(act);
    await until('it runs', () => calls.length === 1);
    clock.moveTo(30 * 86_400_000);
    await reaches('tomorrow', 'confirmed');
    expect(calls).toEqual(['perform running', 'perform tomorrow']);
    hold.open();
    await reaches('running', 'confirmed');
  });

  it('a stopping worker finishes what it holds and takes nothing new', async () => {
    const hold = gate();
    await prepare({ dedupeKey: 'a' }, { dedupeKey: 'b' });
    const worker = startWorker(
      async () => {
        await hold.opened;
        return { kind: 'confirmed' };
      },
      { concurrency: 1 },
    );
    await until('it runs', () => calls.length === 1);
    const stopped = worker.stop();
    worker.wake();
    hold.open();
    await stopped;
    expect(calls).toEqual(['perform a']);
    expect(await row('a')).toMatchObject({ status: 'confirmed' });
    expect(await row('b')).toMatchObject({ status: 'prepared', attempts: 0 });
  });

  it('is woken by what is written, runs no more than its concurrency at once, and leaves other kinds alone', async () => {
    let running = 0;
    let most = 0;
    await prepare(...Array.from({ length: 30 }, (_, n) => ({ dedupeKey: `n${n}` })), {
      dedupeKey: 'other',
      kind: 'escrow.refund',
    });
    startWorker(
      async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return { kind: 'confirmed' };
      },
      { concurrency: 3 },
    );
    await until('all done', async () => {
      const { rowCount } = await database.owner.query(`SELECT FROM intents WHERE status = 'confirmed'`);
      return rowCount === 30;
    });
    expect(most).toBe(3);
    const { rows } = await database.owner.query(`SELECT status FROM intents WHERE kind = 'escrow.refund'`);
    expect(rows).toEqual([{ status: 'prepared' }]);
  });

  it('tells of its turns while it finds work or none, and falls silent while every place hangs', async () => {
    let turns = 0;
    const hold = gate();
    const worker = startWorker(
      async () => {
        await hold.opened;
        return { kind: 'confirmed' };
      },
      { concurrency: 1, onTurn: () => turns++ },
    );
    await until('turns without work', () => turns > 3);
    await prepare({ dedupeKey: 'a' });
    await until('it runs', () => calls.length === 1);
    const before = turns;
    for (let times = 0; times < 5; times++) {
      worker.wake();
      await database.owner.query('SELECT 1');
    }
    expect(turns).toBe(before);
    hold.open();
    await until('turns again', () => turns > before + 1);
  });
});
