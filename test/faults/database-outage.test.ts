import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../apps/gateway/src/db/migrate.ts';
import { type LocalPostgres, startLocalPostgres } from '../../apps/gateway/src/local/local-postgres.ts';
import { connect } from '../harness/database.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { requestsOf } from '../invariants/carried-ids.ts';
import { describedRoutes, fillPath, keysOf } from '../invariants/described-routes.ts';

const CLIENTS = 12;
const USERS = '/api/v1/partner/users';

/** A PostgreSQL of its own, stopped as a crash stops it, under requests that go on. */
describe('while PostgreSQL is away', () => {
  let home: string;
  let postgres: LocalPostgres;
  let gateway: TestGateway;

  const start = () =>
    startLocalPostgres({
      home,
      onProgress: () => {},
      onNotice: () => {},
      settings: { fsync: 'off', max_connections: '100' },
    });

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'causeway-outage-'));
    postgres = await start();
    await migrate(postgres.databaseUrl);
    gateway = await startGateway({
      databaseUrl: postgres.databaseUrl,
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '10000000', RATE_LIMIT_PUBLIC_PER_MINUTE: '10000000' },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await postgres?.stop();
    await rm(home, { recursive: true, force: true });
  });

  /** As `pg_ctl stop -m immediate` does: it waits for no client, and the next start recovers. */
  async function crash(): Promise<void> {
    process.kill(postgres.pid, 'SIGQUIT');
    await postgres.exited;
  }

  async function comeBack(): Promise<void> {
    postgres = await start();
    await until(
      'the gateway',
      async () => (await gateway.call('GET', '/ready', { key: null })).status === 200,
    );
  }

  /** Either it was answered, or the caller is told to come again. */
  function check(what: string, { status, headers, text, body }: Answer): void {
    if (status < 500) return;
    const where = `${what}: ${status} ${text.slice(0, 200)}`;
    const code = body?.error?.code ?? body?.data?.error_key;
    expect([status, code?.toUpperCase()], where).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(headers.get('retry-after'), where).toMatch(/^[1-9][0-9]*$/);
  }

  it('every route answers from memory or 503 with Retry-After, with and without an Idempotency-Key', async () => {
    const routes = (await describedRoutes(gateway)).filter(({ path }) => !path.endsWith('/stream'));
    await crash();
    let refused = 0;
    try {
      for (const route of routes) {
        const [request] = requestsOf(route);
        const path = fillPath(
          route.path,
          Object.fromEntries(route.parameters.map(({ name }) => [name, randomUUID()])),
        );
        for (const headers of [{}, { 'idempotency-key': randomUUID() }] as Record<string, string>[]) {
          const answer = await gateway.call(route.method, path, {
            key: keysOf(gateway)[route.access],
            headers,
            ...(route.bodySchema === undefined ? {} : { body: request?.body }),
          });
          check(`${route.method} ${route.path}`, answer);
          expect(route.statuses, `${route.method} ${route.path}`).toContain(String(answer.status));
          if (answer.status === 503) refused++;
        }
      }
    } finally {
      await comeBack();
    }
    // Everything with a key has to ask whether the key still counts.
    expect(refused).toBeGreaterThan(routes.length);
  });

  /** Makes users until told to stop; what got no answer is asked again with its key until it has one. */
  async function underLoad(disturb: () => Promise<void>): Promise<{ made: Set<string>; asked: number }> {
    const made = new Set<string>();
    let asked = 0;
    let busy = true;
    const client = async () => {
      while (busy) {
        const key = randomUUID();
        const body = { email: `${key}@example.com` };
        for (let isAnswered = false; !isAnswered; ) {
          const answer = await gateway.call('POST', USERS, { body, headers: { 'idempotency-key': key } });
          check('POST users', answer);
          isAnswered = answer.status === 200;
          if (isAnswered) made.add(answer.body.data.id);
          else expect(answer.status, answer.text).toBe(503);
        }
        asked++;
        check('GET orders', await gateway.call('GET', '/api/v1/partner/orders'));
        check('GET rates', await gateway.call('GET', '/api/v1/rates', { key: null }));
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    try {
      await disturb();
    } finally {
      busy = false;
    }
    await Promise.all(clients);
    return { made, asked };
  }

  async function countUsers(owner: pg.Client): Promise<number> {
    return Number((await owner.query('SELECT count(*) FROM users')).rows[0].count);
  }

  it('connections that are cut under load, one after the other, are 503 as well', async () => {
    const owner = await connect(postgres.databaseUrl);
    const had = await countUsers(owner);
    const { made, asked } = await underLoad(async () => {
      for (let round = 0; round < 40; round++) {
        await owner.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name LIKE 'causeway-%' AND pid <> pg_backend_pid()`,
        );
      }
    });
    expect(made.size).toBe(asked);
    expect(await countUsers(owner)).toBe(had + asked);
    await owner.end();
  });
});
