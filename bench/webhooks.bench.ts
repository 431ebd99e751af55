import pg from 'pg';
import { SYSTEM } from '../apps/gateway/src/db/database.ts';
import { unitOfWork } from '../apps/gateway/src/engine/unit-of-work.ts';
import {
  createWebhookSender,
  type WebhookSender,
} from '../apps/gateway/src/features/webhooks/webhook-sender.ts';
import { insertReceivers, startDrain, WEBHOOK_SECRET } from '../test/harness/delivery-drain.ts';
import { withDatabase } from './database.ts';
import { compareFigures } from './frame/compare.ts';
import { figure } from './frame/measurement.ts';
import type { BenchReport } from './frame/report.ts';
import { percentile } from './frame/statistics.ts';
import {
  clock,
  emit,
  ids,
  type Receiver,
  startReceiver,
  timeEvents,
  type WebhookFixture,
  withFixture,
} from './webhook-fixture.ts';
import { measureIsolation } from './webhook-isolation.ts';

/** Deliveries from their row to the receiver and back into the row, against a bare loop over a table on the same database. */
const DELIVERIES = 4_000;
const LANES = 8;
const ROUNDS = 5;
const TIMED_EVENTS = 300;
const PARTNERS = 4;

export async function run(report: BenchReport): Promise<void> {
  await withDatabase(async (databaseUrl) => {
    const receiver = await startReceiver();
    try {
      // Copied before it is used: the workers of the last figure begin with the same, empty database.
      const copies = await copyDatabase(databaseUrl, ['quiet_side', 'hanging_side']);
      await withFixture(databaseUrl, receiver, async (fixture) => {
        await fixture.owner.query(
          'CREATE TABLE bare_queue (id bigint PRIMARY KEY, body text NOT NULL, claimed boolean NOT NULL DEFAULT false, done boolean NOT NULL DEFAULT false)',
        );
        await fixture.owner.query('CREATE INDEX bare_queue_due ON bare_queue (id) WHERE NOT claimed');
        await measureThroughput(report, fixture);
        await measureLatency(report, fixture);
      });
      await measureHanging(report, receiver, copies);
    } finally {
      await receiver.thread.terminate();
    }
  });
}

async function copyDatabase(databaseUrl: string, names: readonly string[]): Promise<string[]> {
  const source = new URL(databaseUrl);
  const administration = new URL(databaseUrl);
  administration.pathname = '/template1';
  const admin = new pg.Client({ connectionString: administration.href });
  await admin.connect();
  try {
    for (const name of names) {
      await admin.query(`CREATE DATABASE ${name} TEMPLATE "${source.pathname.slice(1)}"`);
    }
  } finally {
    await admin.end();
  }
  return names.map((name) => Object.assign(new URL(databaseUrl), { pathname: `/${name}` }).href);
}

async function measureThroughput(report: BenchReport, fixture: WebhookFixture): Promise<void> {
  const partners = await insertReceivers(fixture.owner, PARTNERS, () => `${fixture.receiver.url}/plain`);
  await bareLoop(fixture);
  await drainAll(fixture, partners);
  report.add(
    await compareFigures({
      name: `persisted deliveries a second, against a bare loop of ${LANES} lanes`,
      baseline: () => bareLoop(fixture),
      candidate: () => drainAll(fixture, partners),
      sidesUnit: 'deliveries/s',
      rounds: ROUNDS,
      better: 'higher',
      targetRatio: 1,
    }),
  );
}

/** Claim a row, post it, update it; eight at a time, as the login itself: no role, no row-level security, no order of events. */
async function bareLoop({ owner, databaseUrl, receiver }: WebhookFixture): Promise<number> {
  await owner.query('TRUNCATE bare_queue');
  const body = JSON.stringify({ event_id: ids.eventId(), data: { filler: 'x'.repeat(300) } });
  await owner.query('INSERT INTO bare_queue (id, body) SELECT n, $2 FROM generate_series(1, $1::int) AS n', [
    DELIVERIES,
    body,
  ]);
  await owner.query('ANALYZE bare_queue');
  // The same signed posts on both sides: only what surrounds them is compared.
  const sender = createWebhookSender({ allowLoopback: true }, () => Math.floor(Date.now() / 1_000));
  const clients = await Promise.all(
    Array.from({ length: LANES }, async () => {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      return client;
    }),
  );
  const began = performance.now();
  await Promise.all(clients.map((client) => bareLane(client, sender, `${receiver.url}/plain`)));
  const seconds = (performance.now() - began) / 1_000;
  await Promise.all([sender.close(), ...clients.map((client) => client.end())]);
  return DELIVERIES / seconds;
}

async function bareLane(client: pg.Client, sender: WebhookSender, url: string): Promise<void> {
  for (;;) {
    const { rows } = await client.query({
      name: 'claim',
      text: `UPDATE bare_queue SET claimed = true WHERE id = (
               SELECT id FROM bare_queue WHERE NOT claimed ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
             RETURNING id, body`,
    });
    const [row] = rows;
    if (row === undefined) return;
    await sender.send({ url, secrets: { current: WEBHOOK_SECRET }, body: row.body });
    await client.query({
      name: 'done',
      text: 'UPDATE bare_queue SET done = true WHERE id = $1',
      values: [row.id],
    });
  }
}

async function drainAll(fixture: WebhookFixture, partners: readonly string[]): Promise<number> {
  const { owner, db } = fixture;
  await owner.query('TRUNCATE webhook_deliveries');
  for (let first = 0; first < DELIVERIES; first += 500) {
    await unitOfWork({ db, clock, ids }, SYSTEM, async (unit) => {
      for (let n = first; n < first + 500; n++)
        emit(unit, partners[n % partners.length] as string, String(n));
    });
  }
  await owner.query('ANALYZE webhook_deliveries');
  const began = performance.now();
  const drain = await startDrain(fixture, clock);
  for (;;) {
    const { rows } = await owner.query(
      `SELECT EXISTS (SELECT FROM webhook_deliveries WHERE status = 'pending') AS waiting`,
    );
    if (!rows[0].waiting) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const seconds = (performance.now() - began) / 1_000;
  await drain.stop();
  return DELIVERIES / seconds;
}

async function measureLatency(report: BenchReport, fixture: WebhookFixture): Promise<void> {
  const partners = await insertReceivers(fixture.owner, PARTNERS, () => `${fixture.receiver.url}/timed`);
  const drain = await startDrain({ databaseUrl: fixture.databaseUrl, listens: true }, clock);
  await timeEvents(fixture, partners, TIMED_EVENTS);
  const times = await timeEvents(fixture, partners, TIMED_EVENTS);
  report.add(
    figure({
      name: 'commit to first byte, p50',
      value: percentile(times, 0.5),
      unit: 'ms',
      better: 'lower',
      target: 50,
      details: { p99: percentile(times, 0.99) },
    }),
  );
  await drain.stop();
}

async function measureHanging(
  report: BenchReport,
  receiver: Receiver,
  [quietUrl = '', hangingUrl = '']: readonly string[],
): Promise<void> {
  await withFixture(quietUrl, receiver, (quiet) =>
    withFixture(hangingUrl, receiver, async (hanging) => {
      report.add(await measureIsolation(quiet, hanging));
    }),
  );
}
