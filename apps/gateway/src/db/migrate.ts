import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';

/**
 * Forward-only migrations: numbered SQL files, each applied once in a transaction of its own and
 * remembered with its checksum. A file that changed after it was applied is drift, and a start refuses it.
 */
const MIGRATIONS_FOLDER = new URL('./migrations/', import.meta.url);
const FILE_PATTERN = /^(\d{4})_[a-z0-9_]+\.sql$/;

// Any constant will do, as long as every starter of every release uses the same one.
const MIGRATION_LOCK = 7_203_911_406;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

export class MigrationDriftError extends Error {
  override name = 'MigrationDriftError';
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      if (!FILE_PATTERN.test(name)) throw new Error(`migration ${name} is not named NNNN_words.sql`);
      const sql = await readFile(new URL(name, folder), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Applies what is missing; several processes may start at once. Returns the names it applied. */
export async function migrate(connectionString: string, folder = MIGRATIONS_FOLDER): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = new pg.Client({ connectionString, application_name: 'causeway-migrate' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      name text PRIMARY KEY,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`);
    const { rows } = await client.query<{ name: string; checksum: string }>(
      'SELECT name, checksum FROM schema_migrations',
    );
    const applied = new Map(rows.map((row) => [row.name, row.checksum]));
    refuseDrift(migrations, applied);
    const missing = migrations.filter((migration) => !applied.has(migration.name));
    for (const migration of missing) await apply(client, migration);
    return missing.map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

function refuseDrift(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  const known = new Set(migrations.map((migration) => migration.name));
  for (const name of applied.keys()) {
    if (!known.has(name)) {
      throw new MigrationDriftError(
        `The database has migration ${name}, which this release does not know. Deploy the release that made it, or a newer one.`,
      );
    }
  }
  for (const { name, checksum } of migrations) {
    const before = applied.get(name);
    if (before !== undefined && before !== checksum) {
      throw new MigrationDriftError(
        `Migration ${name} was changed after it was applied. Restore the file; put the change in a new migration.`,
      );
    }
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(migration.sql);
    await client.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [
      migration.name,
      migration.checksum,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw new Error(`migration ${migration.name} failed`, { cause: error });
  }
}
