import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { prepareIntent } from '../../apps/gateway/src/engine/intent.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { insertPartner, openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { COMPILED } from '../harness/process.ts';
import { until } from '../harness/until.ts';

const EFFECTS = 300;
const WORKERS = 3;
const KILLS = 15;
const PARTNER = '00000000-0000-7000-8000-000000000001';
const SEED = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31));

describe('workers killed at any moment', () => {
  const payments = new Map<string, number>();
  const children = new Set<ChildProcess>();
  const random = mulberry(SEED);
  let database: TestDatabase;
  let bank: Server;
  let bankUrl: string;

  beforeAll(async () => {
    database = await openTestDatabase();
    await insertPartner(database.owner, PARTNER);
    bank = createServer(answer).listen(0, '127.0.0.1');
    await once(bank, 'listening');
    bankUrl = `http://127.0.0.1:${(bank.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await Promise.all([...children].map(kill));
    bank?.closeAllConnections();
    bank?.close();
    await database?.close();
  });

  /** Pays as often as it is asked to, slowly; sometimes refuses, sometimes pays and hangs up. */
  function answer(
    request: import('node:http').IncomingMessage,
    response: import('node:http').ServerResponse,
  ): void {
    const key = request.url?.split('/').at(-1) ?? '';
    if (request.method === 'GET') {
      response.writeHead(payments.has(key) ? 200 : 404).end();
      return;
    }
    const mood = random();
    if (mood < 0.1) {
      response.writeHead(503).end();
      return;
    }
    payments.set(key, (payments.get(key) ?? 0) + 1);
    setTimeout(() => (mood < 0.2 ? response.destroy() : response.writeHead(200).end()), random() * 60);
  }

  async function startWorker(): Promise<ChildProcess> {
    const script = new URL('./effect-worker.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, database.url, bankUrl, PARTNER], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
    });
    children.add(child);
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    return child;
  }

  async function kill(child: ChildProcess): Promise<void> {
    children.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async function settled(): Promise<number> {
    const { rows } = await database.owner.query(
      `SELECT count(*)::int AS n FROM intents WHERE status = 'confirmed'`,
    );
    return rows[0].n;
  }

  it(`lose no effect, double none and book each exactly once (FAULT_SEED=${SEED})`, {
    timeout: 240_000,
  }, async () => {
    const deps = { db: database.db, clock: createClock(), ids: createIdGenerator() };
    const keys = Array.from({ length: EFFECTS }, (_, n) => `payment-${n}`);
    const write = (some: readonly string[]) =>
      unitOfWork(deps, SYSTEM, async (unit) => {
        for (const dedupeKey of some) {
          const payload = { order_id: unit.ids.uuid() };
          prepareIntent(unit, { kind: 'escrow.release', dedupeKey, partnerId: PARTNER, payload });
        }
      });
    await Promise.all(Array.from({ length: WORKERS }, startWorker));
    let written = 0;
    let killed = 0;
    while (killed < KILLS) {
      const until = Math.min(EFFECTS, written + Math.ceil(EFFECTS / KILLS));
      await write(keys.slice(written, until));
      written = until;
      await sleep(40 + random() * 120);
      const running = [...children];
      await kill(running[Math.floor(random() * running.length)] as ChildProcess);
      killed++;
      // The next one starts while the others go on.
      void startWorker();
    }
    await until('every effect settled', async () => (await settled()) === EFFECTS, 120_000);

    expect([...payments.keys()].sort()).toEqual([...keys].sort());
    expect([...payments].filter(([, times]) => times !== 1)).toEqual([]);
    const { rows } = await database.owner.query(
      'SELECT account, count(*)::int AS n FROM ledger_postings WHERE amount > 0 GROUP BY account',
    );
    expect(rows.filter(({ n }) => n !== 1)).toEqual([]);
    expect(rows).toHaveLength(EFFECTS);
    // The kills must have hit something, or this proves nothing.
    const hit = await database.owner.query('SELECT FROM intents WHERE attempts > 1');
    expect(hit.rowCount).toBeGreaterThan(10);
  });
});

/** A small seeded generator: the same seed gives the same choices. */
function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
