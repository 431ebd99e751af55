import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { DatabaseSetupError, provideRoles, requireVersion, roleRefusal } from './server.ts';

/**
 * Forward-only migrations: numbered SQL files, each applied once in a transaction of its own and
 * remembered with its checksum. A file that changed after it was applied is drift, and a start refuses it.
 */
const MIGRATIONS_FOLDER = new URL('./migrations/', import.meta.url);
const FILE_PATTERN = /^(\d{4})_[a-z0-9_]+\.sql$/;

// Any constant will do, as long as every starter of every release uses the same one.
const MIGRATION_LOCK = 7_203_911_406;

/** Applied to every database from before the baseline of decision 0032, and to none since. */
const BEFORE_BASELINE = '0002_intents_and_outbox.sql';

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
export function migrate(connectionString: string, folder = MIGRATIONS_FOLDER): Promise<string[]> {
  return withMissing(connectionString, folder, applyAll);
}

/** All of them, to an empty database that this client has to itself. */
export async function migrateEmpty(client: Pick<pg.Client, 'query'>): Promise<string[]> {
  return applyAll(client, await readMigrations(MIGRATIONS_FOLDER));
}

async function applyAll(client: Pick<pg.Client, 'query'>, missing: readonly Migration[]): Promise<string[]> {
  if (missing.length === 0) return [];
  await provideRoles(client);
  await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      name text PRIMARY KEY,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`);
  for (const migration of missing) await apply(client, migration);
  return missing.map(({ name }) => name);
}

/** For processes that must leave the schema alone. */
export function requireMigrated(connectionString: string, folder = MIGRATIONS_FOLDER): Promise<void> {
  return withMissing(connectionString, folder, async (_, missing) => {
    if (missing.length === 0) return;
    const names = [missing[0]?.name, ...(missing.length > 1 ? [missing.at(-1)?.name] : [])].join(' to ');
    throw new DatabaseSetupError(
      `${missing.length} of this release's migrations are not applied (${names}), and MIGRATE_AT_START is false. Run: npm start -- migrate`,
    );
  });
}

async function withMissing<T>(
  connectionString: string,
  folder: URL,
  work: (client: pg.Client, missing: readonly Migration[]) => Promise<T>,
): Promise<T> {
  const migrations = await readMigrations(folder);
  const client = new pg.Client({ connectionString, application_name: 'causeway-migrate' });
  await client.connect();
  try {
    await requireVersion(client);
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const applied = await readApplied(client);
    refuseDrift(migrations, applied);
    return await work(
      client,
      migrations.filter(({ name }) => !applied.has(name)),
    );
  } finally {
    await client.end();
  }
}

/** The table's owner may read it, and so may the system role, for logins that own nothing. */
async function readApplied(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows: found } = await client.query<{ readable: boolean }>(
    `SELECT has_table_privilege(oid, 'SELECT') AS readable FROM pg_class WHERE oid = to_regclass('schema_migrations')`,
  );
  if (found[0] === undefined) return new Map();
  if (!found[0].readable) {
    await client.query('SET ROLE causeway_system').catch((error: unknown) => {
      throw roleRefusal(error, client, 'causeway_system');
    });
  }
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM schema_migrations',
  );
  await client.query('RESET ROLE');
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

function refuseDrift(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  if (applied.has(BEFORE_BASELINE)) {
    throw new MigrationDriftError(
      'The database was made by a version from before the first release and cannot be carried over. A sandbox holds play data ' +
        'only: start afresh with `npm run sandbox:reset`. Where DATABASE_URL is set, point it at an empty database.',
    );
  }
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

async function apply(client: Pick<pg.Client, 'query'>, migration: Migration): Promise<void> {
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
