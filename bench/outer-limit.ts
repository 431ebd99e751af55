import { createDatabase } from '../apps/gateway/src/db/database.ts';
import { createIdGenerator } from '../apps/gateway/src/lib/ids.ts';
import { hasPgbench, pgbenchPerSecond } from './frame/pgbench.ts';
import { type RecordedSql, replaySql } from './servers/recorded-sql.ts';
import { sqlScript } from './servers/sql-script.ts';

/**
 * How much of some SQL a database takes with nothing around it: from pgbench where the machine has it, else from a loop of
 * connections in one process, since the embedded PostgreSQL comes without pgbench.
 */
export interface OuterLimit {
  readonly databaseUrl: string;
  /** One after the other, again and again. */
  readonly calls: readonly RecordedSql[];
  /** Ids that are new every time. */
  readonly own: readonly string[];
  /** Ids that are any of these every time. */
  readonly choices?: ReadonlyMap<string, readonly string[]>;
  readonly connections: number;
  readonly seconds: number;
}

export async function outerLimitTool(): Promise<string> {
  return (await hasPgbench()) ? 'pgbench' : 'a loop of connections, as there is no pgbench here';
}

/** Calls per second. */
export async function callsPerSecond(limit: OuterLimit): Promise<number> {
  const perSecond = (await hasPgbench()) ? await byPgbench(limit) : await byLoop(limit);
  return perSecond * limit.calls.length;
}

async function byPgbench({ databaseUrl, connections, seconds, ...sql }: OuterLimit): Promise<number> {
  const script = await sqlScript({ databaseUrl, choices: new Map(), ...sql });
  return pgbenchPerSecond({ databaseUrl, script, clients: connections, seconds });
}

async function byLoop(limit: OuterLimit): Promise<number> {
  const db = createDatabase({ connectionString: limit.databaseUrl, poolSize: limit.connections });
  const ids = createIdGenerator();
  const replaced = [...limit.own, ...(limit.choices?.keys() ?? [])];
  const runs = limit.calls.map((call) => replaySql(db, ids, call, replaced));
  const chosen = () =>
    [...(limit.choices ?? [])].map(
      ([id, others]) => [id, others[Math.floor(Math.random() * others.length)] ?? id] as const,
    );
  let done = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + limit.seconds * 1_000;
  try {
    await Promise.all(
      Array.from({ length: limit.connections }, async () => {
        while (performance.now() < endsAt) {
          let given: ReadonlyMap<string, string> = new Map(chosen());
          for (const run of runs) given = new Map([...given, ...(await run(given))]);
          done += 1;
        }
      }),
    );
    return (done * 1_000) / (performance.now() - startedAt);
  } finally {
    await db.close();
  }
}
