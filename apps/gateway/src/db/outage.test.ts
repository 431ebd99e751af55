import { createServer } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { isOutage } from './outage.ts';

describe('an outage of the database is told apart from everything else', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database?.close());

  const failure = (work: () => Promise<unknown>): Promise<unknown> =>
    work().then(
      () => undefined,
      (error: unknown) => error,
    );

  it('a server that is not there, that hangs up, or that answers no one', async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const hangsUp = new pg.Pool({ connectionString: `postgres://x@127.0.0.1:${port}/x` });
    expect(isOutage(await failure(() => hangsUp.connect()))).toBe(true);
    await new Promise((resolve) => server.close(resolve));
    expect(isOutage(await failure(() => hangsUp.connect()))).toBe(true);
    await hangsUp.end();
    expect(isOutage(await failure(() => hangsUp.connect()))).toBe(true);

    const small = new pg.Pool({ connectionString: database.url, max: 1, connectionTimeoutMillis: 2_000 });
    const only = await small.connect();
    expect(isOutage(await failure(() => small.connect()))).toBe(true);
    only.release();
    await small.end();
  });

  it('a connection that is ended while it waits, and a statement that takes too long', async () => {
    const client = new pg.Client({ connectionString: database.url });
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    const waiting = failure(() => client.query('SELECT pg_sleep(60)'));
    await database.owner.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    expect(isOutage(await waiting)).toBe(true);
    expect(isOutage(await failure(() => client.query('SELECT 1')))).toBe(true);

    const slow = () => database.owner.query(`SET statement_timeout = 20; SELECT pg_sleep(60)`);
    expect(isOutage(await failure(slow))).toBe(true);
    await database.owner.query('RESET statement_timeout');
  });

  it('what a statement itself did wrong is none', async () => {
    for (const text of ['SELECT 1/0', 'SELECT nothing', `SELECT 'x'::int`, `SELECT '9'::int8 * 9e18::int8`]) {
      expect(isOutage(await failure(() => database.owner.query(text))), text).toBe(false);
    }
    for (const other of [new Error('no'), new TypeError('undefined'), 'text', undefined]) {
      expect(isOutage(other)).toBe(false);
    }
  });
});
