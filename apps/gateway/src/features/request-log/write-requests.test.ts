import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DatabaseProxy, startDatabaseProxy } from '../../../../../test/deployment/database-proxy.ts';
import { openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { createDatabase, type Database, SYSTEM } from '../../db/database.ts';
import { createLogger } from '../../lib/logger.ts';
import { createMetrics, type Metrics } from '../../lib/metrics.ts';
import { programsOf, refusalOf } from './kept-values.ts';
import { readRequests } from './read-requests.ts';
import { createBudget } from './record-requests.ts';
import { type NewRequestRow, writeRequests } from './request-log.store.ts';
import { createRequestWriter, purgeOldRequests, type RequestWriter } from './write-requests.ts';

const DAY = 24 * 60 * 60 * 1_000;
const AT = Date.parse('2026-11-16T10:00:00Z');
/** Nothing by itself: each test says when. */
const SELDOM = { everyMs: 3_600_000, batchRows: 100, waitingRows: 4 };

function rowOf(owner: string, fields: Partial<NewRequestRow> = {}): NewRequestRow {
  return {
    partner_id: owner,
    vendor_id: null,
    at: AT,
    request_id: randomUUID(),
    key_id: randomUUID(),
    method: 'GET',
    route: '/api/v1/partner/users',
    path: '/api/v1/partner/users',
    query: null,
    status_code: 200,
    error_code: null,
    error_fields: [],
    duration_us: 1_250,
    order_id: null,
    idempotency_key: false,
    idempotent_replay: false,
    api_version: 'v1',
    caller_network: null,
    user_agent: null,
    ...fields,
  };
}

describe('writing the log of requests', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let db: Database;
  let metrics: Metrics;
  let writer: RequestWriter | undefined;
  const logger = createLogger({ level: 'silent', format: 'json', destination: { write: () => {} } });

  beforeAll(async () => {
    database = await openTestDatabase();
    proxy = await startDatabaseProxy(database.url);
    db = createDatabase({ connectionString: proxy.url, poolSize: 2 });
  });
  afterEach(async () => {
    proxy.onStatement = () => 'pass';
    await writer?.stop();
    writer = undefined;
  });
  afterAll(async () => {
    await db?.close();
    await proxy?.close();
    await database?.close();
  });

  function start(limits = SELDOM): RequestWriter {
    metrics = createMetrics({ processMetrics: false });
    writer = createRequestWriter({ db, logger, metrics }, limits);
    return writer;
  }
  async function counted(): Promise<Record<string, number>> {
    const { values } = await metrics.requestLogEntriesTotal.get();
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.outcome), value]));
  }
  const page = (owner: string, query: object = {}) =>
    readRequests(database.db, { scope: SYSTEM, ownerId: owner }, { limit: 100, ...query });
  const sequences = async (owner: string) =>
    (await page(owner, { after: '0' })).requests.map(({ cursor }) => Number(cursor));
  const write = (owner: string, ...rows: Partial<NewRequestRow>[]) =>
    database.db.query(SYSTEM, writeRequests, [JSON.stringify(rows.map((fields) => rowOf(owner, fields)))]);

  it('drops what is too much to wait, counts it, and writes the rest', async () => {
    const owner = randomUUID();
    const log = start();
    for (let count = 0; count < 6; count++) log.add(() => rowOf(owner));
    await log.flush();
    expect([await sequences(owner), await counted()]).toEqual([[1, 2, 3, 4], { written: 4, dropped: 2 }]);
  });

  it('writes a full batch at once, without waiting for its time', async () => {
    const owner = randomUUID();
    const log = start({ ...SELDOM, batchRows: 2 });
    log.add(() => rowOf(owner));
    log.add(() => rowOf(owner));
    // Waits for what has begun; nothing else has asked for it.
    await log.flush();
    expect(await counted()).toEqual({ written: 2 });
  });

  it('notes what comes while a batch is written for the next one, instead of writing it row by row', async () => {
    const owner = randomUUID();
    const log = start({ ...SELDOM, waitingRows: 100 });
    let batches = 0;
    proxy.onStatement = (text, moment) => {
      if (moment === 'before' && text.includes('request_log.write') && ++batches === 1) {
        for (let count = 0; count < 3; count++) log.add(() => rowOf(owner));
      }
      return 'pass';
    };
    log.add(() => rowOf(owner));
    await log.flush();
    expect([batches, await counted()]).toEqual([1, { written: 1 }]);
    await log.flush();
    expect([batches, await counted(), await sequences(owner)]).toEqual([2, { written: 4 }, [1, 2, 3, 4]]);
  });

  it('waits while the database is away, and writes everything once it is back', async () => {
    const owner = randomUUID();
    const log = start();
    proxy.onStatement = (text) => (text.includes('request_log.write') ? 'cut' : 'pass');
    for (let count = 0; count < 3; count++) log.add(() => rowOf(owner));
    await log.flush();
    expect([await sequences(owner), await counted()]).toEqual([[], {}]);
    // Those that failed count as waiting.
    for (let count = 0; count < 3; count++) log.add(() => rowOf(owner));
    await log.flush();
    proxy.onStatement = () => 'pass';
    await log.flush();
    expect([await sequences(owner), await counted()]).toEqual([[1, 2, 3, 4], { written: 4, dropped: 2 }]);
  });

  it('writes a batch once where it was committed and the answer got lost', async () => {
    const owner = randomUUID();
    const log = start();
    proxy.onStatement = (text, moment) =>
      moment === 'after' && text.includes('request_log.write') ? 'cut' : 'pass';
    log.add(() => rowOf(owner));
    log.add(() => rowOf(owner));
    await log.flush();
    proxy.onStatement = () => 'pass';
    log.add(() => rowOf(owner));
    await log.flush();
    expect(await sequences(owner)).toEqual([1, 2, 3]);
  });

  it('does not let one row that the database refuses keep back the others', async () => {
    const owner = randomUUID();
    const log = start();
    log.add(() => rowOf(owner, { status_code: 9_999 }));
    await log.flush();
    log.add(() => {
      throw new Error('no row');
    });
    log.add(() => rowOf(owner));
    await log.flush();
    expect([await sequences(owner), await counted()]).toEqual([[1], { written: 1, dropped: 2 }]);
  });

  it('is done with what waits when it stops, and counts what it cannot write then', async () => {
    const owner = randomUUID();
    start().add(() => rowOf(owner));
    await writer?.stop();
    expect([await sequences(owner), await counted()]).toEqual([[1], { written: 1 }]);
    start().add(() => rowOf(owner));
    proxy.onStatement = (text) => (text.includes('request_log.write') ? 'cut' : 'pass');
    await writer?.stop();
    expect([await sequences(owner), await counted()]).toEqual([[1], { dropped: 1 }]);
  });

  it('numbers a batch that is committed late in front of those that waited for it', async () => {
    const [owner, other] = [randomUUID(), randomUUID()];
    let late: Promise<unknown> = Promise.resolve();
    await database.db.transaction(SYSTEM, async (tx) => {
      await tx.query(writeRequests, [JSON.stringify([rowOf(owner), rowOf(other), rowOf(owner)])]);
      // Another process, whose batch begins before the first is committed.
      late = db.query(SYSTEM, writeRequests, [JSON.stringify([rowOf(owner), rowOf(other)])]);
      const { rows } = await database.owner.query(
        `SELECT count(*)::int AS n FROM request_log WHERE owner_id = ANY ($1)`,
        [[owner, other]],
      );
      expect(rows[0].n).toBe(0);
    });
    const { pagination } = await page(owner, { after: '0' });
    await late;
    // Whoever has read up to there misses nothing and sees nothing twice.
    const seen = Number(pagination.next_cursor);
    const rest = (await page(owner, { after: String(seen) })).requests.map(({ cursor }) => Number(cursor));
    expect([...Array(seen).keys()].map((n) => n + 1).concat(rest)).toEqual([1, 2, 3]);
    expect([await sequences(owner), await sequences(other)]).toEqual([
      [1, 2, 3],
      [1, 2],
    ]);
  });

  it('is purged by its age, and numbers do not start again', async () => {
    const owner = randomUUID();
    const now = AT + 8 * DAY;
    await database.owner.query('DELETE FROM request_log');
    await write(owner, { at: now - 7 * DAY - 1 }, { at: now - 7 * DAY }, { at: now });
    const purge = (wall: number) => purgeOldRequests({ db: database.db, wall: () => wall }, 7);
    expect([await purge(now), await sequences(owner)]).toEqual([1, [2, 3]]);
    expect([await purge(now + 8 * DAY), await sequences(owner)]).toEqual([2, []]);
    // A cursor from before goes on.
    expect((await page(owner, { after: '3' })).pagination.next_cursor).toBe('3');
    await write(owner, {});
    expect(await sequences(owner)).toEqual([4]);
  });

  it('has a bounded number of requests a second and caller that no rate limit holds back', () => {
    const allows = createBudget(2);
    expect(['a', 'a', 'a', 'b'].map((owner) => allows(owner, AT))).toEqual([true, true, false, true]);
    expect([allows('a', AT + 999), allows('a', AT + 1_000)]).toEqual([false, true]);
  });

  it('takes names of fields and programs, and nothing else of what callers write', () => {
    const refused = (details: object) =>
      refusalOf(
        JSON.stringify({ success: false, error: { code: 'VALIDATION_ERROR', message: 'Jane', details } }),
      );
    expect(refused({ fields: [{ path: 'details.iban', message: 'DE89…' }, { path: 'Jane Doe' }] })).toEqual({
      code: 'VALIDATION_ERROR',
      fields: ['details.iban'],
    });
    expect(refused({ missing_fields: ['city'], field: 'address.0' }).fields).toEqual(['address.0', 'city']);
    expect(refusalOf('not JSON')).toEqual({ code: null, fields: [] });
    expect(programsOf('Mozilla/5.0 (X11; Jane’s laptop) Gecko/20100101')).toBe('Mozilla/5.0 Gecko/20100101');
    expect(programsOf('Jane Doe')).toBeNull();
  });
});
