import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../apps/gateway/src/db/migrate.ts';
import { startLocalPostgres } from '../apps/gateway/src/local/local-postgres.ts';
import { endedWithTheRun } from './frame/interruption.ts';

/** A migrated PostgreSQL with a sandbox's own, durable settings, for as long as a bench runs. */
export async function withDatabase<T>(
  use: (databaseUrl: string) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
  const postgres = await startLocalPostgres({ home, onProgress: () => {}, onNotice: () => {}, settings });
  const stop = endedWithTheRun(async () => {
    await postgres.stop();
    await rm(home, { recursive: true, force: true });
  });
  try {
    await migrate(postgres.databaseUrl);
    return await use(postgres.databaseUrl);
  } finally {
    await stop();
  }
}
