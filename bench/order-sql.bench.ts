import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createDatabase } from '../apps/gateway/src/db/database.ts';
import { createIdGenerator } from '../apps/gateway/src/lib/ids.ts';
import { figure } from './frame/measurement.ts';
import type { BenchReport } from './frame/report.ts';
import { withGateway } from './gateway.ts';
import {
  ownIds,
  RECORDED_ORDER_FILE,
  type RecordedOrder,
  type RecordedSql,
  replaySql,
} from './servers/recorded-sql.ts';

/**
 * Where the database spends its time on one order, statement by statement: quote and initiate as a gateway asked for them,
 * again and again on one connection, and then what the server itself counted (pg_stat_statements). A statement includes
 * its triggers and functions. Bytes of the log depend on nothing but the program.
 */
const ORDERS = 1_000;
const WARM_UP = 100;
const COUNTING = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'top',
  'pg_stat_statements.save': 'off',
};

interface StatementCost {
  readonly name: string;
  readonly calls: number;
  readonly microseconds: number;
  readonly leastMicroseconds: number;
  readonly logBytes: number;
  readonly pages: number;
}

export async function run(report: BenchReport): Promise<void> {
  const script = new URL('./servers/orders-gateway.ts', import.meta.url);
  await withGateway(
    script,
    {},
    async ({ home, databaseUrl }) => {
      const recorded = JSON.parse(await readFile(join(home, RECORDED_ORDER_FILE), 'utf8')) as RecordedOrder;
      const costs = await measure(databaseUrl, recorded);
      for (const cost of costs) {
        const { name, microseconds, ...details } = cost;
        report.add(
          figure({
            name: `SQL of an order: ${name}`,
            value: microseconds,
            unit: 'µs',
            better: 'lower',
            details,
          }),
        );
      }
      const sum = (of: (cost: StatementCost) => number) => costs.reduce((all, cost) => all + of(cost), 0);
      for (const [name, unit, value] of [
        ['all statements', 'µs', sum(({ microseconds }) => microseconds)],
        ['all statements, each at its quickest', 'µs', sum((cost) => cost.leastMicroseconds * cost.calls)],
        ['bytes written to the log', 'bytes', sum(({ logBytes }) => logBytes)],
      ] as const) {
        report.add(figure({ name: `SQL of an order: ${name}`, value, unit, better: 'lower' }));
      }
    },
    COUNTING,
  );
}

async function measure(databaseUrl: string, recorded: RecordedOrder): Promise<StatementCost[]> {
  const db = createDatabase({ connectionString: databaseUrl, poolSize: 1 });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('CREATE EXTENSION pg_stat_statements');
    const ids = createIdGenerator();
    const runs = [recorded.quote.sql, recorded.initiate.sql].map((sql) =>
      replaySql(db, ids, named(sql), ownIds(sql, recorded.madeAfter)),
    );
    const openOrders = async (orders: number) => {
      for (let order = 0; order < orders; order += 1) {
        let given: ReadonlyMap<string, string> = new Map();
        for (const replay of runs) given = new Map([...given, ...(await replay(given))]);
      }
    };
    await openOrders(WARM_UP);
    await client.query('SELECT pg_stat_statements_reset()');
    await openOrders(ORDERS);
    const { rows } = await client.query<StatementCost>(
      `SELECT coalesce(substring(query FROM '/\\* (\\S+) \\*/'), 'begin, role and commit') AS name, sum(calls)::float8 / $1 AS calls,
              sum(total_exec_time) * 1000 / $1 AS microseconds, sum(min_exec_time * calls) * 1000 / sum(calls) AS "leastMicroseconds",
              sum(wal_bytes)::float8 / $1 AS "logBytes", sum(shared_blks_hit + shared_blks_read)::float8 / $1 AS pages
         FROM pg_stat_statements WHERE query ~ '/\\* \\S+ \\*/' OR query ~* '^(begin|commit|select set_config)'
        GROUP BY 1 ORDER BY microseconds DESC`,
      [ORDERS],
    );
    return rows;
  } finally {
    await db.close();
    await client.end();
  }
}

/** The server keeps a statement with the comments that are in it, but for one at its beginning. */
function named(sql: RecordedSql): RecordedSql {
  return {
    ...sql,
    steps: sql.steps.map((step) => ({ ...step, text: step.text.replace(/^\w+/, `$& /* ${step.name} */`) })),
  };
}
