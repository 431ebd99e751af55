import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { createDatabase, type Database, SYSTEM } from '../apps/gateway/src/db/database.ts';
import { createListener } from '../apps/gateway/src/db/listener.ts';
import { emitEvent } from '../apps/gateway/src/engine/outbox.ts';
import { unitOfWork } from '../apps/gateway/src/engine/unit-of-work.ts';
import {
  createDeliveryDrain,
  type DeliveryDrain,
} from '../apps/gateway/src/features/webhooks/delivery-drain.ts';
import {
  createWebhookSender,
  type WebhookSender,
} from '../apps/gateway/src/features/webhooks/webhook-sender.ts';
import { createClock } from '../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../apps/gateway/src/lib/logger.ts';
import { createMetrics } from '../apps/gateway/src/lib/metrics.ts';
import { compareFigures } from './frame/compare.ts';
import { figure } from './frame/measurement.ts';
import type { BenchReport } from './frame/report.ts';
import { withDatabase } from './ground.ts';

/** Deliveries from their row to the receiver and back into the row, against a bare loop over a table on the same database. */
const DELIVERIES = 4_000;
const LANES = 8;
const ROUNDS = 5;
const TIMED_EVENTS = 300;
const HANGING_QUEUE = 500;
const PARTNERS = 4;
const SECRET = 'whsec_0123456789abcdefghijklmnopqrstuv';

/** In a thread of its own: a receiver is another machine. Says when an event arrived; /hang never answers. */
const RECEIVER = `
const { createServer } = require('node:http');
const { parentPort } = require('node:worker_threads');
const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (request.url.startsWith('/hang')) return;
    if (request.url.startsWith('/timed')) parentPort.postMessage({ id: JSON.parse(Buffer.concat(chunks)).data.id, at });
    response.end('{}');
  });
});
server.keepAliveTimeout = 120000;
server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }));
`;

const ids = createIdGenerator();
const clock = createClock();
const wallNow = () => performance.timeOrigin + performance.now();

export async function run(report: BenchReport): Promise<void> {
  await withDatabase(async (databaseUrl) => {
    const receiver = new Worker(RECEIVER, { eval: true, execArgv: [] });
    const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
    const owner = new pg.Client({ connectionString: databaseUrl });
    await owner.connect();
    const db = createDatabase({ connectionString: databaseUrl, poolSize: 8 });
    const ground = { databaseUrl, owner, db, url: `http://127.0.0.1:${port}`, receiver };
    try {
      await owner.query(
        'CREATE TABLE bare_queue (id bigint PRIMARY KEY, body text NOT NULL, claimed boolean NOT NULL DEFAULT false, done boolean NOT NULL DEFAULT false)',
      );
      await owner.query('CREATE INDEX bare_queue_due ON bare_queue (id) WHERE NOT claimed');
      await measureThroughput(report, ground);
      await measureLatency(report, ground);
    } finally {
      await db.close();
      await owner.end();
      await receiver.terminate();
    }
  });
}

interface Ground {
  readonly databaseUrl: string;
  readonly owner: pg.Client;
  readonly db: Database;
  readonly url: string;
  readonly receiver: Worker;
}

async function measureThroughput(report: BenchReport, ground: Ground): Promise<void> {
  const partners = await addPartners(ground, PARTNERS, '/plain');
  await bareLoop(ground);
  await drainAll(ground, partners);
  report.add(
    await compareFigures({
      name: `persisted deliveries a second, against a bare loop of ${LANES} lanes`,
      baseline: () => bareLoop(ground),
      candidate: () => drainAll(ground, partners),
      rounds: ROUNDS,
      better: 'higher',
      targetRatio: 1,
    }),
  );
}

/** Claim a row, post it, update it; eight at a time. */
async function bareLoop({ owner, databaseUrl, url }: Ground): Promise<number> {
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
  await Promise.all(clients.map((client) => bareLane(client, sender, `${url}/plain`)));
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
    await sender.send({ url, secrets: { current: SECRET }, body: row.body });
    await client.query({
      name: 'done',
      text: 'UPDATE bare_queue SET done = true WHERE id = $1',
      values: [row.id],
    });
  }
}

async function drainAll(ground: Ground, partners: readonly string[]): Promise<number> {
  const { owner, db } = ground;
  await owner.query('TRUNCATE webhook_deliveries');
  for (let first = 0; first < DELIVERIES; first += 500) {
    await unitOfWork({ db, clock, ids }, SYSTEM, async (unit) => {
      for (let n = first; n < first + 500; n++)
        emit(unit, partners[n % partners.length] as string, String(n));
    });
  }
  await owner.query('ANALYZE webhook_deliveries');
  const began = performance.now();
  const { drain, close } = startDrain(ground);
  for (;;) {
    const { rows } = await owner.query(
      `SELECT EXISTS (SELECT FROM webhook_deliveries WHERE status = 'pending') AS waiting`,
    );
    if (!rows[0].waiting) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const seconds = (performance.now() - began) / 1_000;
  await drain.stop();
  await close();
  return DELIVERIES / seconds;
}

async function measureLatency(report: BenchReport, ground: Ground): Promise<void> {
  const partners = await addPartners(ground, PARTNERS, '/timed');
  const [hanging = ''] = await addPartners(ground, 1, '/hang');
  const listener = createListener(ground.databaseUrl, () => {});
  await listener.start();
  const { drain, close } = startDrain(ground);
  listener.on('events_written', (partnerId) => drain.wake(partnerId));
  await timeEvents(ground, partners);
  const alone = await timeEvents(ground, partners);
  report.add(
    figure({
      name: 'commit to first byte, p50',
      value: percentile(alone, 0.5),
      unit: 'ms',
      better: 'lower',
      target: 50,
      details: { p99: percentile(alone, 0.99) },
    }),
  );
  report.add(
    await compareFigures({
      name: 'p99 of the others while one partner hangs with a long queue, against without it',
      baseline: () => settledP99(ground, partners),
      candidate: async () => {
        await fillQueue(ground, hanging);
        const p99 = await settledP99(ground, partners);
        await ground.owner.query(`UPDATE webhook_deliveries SET status = 'cancelled' WHERE partner_id = $1`, [
          hanging,
        ]);
        return p99;
      },
      rounds: ROUNDS,
      better: 'lower',
      targetRatio: 1.2,
    }),
  );
  await listener.close();
  await close();
}

/** The first pass is thrown away on both sides: it would also measure the writing of the long queue. */
async function settledP99(ground: Ground, partners: readonly string[]): Promise<number> {
  await timeEvents(ground, partners);
  return percentile(await timeEvents(ground, partners), 0.99);
}

function fillQueue({ db }: Ground, partnerId: string): Promise<void> {
  return unitOfWork({ db, clock, ids }, SYSTEM, async (unit) => {
    for (let n = 0; n < HANGING_QUEUE; n++) emit(unit, partnerId, String(n));
  });
}

/** Milliseconds from the end of each commit to the arrival of its event. */
async function timeEvents(ground: Ground, partners: readonly string[]): Promise<number[]> {
  const arrived = new Map<string, number>();
  const note = ({ id, at }: { id: string; at: number }) => arrived.set(id, at);
  ground.receiver.on('message', note);
  const committed = new Map<string, number>();
  for (let n = 0; n < TIMED_EVENTS; n++) {
    const id = ids.uuid();
    await unitOfWork({ db: ground.db, clock, ids }, SYSTEM, async (unit) =>
      emit(unit, partners[n % partners.length] as string, id),
    );
    committed.set(id, wallNow());
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  while ([...committed.keys()].some((id) => !arrived.has(id))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  ground.receiver.off('message', note);
  return [...committed].map(([id, at]) => Math.max(0, (arrived.get(id) ?? Number.NaN) - at));
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function emit(unit: Parameters<typeof emitEvent>[0], partnerId: string, id: string): void {
  emitEvent(unit, {
    eventType: 'order.status.changed',
    partnerId,
    subjectId: unit.ids.uuid(),
    data: { id, filler: 'x'.repeat(300) },
  });
}

function startDrain({ databaseUrl }: Ground): { drain: DeliveryDrain; close(): Promise<void> } {
  const db = createDatabase({ connectionString: databaseUrl, poolSize: 4 });
  const sender = createWebhookSender({ allowLoopback: true }, () => Math.floor(Date.now() / 1_000));
  const drain = createDeliveryDrain({
    db,
    clock,
    ids,
    logger: createLogger({ level: 'silent', format: 'json' }),
    metrics: createMetrics({ processMetrics: false }),
    sender,
    openSecrets: () => ({ current: SECRET }),
  });
  drain.start();
  return {
    drain,
    async close() {
      // Hanging attempts end with their connections.
      await sender.close();
      await drain.stop();
      await db.close();
    },
  };
}

async function addPartners({ owner, url }: Ground, count: number, path: string): Promise<string[]> {
  const partnerIds = Array.from({ length: count }, () => ids.uuid());
  for (const partnerId of partnerIds) {
    await owner.query(
      `INSERT INTO partners (partner_id, name, settlement_chain, wallet_address, platform_fee_pct, webhook_url,
                             webhook_enabled, webhook_secret_sealed, created_at)
       VALUES ($1, $2, 'base-mainnet', '0x' || repeat('1', 40), 0, $3, true, 'unused', '2026-01-01')`,
      [partnerId, `bench ${partnerId}`, `${url}${path}`],
    );
  }
  return partnerIds;
}
