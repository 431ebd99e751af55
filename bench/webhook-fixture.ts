import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { createDatabase, type Database, SYSTEM } from '../apps/gateway/src/db/database.ts';
import { emitEvent } from '../apps/gateway/src/engine/outbox.ts';
import { type UnitOfWork, unitOfWork } from '../apps/gateway/src/engine/unit-of-work.ts';
import { createClock } from '../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../apps/gateway/src/lib/ids.ts';
import { orderChanged } from '../test/harness/events.ts';

/** What the benches of webhooks stand on: a database with partners, and a receiver that says when events arrive. */
export interface WebhookFixture {
  readonly databaseUrl: string;
  readonly owner: pg.Client;
  readonly db: Database;
  readonly receiver: Receiver;
}

export interface Receiver {
  readonly url: string;
  readonly thread: Worker;
}

export const ids = createIdGenerator();
export const clock = createClock();

export async function startReceiver(): Promise<Receiver> {
  const thread = new Worker(new URL('./servers/webhook-receiver.ts', import.meta.url), { execArgv: [] });
  const [{ port }] = (await once(thread, 'message')) as [{ port: number }];
  return { url: `http://127.0.0.1:${port}`, thread };
}

export async function withFixture<T>(
  databaseUrl: string,
  receiver: Receiver,
  use: (fixture: WebhookFixture) => Promise<T>,
): Promise<T> {
  const owner = new pg.Client({ connectionString: databaseUrl });
  await owner.connect();
  const db = createDatabase({ connectionString: databaseUrl, poolSize: 8 });
  try {
    return await use({ databaseUrl, owner, db, receiver });
  } finally {
    await db.close();
    await owner.end();
  }
}

export function emit(unit: UnitOfWork, partnerId: string, id: string): void {
  emitEvent(unit, {
    eventType: 'order.status.changed',
    partnerId,
    subjectId: unit.ids.uuid(),
    data: orderChanged({ id }),
  });
}

export function fillQueue({ db }: WebhookFixture, partnerId: string, events: number): Promise<void> {
  return unitOfWork({ db, clock, ids }, SYSTEM, async (unit) => {
    for (let n = 0; n < events; n++) emit(unit, partnerId, String(n));
  });
}

const BETWEEN_EVENTS_MS = 4;
const GIVE_UP_MS = 60_000;
const wallNow = () => performance.timeOrigin + performance.now();

/** Milliseconds from the end of each commit to the arrival of its event. */
export async function timeEvents(
  fixture: WebhookFixture,
  partners: readonly string[],
  events: number,
): Promise<number[]> {
  const arrived = new Map<string, number>();
  const note = ({ id, at }: { id: string; at: number }) => arrived.set(id, at);
  const { thread } = fixture.receiver;
  thread.on('message', note);
  const committed = new Map<string, number>();
  for (let n = 0; n < events; n++) {
    const id = ids.uuid();
    await unitOfWork({ db: fixture.db, clock, ids }, SYSTEM, async (unit) =>
      emit(unit, partners[n % partners.length] as string, id),
    );
    committed.set(id, wallNow());
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_EVENTS_MS));
  }
  const deadline = performance.now() + GIVE_UP_MS;
  while ([...committed.keys()].some((id) => !arrived.has(id))) {
    if (performance.now() > deadline) throw new Error('events did not arrive within a minute');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  thread.off('message', note);
  return [...committed].map(([id, at]) => Math.max(0, (arrived.get(id) ?? Number.NaN) - at));
}
