import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connect, emptyDatabase } from '../../../../test/harness/database.ts';
import { startGateway } from '../../../../test/harness/gateway.ts';
import { installed } from '../../../../test/harness/installed.ts';
import { migrate } from './migrate.ts';
import { prepareDatabase } from './start.ts';

/** It dumps servers up to its own version. Debian: `apt-get install postgresql-client-18`. */
const pgDump = installed('pg_dump').find(({ major }) => major >= 18);
const pgRestore = installed('pg_restore').find(({ major }) => major >= 18);
const run = promisify(execFile);

const OPERATOR = `backup_${process.pid}`;
const OWNER = `restorer_${process.pid}`;

let source: string;
let userId: string;
let admin: pg.Client;
let owner: pg.Client;
let backup: pg.Client;

const asLogin = (databaseUrl: string, login: string) => {
  const url = new URL(databaseUrl);
  url.username = login;
  url.password = 'pw';
  return url.href;
};

beforeAll(async () => {
  admin = await connect(inject('ground').adminUrl);
  await admin.query(`CREATE ROLE ${OPERATOR} LOGIN PASSWORD 'pw' IN ROLE causeway_backup`);
  await admin.query(`CREATE ROLE ${OWNER} LOGIN PASSWORD 'pw'`);
  await admin.query(
    `GRANT causeway_partner, causeway_customer, causeway_vendor, causeway_system, causeway_backup TO ${OWNER} WITH INHERIT TRUE, SET TRUE`,
  );
  source = await ownDatabase();
  const url = asLogin(source, OWNER);
  await migrate(url);
  const gateway = await startGateway({ addresses: () => ({ pooled: url, direct: url }) });
  const user = await gateway.call('POST', '/api/v1/partner/users', { body: { email: 'kept@example.com' } });
  userId = user.body.data.id;
  // Nothing changes from here on, so that a copy can be compared with its source.
  await gateway.stop();
  owner = await connect(source);
  backup = await connect(asLogin(source, OPERATOR));
});
afterAll(async () => {
  await backup?.end();
  await owner?.end();
  await admin?.end();
});

async function ownDatabase(): Promise<string> {
  const url = await emptyDatabase();
  await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${OWNER}`);
  return url;
}

async function tablesOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Every row of every table, as one digest a table. */
async function digests(client: pg.Client): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const table of await tablesOf(client)) {
    const { rows } = await client.query(
      `SELECT count(*)::int AS rows, md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '')) AS digest FROM ${table} t`,
    );
    found[table] = rows[0];
  }
  return found;
}

describe('a backup', () => {
  it('sees what a superuser sees, row for row, with the role that is made for it', async () => {
    const complete = await digests(owner);
    expect(
      Object.values(complete).filter((table) => (table as { rows: number }).rows > 0).length,
    ).toBeGreaterThan(10);
    expect(await digests(backup)).toEqual(complete);
  });

  it('writes nothing: no table and no counter takes a change from that role', async () => {
    for (const table of await tablesOf(owner)) {
      for (const sql of [
        `INSERT INTO ${table} DEFAULT VALUES`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table}`,
      ]) {
        await expect(backup.query(sql), sql).rejects.toMatchObject({ code: '42501' });
      }
    }
    await expect(backup.query(`SELECT nextval('intents_position_seq')`)).rejects.toMatchObject({
      code: '42501',
    });
  });

  it.skipIf(pgDump === undefined || pgRestore === undefined)(
    'by pg_dump is restored by a plain owner to the same rows, counters, rights and policies, and the program runs on it',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'causeway-backup-'));
      const file = join(folder, 'causeway.dump');
      const target = await ownDatabase();
      try {
        const from = asLogin(source, OPERATOR);
        await run(pgDump?.path ?? '', ['--format=custom', '--enable-row-security', `--file=${file}`, from]);
        // Two functions belong to causeway_system, which may own nothing in a schema where it may create nothing.
        const restorer = await connect(asLogin(target, OWNER));
        await restorer.query('GRANT CREATE ON SCHEMA public TO causeway_system');
        await run(pgRestore?.path ?? '', [
          ...['--exit-on-error', '--single-transaction'],
          ...[`--dbname=${asLogin(target, OWNER)}`, file],
        ]);
        await restorer.query('REVOKE CREATE ON SCHEMA public FROM causeway_system');
        await restorer.end();
        const restored = await connect(target);
        expect(await digests(restored)).toEqual(await digests(owner));
        expect(await rightsOf(restored)).toEqual(await rightsOf(owner));
        await restored.end();
        await runsOn(asLogin(target, OWNER));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});

async function runsOn(url: string): Promise<void> {
  await prepareDatabase({ databaseUrl: url, directUrl: url, mayMigrate: false });
  const second = await startGateway({ addresses: () => ({ pooled: url, direct: url }) });
  try {
    const { status, body } = await second.call('GET', `/api/v1/partner/users/${userId}`);
    expect([status, body.data.email]).toEqual([200, 'kept@example.com']);
  } finally {
    await second.stop();
  }
}

/** Everything that makes tenancy: policies, grants, owners of privileged functions, counters. */
async function rightsOf(client: pg.Client): Promise<unknown> {
  const { rows } = await client.query(`
    SELECT (SELECT json_agg(p ORDER BY tablename, policyname) FROM pg_policies p) AS policies,
           (SELECT json_agg(json_build_array(relname, relrowsecurity, relforcerowsecurity) ORDER BY relname)
              FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r') AS enforced,
           (SELECT json_agg(json_build_array(table_name, grantee, privilege_type) ORDER BY table_name, grantee, privilege_type)
              FROM information_schema.role_table_grants WHERE grantee IN ('causeway_partner', 'causeway_customer', 'causeway_vendor', 'causeway_system', 'causeway_backup')) AS grants,
           (SELECT json_agg(json_build_array(proname, proowner::regrole) ORDER BY proname)
              FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef) AS functions,
           (SELECT json_agg(json_build_array(grantee::regrole, privilege_type) ORDER BY grantee::regrole::text, privilege_type)
              FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'public') AS schema_grants,
           (SELECT json_agg(json_build_array(sequencename, last_value) ORDER BY sequencename) FROM pg_sequences) AS counters`);
  return rows[0];
}
