import { CausewayError } from '@causeway/protocol';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../../../../test/harness/call.ts';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { insertKey, type Shell, startShell } from '../../../../test/harness/shell.ts';
import { until } from '../../../../test/harness/until.ts';
import { statement } from '../db/statement.ts';
import { numberColumn, textColumn } from '../lib/csv.ts';
import { newId } from '../lib/ids.ts';
import { createLogger } from '../lib/logger.ts';
import { createCsvSender, csvRoute, FILES_A_CALLER } from './csv-route.ts';

const PARTNER = newId();
const NEIGHBOUR = newId();
const PATH = '/api/v1/t/rows.csv';

interface Row {
  n: number;
  filler: string;
}

const rows = statement<[count: number, failAt: number], Row>(
  'test.csv_rows',
  `SELECT n, repeat('x', 1000) || (CASE WHEN n = $2 THEN (1 / (n - $2))::text ELSE '' END) AS filler
     FROM generate_series(1, $1::int) n`,
);
const ownName = statement<[], Row>('test.csv_own_name', 'SELECT 1 AS n, name AS filler FROM partners');

describe('a file of comma-separated values', () => {
  let database: TestDatabase;
  let shell: Shell;
  let key: string;
  let otherKey: string;
  let pagesRead = 0;
  let isStopped = false;
  const log: string[] = [];
  const columns = [
    numberColumn<Row>('n', ({ n }) => `${n}`),
    textColumn<Row>('filler', ({ filler }) => filler),
  ];

  beforeAll(async () => {
    database = await openTestDatabase();
    for (const id of [PARTNER, NEIGHBOUR]) await insertPartner(database.owner, id);
    key = await insertKey(database.owner, 'partner', PARTNER);
    otherKey = await insertKey(database.owner, 'partner', NEIGHBOUR);
    const logger = createLogger({
      level: 'info',
      format: 'json',
      destination: { write: (line) => log.push(line) },
    });
    shell = await startShell({
      databaseUrl: database.url,
      routes: (app, { db }) => {
        const sender = createCsvSender(app, { db, logger, atOnce: 3, stallMs: 4_000 });
        csvRoute(app, sender, {
          access: 'partner',
          url: PATH,
          operationId: 'rows',
          tag: 'Exports',
          summary: 'x',
          description: 'x',
          example: 'n,filler\r\n1,x\r\n',
          query: Type.Object({
            count: Type.Integer({ default: 10 }),
            fail_at: Type.Integer({ default: 0 }),
            what: Type.Optional(Type.String()),
          }),
          errors: ['ORDER_NOT_FOUND'],
          open: ({ query: { count, fail_at, what } }) => ({
            name: 'rows.csv',
            columns,
            async *pages(snapshot) {
              if (what === 'missing') throw new CausewayError('ORDER_NOT_FOUND');
              if (what === 'snapshot') {
                yield snapshot.query(ownName, []);
                await database.owner.query("UPDATE partners SET name = name || ' renamed'");
                yield snapshot.query(ownName, []);
                return;
              }
              for await (const page of snapshot.pages(rows, [count, fail_at])) {
                pagesRead++;
                yield page;
              }
            },
          }),
        });
      },
    });
  });
  afterAll(async () => {
    if (!isStopped) await shell?.stop();
    await database?.close();
  });

  const get = (query: string, apiKey: string | null = key) =>
    call(shell.baseUrl, 'GET', `${PATH}?${query}`, { key: apiKey });
  const open = (query: string, apiKey = key) =>
    fetch(`${shell.baseUrl}${PATH}?${query}`, { headers: { 'x-api-key': apiKey } });

  /** Connections that a snapshot holds. */
  async function held(): Promise<number> {
    const { rows: found } = await database.owner.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'causeway-partner' AND xact_start IS NOT NULL
          AND datname = current_database()`,
    );
    return found.length;
  }
  const released = () => until('no connection is held', async () => (await held()) === 0);

  it('has every row once, whatever the pages, under a line of names', async () => {
    for (const count of [0, 1, 499, 500, 501, 1_000]) {
      const { status, text, headers } = await get(`count=${count}`);
      const lines = text.split('\r\n');
      expect([count, status, lines.length, lines[0], lines.at(-1)]).toEqual([
        count,
        200,
        count + 2,
        'n,filler',
        '',
      ]);
      expect(lines.slice(1, -1).map((line) => Number(line.split(',')[0]))).toEqual(
        Array.from({ length: count }, (_, index) => index + 1),
      );
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
      expect(headers.get('content-disposition')).toBe('attachment; filename="rows.csv"');
    }
    await released();
  });

  it('is of one moment: what is committed while it is read is not in it', async () => {
    const [, first, second] = (await get('what=snapshot')).text.split('\r\n');
    expect(second).toBe(first);
    const { rows: found } = await database.owner.query('SELECT name FROM partners WHERE partner_id = $1', [
      PARTNER,
    ]);
    expect([first, found[0].name]).toEqual([
      expect.not.stringContaining('renamed'),
      expect.stringContaining('renamed'),
    ]);
  });

  it('is refused with an envelope while nothing was sent: no key, a wrong query, nothing there, a failing first page', async () => {
    expect((await get('', null)).body.error.code).toBe('UNAUTHORIZED');
    expect((await get('count=x')).body.error.code).toBe('VALIDATION_ERROR');
    const missing = await get('what=missing');
    expect([missing.status, missing.body.error.code]).toEqual([404, 'ORDER_NOT_FOUND']);
    expect(missing.headers.get('content-disposition')).toBeNull();
    const failing = await get('count=10&fail_at=7');
    expect([failing.status, failing.body.error.code]).toEqual([500, 'INTERNAL_ERROR']);
    expect((await call(shell.baseUrl, 'HEAD', PATH, { key })).status).toBe(404);
    await released();
    // The answer says it all.
    expect(log.filter((line) => line.includes('file not sent'))).toEqual([]);
  });

  it('breaks the connection where it fails later, so that half of it never looks whole', async () => {
    const response = await open('count=5000&fail_at=3000');
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    const cut = await open('count=100000');
    await database.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'causeway-partner' AND xact_start IS NOT NULL AND datname = current_database()`,
    );
    await expect(cut.text()).rejects.toThrow();
    await released();
    expect((await get('count=3')).text).toContain('\r\n3,');
  });

  it('a client that leaves gives its connection back', async () => {
    const abort = new AbortController();
    const response = await fetch(`${shell.baseUrl}${PATH}?count=100000`, {
      headers: { 'x-api-key': key },
      signal: abort.signal,
    });
    expect(response.status).toBe(200);
    expect(await held()).toBe(1);
    abort.abort();
    await released();
  });

  it('a client that takes nothing is not read ahead for, has few at once, and loses them in time', async () => {
    pagesRead = 0;
    log.length = 0;
    const slow = await Promise.all(Array.from({ length: FILES_A_CALLER }, () => open('count=1000000')));
    const third = await get('count=1');
    expect([third.status, third.body.error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    // Another caller has room, until the process has none.
    const neighbour = await open('count=1000000', otherKey);
    expect(neighbour.status).toBe(200);
    expect((await get('count=1', otherKey)).body.error.code).toBe('RATE_LIMITED');
    await released();
    for (const response of [...slow, neighbour]) await expect(response.text()).rejects.toThrow();
    // Half a gigabyte was asked for: what the sockets took is all that was read.
    expect(pagesRead).toBeLessThan(60);
    expect(log.filter((line) => line.includes('took nothing in time')).length).toBeGreaterThan(0);
    expect((await get('count=1')).status).toBe(200);
  });

  it('a server that stops does not wait for it', async () => {
    const response = await open('count=1000000');
    const began = performance.now();
    await shell.stop();
    isStopped = true;
    expect(performance.now() - began).toBeLessThan(5_000);
    await expect(response.text()).rejects.toThrow();
  });
});
