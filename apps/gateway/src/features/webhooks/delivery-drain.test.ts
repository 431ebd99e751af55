import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { orderChanged } from '../../../../../test/harness/events.ts';
import { until } from '../../../../../test/harness/until.ts';
import { startWebhookSink, type WebhookSink } from '../../../../../test/harness/webhook-sink.ts';
import { SYSTEM } from '../../db/database.ts';
import { emitEvent } from '../../engine/outbox.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { createClock, type MovableClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createDeliveryDrain, type DeliveryDrain } from './delivery-drain.ts';
import { createWebhookSender, type WebhookSender } from './webhook-sender.ts';

const SECRET = 'whsec_0123456789abcdefghijklmnopqrstuv';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CONTRACT_DELAYS_MS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, 12 * HOUR];
const DAY = 24 * HOUR;
const SHORT_LEASE_MS = 900;

describe('the drain of webhook deliveries', () => {
  let database: TestDatabase;
  let sink: WebhookSink;
  let clock: MovableClock;
  let drains: DeliveryDrain[];
  let partner: string;
  const ids = createIdGenerator();
  // With the real ten seconds: on a busy machine a shorter time-out fails deliveries that nothing is wrong with.
  let sender: WebhookSender;
  const newSender = (options: { timeoutMs?: number } = {}) =>
    createWebhookSender({ allowLoopback: true }, () => Math.floor(Date.now() / 1_000), options);

  beforeAll(async () => {
    database = await openTestDatabase(10);
  });
  afterAll(() => database?.close());
  beforeEach(async () => {
    clock = createClock();
    drains = [];
    sender = newSender();
    sink = await startWebhookSink({ tls: false, secret: SECRET, clock: clock.now });
    partner = await listening(sink.url);
  });
  afterEach(async () => {
    // Attempts that hang end with their connections.
    await sender.close();
    await Promise.all(drains.map((drain) => drain.stop()));
    await sink.close();
    await database.owner.query('UPDATE partners SET webhook_enabled = false');
    await database.owner.query(`UPDATE webhook_deliveries SET status = 'cancelled' WHERE status = 'pending'`);
  });

  async function listening(url: string): Promise<string> {
    const partnerId = ids.uuid();
    await insertPartner(database.owner, partnerId, { webhookEnabled: true });
    await database.owner.query('UPDATE partners SET webhook_url = $2 WHERE partner_id = $1', [
      partnerId,
      url,
    ]);
    return partnerId;
  }

  function startDrain(options: { leaseMs?: number; concurrency?: number } = {}): DeliveryDrain {
    const drain = createDeliveryDrain(
      {
        db: database.db,
        clock,
        ids,
        logger: createLogger({ level: 'silent', format: 'json' }),
        metrics: createMetrics({ processMetrics: false }),
        sender,
        openSecrets: () => ({ current: SECRET }),
      },
      { pollMs: 25, ...options },
    );
    drains.push(drain);
    drain.start();
    return drain;
  }

  async function emit(subjectId: string, steps: readonly number[], partnerId = partner): Promise<void> {
    await unitOfWork({ db: database.db, clock, ids }, SYSTEM, async (unit) => {
      for (const step of steps) {
        emitEvent(unit, {
          eventType: 'order.status.changed',
          partnerId,
          subjectId,
          data: orderChanged({ subjectId, step }),
        });
      }
    });
  }

  async function statuses(partnerId = partner): Promise<Record<string, number>> {
    const { rows } = await database.owner.query(
      'SELECT status, count(*)::int AS n FROM webhook_deliveries WHERE partner_id = $1 GROUP BY status',
      [partnerId],
    );
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  }
  const deliveries = async (partnerId = partner) =>
    (
      await database.owner.query('SELECT * FROM webhook_deliveries WHERE partner_id = $1 ORDER BY position', [
        partnerId,
      ])
    ).rows;
  const stepsOf = (subjectId: string) =>
    sink.received
      .filter(({ event, attempt }) => event?.data.subjectId === subjectId && attempt === 1)
      .map(({ event }) => event?.data.step);

  // Proves D10.2, trap 33, C6 rule 3.
  it('delivers every event once, signed, and the first attempts about one subject in order, with several drains', async () => {
    const subjects = Array.from({ length: 20 }, () => ids.uuid());
    for (const subject of subjects) await emit(subject, [1, 2, 3, 4, 5]);
    for (let n = 0; n < 3; n++) startDrain();
    await until('all delivered', async () => (await statuses()).delivered === 100).catch(async (error) => {
      // Leased, failed or never taken: which it was is gone once the test has ended.
      const left = (await deliveries()).filter(({ status }) => status !== 'delivered');
      throw new Error(
        `${error.message}; left: ${JSON.stringify(left.map(({ attempt_log, leased_until }) => ({ attempt_log, leased_until })))}`,
      );
    });
    expect(sink.received).toHaveLength(100);
    expect(sink.received.every(({ signatureValid }) => signatureValid === true)).toBe(true);
    for (const subject of subjects) expect(stepsOf(subject)).toEqual([1, 2, 3, 4, 5]);
  });

  // Proves D10.2, trap 33.
  it('a failed first attempt delays nothing: the later events follow, its retry comes a minute later', async () => {
    sink.setFault({ sequence: [{ kind: 'status', status: 500 }] });
    const subject = ids.uuid();
    await emit(subject, [1, 2, 3]);
    startDrain();
    await until('two delivered', async () => (await statuses()).delivered === 2);
    expect(stepsOf(subject)).toEqual([1, 2, 3]);
    const [first] = await deliveries();
    const dueIn = first.run_at.getTime() - new Date(first.attempt_log[0].at).getTime();
    expect(dueIn).toBeGreaterThanOrEqual(MINUTE);
    expect(dueIn).toBeLessThan(MINUTE + 3_000);

    clock.moveTo(clock.offsetMs + MINUTE + 2_000);
    await until('the retry', async () => (await statuses()).delivered === 3);
    expect(sink.received.filter(({ attempt }) => attempt === 2).map(({ event }) => event?.data.step)).toEqual(
      [1],
    );
  });

  // Proves C6 rule 4, C8 row 7, D10.2.
  it('makes ten attempts on the contract’s delays, never early, each with a fresh stamp, the same body, and then stops', async () => {
    sink.setFault({ kind: 'status', status: 503 });
    await emit(ids.uuid(), [1]);
    startDrain();
    for (let attempt = 1; attempt <= 10; attempt++) {
      await until(`attempt ${attempt}`, async () => (await deliveries())[0].attempts === attempt);
      const [delivery] = await deliveries();
      if (attempt === 10) break;
      const expected = CONTRACT_DELAYS_MS[attempt - 1] ?? DAY;
      const wait = delivery.run_at.getTime() - clock.now();
      const ended = new Date(delivery.attempt_log.at(-1).at).getTime();
      expect(delivery.run_at.getTime() - ended).toBeGreaterThanOrEqual(expected);
      expect(delivery.run_at.getTime() - ended).toBeLessThan(expected + 5_000);
      clock.moveTo(clock.offsetMs + wait - 250);
      expect((await deliveries())[0].attempts).toBe(attempt);
      clock.moveTo(clock.offsetMs + 300);
    }
    expect(await statuses()).toEqual({ failed: 1 });
    expect(sink.received).toHaveLength(10);
    expect(new Set(sink.received.map(({ rawBody }) => rawBody.toString())).size).toBe(1);
    expect(sink.received.every(({ signatureValid }) => signatureValid === true)).toBe(true);
  });

  it('keeps of each attempt when it was, what was answered and how long it took', async () => {
    sink.setFault({
      sequence: [{ kind: 'hang' }, { kind: 'reset', when: 'after-body' }, { kind: 'truncated' }],
    });
    await sender.close();
    sender = newSender({ timeoutMs: 400 });
    await emit(ids.uuid(), [1]);
    startDrain();
    for (const attempts of [1, 2, 3]) {
      await until('an attempt', async () => (await deliveries())[0].attempts === attempts);
      clock.moveTo(clock.offsetMs + DAY);
    }
    await until('delivered', async () => (await statuses()).delivered === 1);
    const [{ attempt_log: log }] = await deliveries();
    expect(log.map(({ error }: { error: string }) => error)).toEqual([
      'timeout',
      'connection_failed',
      'answer_incomplete',
      null,
    ]);
    expect(log[0].duration_ms).toBeGreaterThanOrEqual(390);
    expect(log[3]).toMatchObject({ http_status: 200, response: '{"received":true}' });
  });

  it('a delivery in the hands of a worker that died is made by another when the lease runs out', async () => {
    await emit(ids.uuid(), [1]);
    await database.owner.query(
      `UPDATE webhook_deliveries SET lease_owner = gen_random_uuid(), leased_until = clock_timestamp() + interval '700 milliseconds'
        WHERE partner_id = $1`,
      [partner],
    );
    startDrain();
    clock.moveTo(clock.offsetMs + HOUR);
    await until('delivered', async () => (await statuses()).delivered === 1);
    const { rows } = await database.owner.query(
      `SELECT (attempt_log->0->>'duration_ms')::int AS took, attempts FROM webhook_deliveries WHERE partner_id = $1`,
      [partner],
    );
    expect(rows[0].attempts).toBe(1);
  });

  it('a receiver that takes longer than the lease gets the delivery once, however many drains there are', async () => {
    sink.setFault({ kind: 'slow', bytes: 5, intervalMs: SHORT_LEASE_MS });
    await emit(ids.uuid(), [1]);
    for (let n = 0; n < 3; n++) startDrain({ leaseMs: SHORT_LEASE_MS });
    await until('delivered', async () => (await statuses()).delivered === 1);
    expect(sink.received).toHaveLength(1);
    expect((await deliveries())[0].attempts).toBe(1);
  });

  // Proves trap 36.
  it('sends to the address of the moment, and nothing once the webhook is removed', async () => {
    sink.setFault({ kind: 'status', status: 500 });
    await emit(ids.uuid(), [1]);
    startDrain();
    await until('one attempt', async () => (await deliveries())[0].attempts === 1);
    const moved = await startWebhookSink({ tls: false, secret: SECRET });
    try {
      await database.owner.query('UPDATE partners SET webhook_url = $2 WHERE partner_id = $1', [
        partner,
        moved.url,
      ]);
      clock.moveTo(clock.offsetMs + 2 * MINUTE);
      await until('delivered elsewhere', () => moved.received.length === 1);
      await until('settled', async () => (await statuses()).delivered === 1);

      await Promise.all(drains.map((drain) => drain.stop()));
      await emit(ids.uuid(), [1]);
      await database.owner.query('UPDATE partners SET webhook_enabled = false WHERE partner_id = $1', [
        partner,
      ]);
      const other = await listening(moved.url);
      await emit(ids.uuid(), [2], other);
      startDrain();
      await until('the other partner’s', async () => (await statuses(other)).delivered === 1);
      expect(moved.received.map(({ event }) => event?.data.step)).toEqual([1, 2]);
      expect(await statuses()).toEqual({ delivered: 1, pending: 1 });
    } finally {
      await moved.close();
    }
  });

  it('after 20 failures in a row tries once a second instead of all that is due, says so, and recovers by itself', async () => {
    sink.setFault({ kind: 'status', status: 500 });
    for (let n = 0; n < 60; n++) await emit(ids.uuid(), [n]);
    const failing = startDrain({ concurrency: 16 });
    const endpoint = async () =>
      (await database.owner.query('SELECT * FROM webhook_endpoint_health WHERE partner_id = $1', [partner]))
        .rows[0];
    await until(
      'the circuit opens',
      async () => (await endpoint())?.circuit_opened_at !== null && endpoint(),
    );
    const atOpening = sink.received.length;
    expect(atOpening).toBeLessThanOrEqual(40);
    await until('tries go on', () => sink.received.length >= atOpening + 2);
    expect(await endpoint()).toMatchObject({ last_error: 'not_acknowledged: answered 500' });

    // An attempt that ends after the clock has moved would be due a minute after that.
    await failing.stop();
    sink.setFault({ kind: 'none' });
    clock.moveTo(clock.offsetMs + 2 * MINUTE);
    startDrain({ concurrency: 16 });
    await until('everything is delivered', async () => (await statuses()).delivered === 60);
    expect(await endpoint()).toMatchObject({ circuit_opened_at: null, consecutive_failures: 0 });
  });

  // Proves trap 35.
  it('a partner that hangs with a long queue does not keep another one waiting', async () => {
    const hanging = await startWebhookSink({ tls: false, faults: { kind: 'hang' } });
    try {
      const stuck = await listening(hanging.url);
      for (let n = 0; n < 200; n++) await emit(ids.uuid(), [n], stuck);
      startDrain({ concurrency: 32 });
      await until('the hanging partner is being tried', () => hanging.received.length >= 8);
      for (let n = 0; n < 50; n++) await emit(ids.uuid(), [n]);
      await until('the other is served', async () => (await statuses()).delivered === 50, 5_000);
      expect((await statuses(stuck)).pending).toBe(200);
    } finally {
      await hanging.close();
    }
  });

  // Proves trap 35.
  it('more hanging partners than there are slots do not keep another one waiting for their time-outs', async () => {
    const hanging = await startWebhookSink({ tls: false, faults: { kind: 'hang' } });
    try {
      for (let n = 0; n < 4; n++) {
        const stuck = await listening(hanging.url);
        for (let event = 0; event < 4; event++) await emit(ids.uuid(), [event], stuck);
      }
      startDrain({ concurrency: 8 });
      await until('every slot is held by a hanging one', () => hanging.received.length >= 8);
      for (let n = 0; n < 20; n++) await emit(ids.uuid(), [n]);
      // Their attempts would take ten seconds each.
      await until('the other is served', async () => (await statuses()).delivered === 20, 8_000);
      expect(hanging.received.every(({ attempt }) => attempt === 1)).toBe(true);
    } finally {
      await hanging.close();
    }
  });
});
