import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDatabaseProxy } from '../../../../test/deployment/database-proxy.ts';
import { connect, insertPartner } from '../../../../test/harness/database.ts';
import { withDatabase } from '../../../../test/harness/global-setup.ts';
import { type LocalPostgres, startLocalPostgres } from '../local/local-postgres.ts';
import { createDatabase, partnerScope } from './database.ts';
import { migrate, requireMigrated } from './migrate.ts';
import { prepareDatabase } from './start.ts';
import { statement } from './statement.ts';

const visiblePartners = statement<[], { partner_id: string }>(
  'test.server_partners',
  'SELECT partner_id FROM partners ORDER BY partner_id',
);
const MINE = '00000000-0000-7000-8000-0000000000c1';
const THEIRS = '00000000-0000-7000-8000-0000000000c2';

/** Roles belong to the whole server, so these tests have one that has not been set up. */
let home: string;
let server: LocalPostgres;
let admin: pg.Client;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'causeway-server-'));
  server = await startLocalPostgres({
    home,
    onProgress: () => {},
    onNotice: () => {},
    settings: { fsync: 'off' },
  });
  admin = await connect(server.databaseUrl);
});
afterAll(async () => {
  await admin?.end();
  await server?.stop();
  await rm(home, { recursive: true, force: true });
});

function urlOf(login: string, database: string): string {
  const url = new URL(withDatabase(server.databaseUrl, database));
  url.username = login;
  url.password = 'pw';
  return url.href;
}

async function ownerOf(database: string, attributes = ''): Promise<string> {
  await admin.query(`CREATE ROLE "${database}-owner" LOGIN PASSWORD 'pw' ${attributes}`);
  await admin.query(`CREATE DATABASE ${database} OWNER "${database}-owner"`);
  return urlOf(`${database}-owner`, database);
}

/** What an administrator copies out of a message. */
function sqlIn(message: string): string {
  return message
    .split('\n')
    .filter((line) => line.startsWith('  '))
    .join('\n');
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'it was not refused',
    (error: Error) => error.message,
  );
}

async function asAdministrator(database: string, sql: string): Promise<void> {
  const client = await connect(withDatabase(server.databaseUrl, database));
  await client.query(sql).finally(() => client.end());
}

async function partnersSeen(url: string, production = true): Promise<unknown> {
  const db = createDatabase({ connectionString: url, poolSize: 1, production });
  return db.query(partnerScope(MINE), visiblePartners, []).finally(() => db.close());
}

describe('setting up a server', () => {
  it('an owner who may not create roles gets the SQL for an administrator, and afterwards suffices', async () => {
    const url = await ownerOf('plain');
    const refusal = await messageOf(migrate(url));
    expect(refusal).toContain('The login plain-owner cannot set up the database plain.');
    expect(sqlIn(refusal)).toBe(
      [
        '  CREATE ROLE causeway_partner NOLOGIN;',
        '  CREATE ROLE causeway_customer NOLOGIN;',
        '  CREATE ROLE causeway_vendor NOLOGIN;',
        '  CREATE ROLE causeway_system NOLOGIN;',
        '  CREATE ROLE causeway_backup NOLOGIN;',
        '  GRANT causeway_partner, causeway_customer, causeway_vendor, causeway_system, causeway_backup TO "plain-owner" WITH INHERIT TRUE, SET TRUE;',
      ].join('\n'),
    );

    await asAdministrator('plain', sqlIn(refusal));
    expect(await migrate(url)).toContain('0001_tenancy.sql');
    await prepareDatabase({ databaseUrl: url, directUrl: url, mayMigrate: false });
    const look = await connect(withDatabase(server.databaseUrl, 'plain'));
    for (const id of [MINE, THEIRS]) await insertPartner(look, id);
    await look.end();
    expect(await partnersSeen(url)).toEqual([{ partner_id: MINE }]);
  });

  it('a second owner on the same server is told what is still missing, and no more', async () => {
    const url = await ownerOf('second', 'CREATEROLE');
    const refusal = await messageOf(migrate(url));
    expect(sqlIn(refusal)).toBe(
      '  GRANT causeway_partner, causeway_customer, causeway_vendor, causeway_system, causeway_backup TO "second-owner" WITH INHERIT TRUE, SET TRUE;',
    );
    await asAdministrator('second', sqlIn(refusal));
    await migrate(url);
  });

  it('a login that does not own the database is told how it comes to', async () => {
    await admin.query(`CREATE ROLE guest LOGIN PASSWORD 'pw'`);
    await admin.query('CREATE DATABASE foreign_to_guest');
    const refusal = await messageOf(migrate(urlOf('guest', 'foreign_to_guest')));
    expect(sqlIn(refusal)).toContain('ALTER DATABASE "foreign_to_guest" OWNER TO "guest";');
    await asAdministrator('foreign_to_guest', sqlIn(refusal));
    await migrate(urlOf('guest', 'foreign_to_guest'));
  });

  it('a server that is too old is refused by its version, with the least that works, before anything is written', async () => {
    const url = await ownerOf('old');
    const { rows } = await admin.query<{ number: string; name: string }>(
      `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS name`,
    );
    const [{ number, name } = { number: '', name: '' }] = rows;
    const old = await startDatabaseProxy(url, {
      rewrite: (answer) =>
        answer.replaceAll(number, '150020').replaceAll(name, '15.20'.slice(0, name.length)),
    });
    try {
      expect(await messageOf(migrate(old.url))).toMatch(
        /^PostgreSQL at 127\.0\.0\.1:\d+ is 15\.20?, and 18 is the oldest that works\. Upgrade/,
      );
    } finally {
      await old.close();
    }
    const look = await connect(withDatabase(server.databaseUrl, 'old'));
    const tables = await look.query(`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`);
    await look.end();
    expect(tables.rowCount).toBe(0);
  });
});

describe('a login of production', () => {
  it('may own nothing: with the two roles granted it starts and works, and cannot change the schema', async () => {
    await admin.query(`CREATE ROLE app LOGIN PASSWORD 'pw'`);
    const url = urlOf('app', 'plain');
    const refusal = await messageOf(partnersSeen(url));
    expect(refusal).toContain('The login app may not act as causeway_partner.');
    await asAdministrator('plain', sqlIn(refusal));
    await prepareDatabase({ databaseUrl: url, directUrl: url, mayMigrate: false });
    await requireMigrated(url);
    expect(await migrate(url), 'nothing is missing').toEqual([]);
    expect(await partnersSeen(url)).toEqual([{ partner_id: MINE }]);
    const client = await connect(url);
    await expect(client.query('ALTER TABLE partners DISABLE ROW LEVEL SECURITY')).rejects.toThrow(
      'must be owner',
    );
    expect(
      (await client.query('SELECT current_user AS name')).rows,
      'between transactions it has no other role',
    ).toEqual([{ name: 'app' }]);
    await expect(client.query('SELECT FROM partners')).rejects.toThrow('permission denied');
    await client.end();
  });

  it.each(['SUPERUSER', 'BYPASSRLS'])(
    'is refused with %s, before anything is migrated',
    async (attribute) => {
      const name = `mighty_${attribute.toLowerCase()}`;
      const url = await ownerOf(name, attribute);
      const refusal = await messageOf(
        prepareDatabase({ databaseUrl: url, directUrl: url, mayMigrate: true }),
      );
      expect(refusal).toContain(`The login ${name}-owner is a superuser or bypasses row-level security`);
      await expect(requireMigrated(url)).rejects.toThrow('npm start -- migrate');
      const migrated = urlOf(`${name}-owner`, 'plain');
      await admin.query(
        `GRANT causeway_partner, causeway_customer, causeway_vendor, causeway_system TO "${name}-owner" WITH SET TRUE`,
      );
      expect(await messageOf(partnersSeen(migrated))).toContain('which production refuses');
      expect(await partnersSeen(migrated, false), 'elsewhere it is bound all the same').toEqual([
        { partner_id: MINE },
      ]);
    },
  );

  it('is refused every connection once a working role could see past row-level security', async () => {
    await admin.query('ALTER ROLE causeway_partner BYPASSRLS');
    try {
      expect(await messageOf(partnersSeen(urlOf('app', 'plain')))).toContain(
        'ALTER ROLE causeway_partner NOSUPERUSER NOBYPASSRLS',
      );
    } finally {
      await admin.query('ALTER ROLE causeway_partner NOBYPASSRLS');
    }
  });
});
