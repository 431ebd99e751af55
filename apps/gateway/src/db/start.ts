import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { batchItem, runBatch } from './batch.ts';
import { migrate, requireMigrated } from './migrate.ts';
import { DatabaseSetupError, refuseUnrestrictedLogin } from './server.ts';
import { statement } from './statement.ts';

export interface DatabaseStart {
  readonly databaseUrl: string;
  /** The server itself, where `databaseUrl` leads to a pooler. */
  readonly directUrl: string;
  readonly mayMigrate: boolean;
}

const HEARING_TIMEOUT_MS = 3_000;

/** What a production process makes sure of before it works. Each refusal says what to change. */
export async function prepareDatabase({ databaseUrl, directUrl, mayMigrate }: DatabaseStart): Promise<void> {
  await withClient(directUrl, refuseUnrestrictedLogin);
  if (mayMigrate) await migrate(directUrl);
  else await requireMigrated(directUrl);
  // One after the other: a pooler then serves the second client by the connection that the first has used.
  await withClient(databaseUrl, (one) =>
    withClient(databaseUrl, (other) => requireOwnStatements([one, other, one])),
  );
  await withClient(directUrl, (listening) =>
    withClient(databaseUrl, (telling) => requireHearing(listening, telling)),
  );
}

const PROBE = statement<[]>('db.probe', 'SELECT 1');
const DUPLICATE_PREPARED_STATEMENT = '42P05';
const UNKNOWN_PREPARED_STATEMENT = '26000';

/** Every statement is prepared under its name, once a connection. A pooler has to keep two connections' names apart. */
async function requireOwnStatements(turns: readonly pg.Client[]): Promise<void> {
  try {
    for (const client of turns) await runBatch(client, [batchItem(PROBE, [])]);
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (code !== DUPLICATE_PREPARED_STATEMENT && code !== UNKNOWN_PREPARED_STATEMENT) throw error;
    throw new DatabaseSetupError(
      'The pooler at DATABASE_URL mixes up its clients’ prepared statements. In transaction mode PgBouncer must be 1.21 or newer and have ' +
        'max_prepared_statements above 0; older ones work with pool_mode=session.',
      { cause: error },
    );
  }
}

/** Revoked keys, rates and the clock are announced by NOTIFY, and a pooler in transaction mode drops listeners. */
async function requireHearing(listening: pg.Client, telling: pg.Client): Promise<void> {
  const channel = `causeway_start_${randomUUID().replaceAll('-', '')}`;
  const heard = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), HEARING_TIMEOUT_MS);
    listening.on('notification', (news) => {
      if (news.channel !== channel) return;
      clearTimeout(timer);
      resolve(true);
    });
  });
  await listening.query(`LISTEN ${channel}`);
  await telling.query(`NOTIFY ${channel}`);
  if (await heard) return;
  throw new DatabaseSetupError(
    'What is announced in the database is not heard. Behind a pooler in transaction mode, set DATABASE_DIRECT_URL to the address of ' +
      'PostgreSQL itself; it must lead to the same database as DATABASE_URL.',
  );
}

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString,
    application_name: 'causeway-start',
    connectionTimeoutMillis: 10_000,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
