import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, emptyDatabase } from '../../../../test/harness/database.ts';
import { MigrationDriftError, migrate, requireMigrated } from './migrate.ts';

describe('migrations', () => {
  let path: string;
  let folder: URL;
  let url: string;
  let owner: pg.Client;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'causeway-migrations-'));
    folder = pathToFileURL(`${path}/`);
    url = await emptyDatabase();
    owner = await connect(url);
    await write('0001_first.sql', 'CREATE TABLE first (id int);');
  });
  afterEach(async () => {
    await owner?.end();
    await rm(path, { recursive: true, force: true });
  });

  const write = (name: string, sql: string) => writeFile(join(path, name), sql);
  const tables = async () => {
    const { rows } = await owner.query<{ tablename: string }>(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    );
    return rows.map(({ tablename }) => tablename);
  };

  it('applies each file once, in the order of its number, and then nothing more', async () => {
    await write('0002_second.sql', 'ALTER TABLE first ADD COLUMN word text;');
    expect(await migrate(url, folder)).toEqual(['0001_first.sql', '0002_second.sql']);
    expect(await migrate(url, folder)).toEqual([]);
  });

  it('refuses a file that changed after it was applied, and names it', async () => {
    await migrate(url, folder);
    await write('0001_first.sql', 'CREATE TABLE first (id bigint);');
    await write('0002_second.sql', 'CREATE TABLE second (id int);');
    const refused = migrate(url, folder);
    await expect(refused).rejects.toBeInstanceOf(MigrationDriftError);
    await expect(refused).rejects.toThrow('0001_first.sql was changed');
    expect(await tables()).not.toContain('second');
  });

  it('refuses a database from before the baseline, names the way out, and touches nothing', async () => {
    await owner.query('CREATE TABLE schema_migrations (name text PRIMARY KEY, checksum text NOT NULL)');
    await owner.query(
      `INSERT INTO schema_migrations VALUES ('0001_tenancy.sql', 'a'), ('0002_intents_and_outbox.sql', 'b')`,
    );
    for (const start of [migrate, requireMigrated]) {
      for (const files of [folder, undefined]) {
        const refused = start(url, files);
        await expect(refused).rejects.toBeInstanceOf(MigrationDriftError);
        await expect(refused).rejects.toThrow(/npm run sandbox:reset.*DATABASE_URL/);
      }
    }
    expect(await tables()).toEqual(['schema_migrations']);
  });

  it('without leave to migrate, says what is missing and how to apply it, and touches nothing', async () => {
    await expect(requireMigrated(url, folder)).rejects.toThrow(/0001_first\.sql.*npm start -- migrate/);
    expect(await tables()).toEqual([]);
    await migrate(url, folder);
    await requireMigrated(url, folder);
    await write('0002_second.sql', 'CREATE TABLE second (id int);');
    await expect(requireMigrated(url, folder)).rejects.toThrow('1 of this release');
    expect(await tables()).toEqual(['first', 'schema_migrations']);
  });

  it('refuses a database that a newer release has migrated', async () => {
    await write('0002_second.sql', 'CREATE TABLE second (id int);');
    await migrate(url, folder);
    await rm(join(path, '0002_second.sql'));
    await expect(migrate(url, folder)).rejects.toThrow('0002_second.sql, which this release does not know');
  });

  it('leaves nothing of a migration that fails half-way, keeps those before it, and goes on once it is mended', async () => {
    await write('0002_second.sql', 'CREATE TABLE second (id int); SELECT 1 / 0;');
    await expect(migrate(url, folder)).rejects.toThrow('0002_second.sql failed');
    expect(await tables()).toEqual(['first', 'schema_migrations']);
    await write('0002_second.sql', 'CREATE TABLE second (id int);');
    expect(await migrate(url, folder)).toEqual(['0002_second.sql']);
  });

  it('refuses a file whose name gives no order', async () => {
    await write('second.sql', 'SELECT 1;');
    await expect(migrate(url, folder)).rejects.toThrow('NNNN_words.sql');
  });

  it('lets several processes start at once: each migration is applied exactly once', async () => {
    await write('0002_slow.sql', 'CREATE TABLE slow (id int); SELECT pg_sleep(0.2);');
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(url, folder)));
    expect(applied.flat().sort()).toEqual(['0001_first.sql', '0002_slow.sql']);
  });

  it('sets up two databases of one server at once, although they share the roles', async () => {
    await cp(new URL('./migrations/', import.meta.url), path, { recursive: true });
    await rm(join(path, '0001_first.sql'));
    const other = await emptyDatabase();
    const [here, there] = await Promise.all([migrate(url, folder), migrate(other, folder)]);
    expect(here).toEqual(there);
    expect(here.length).toBeGreaterThan(4);
  });
});
