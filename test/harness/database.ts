import pg from 'pg';
import { inject } from 'vitest';
import { createDatabase, type Database } from '../../apps/gateway/src/db/database.ts';
import type {} from './global-setup.ts';

let databases = 0;

/** A database of this run's server, cloned from the migrated template. */
export async function cloneDatabase(): Promise<string> {
  return createFrom(inject('ground').templateDatabase);
}

/** One that a sandbox has been started on before. */
export async function cloneSandboxDatabase(): Promise<string> {
  return createFrom(inject('ground').sandboxDatabase);
}

/** A database of this run's server with nothing in it. */
export async function emptyDatabase(): Promise<string> {
  return createFrom('template0');
}

async function createFrom(template: string): Promise<string> {
  const { adminUrl } = inject('ground');
  const name = `t_${process.pid}_${databases++}_${Math.random().toString(36).slice(2, 8)}`;
  const admin = await connect(adminUrl);
  try {
    // The server is not durable, so its checkpoints are cheap, and copying files beats logging pages.
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  } finally {
    await admin.end();
  }
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

export async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

/** The program's database access on a clone of its own, and the owner's connection beside it. */
export interface TestDatabase {
  readonly url: string;
  readonly db: Database;
  /** Owns the tables and bypasses row-level security: for arranging and for looking, never for the code under test. */
  readonly owner: pg.Client;
  close(): Promise<void>;
}

export async function openTestDatabase(poolSize = 5): Promise<TestDatabase> {
  const url = await cloneDatabase();
  const db = createDatabase({ connectionString: url, poolSize });
  const owner = await connect(url);
  return {
    url,
    db,
    owner,
    async close() {
      await db.close();
      await owner.end();
    },
  };
}

export { insertPartner } from './partners.ts';
