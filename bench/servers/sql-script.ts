import pg from 'pg';
import type { RecordedSql, RecordedStep } from './recorded-sql.ts';

/**
 * Recorded SQL as a script for pgbench, in the same round trips, with the role set in each transaction's first
 * (docs/decisions/0022). What a request asked outside of its transaction comes first here, since a client of pgbench has one
 * connection.
 */
export interface ScriptOptions {
  readonly databaseUrl: string;
  readonly calls: readonly RecordedSql[];
  /** Ids to replace by new ones. These share a beginning, so that they lie together in an index as ids made in order do. */
  readonly own: readonly string[];
  /** Ids to replace by any of some others. */
  readonly choices: ReadonlyMap<string, readonly string[]>;
}

export async function sqlScript({ databaseUrl, calls, own, choices }: ScriptOptions): Promise<string> {
  const replaced: Replacement[] = [
    ...own.map((id, index) => ({
      id,
      draw: `\\set id${index} random(0, 281474976710655)`,
      sql: `'01900000-0000-7000-8000-' || lpad(to_hex((:id${index})::bigint), 12, '0')`,
    })),
    ...[...choices].map(([id, others], index) => ({
      id,
      draw: `\\set choice${index} random(1, ${others.length})`,
      // Of a fixed size, so that any is found without walking past the others.
      sql: `('{${others.join(',')}}'::uuid[])[(:choice${index})::int]::text`,
    })),
  ];
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const lines = replaced.map(({ draw }) => draw);
    for (const call of calls) lines.push(...(await linesOf(client, call, replaced)));
    return `${lines.join('\n')}\n`;
  } finally {
    await client.end();
  }
}

const AS_SYSTEM = `SELECT set_config('role', 'causeway_system', true);`;

interface Replacement {
  readonly id: string;
  /** The line that draws a value for a run of the script. */
  readonly draw: string;
  readonly sql: string;
}

async function linesOf(
  client: pg.Client,
  call: RecordedSql,
  replaced: readonly Replacement[],
): Promise<string[]> {
  const lines: string[] = [];
  const opening = `SELECT set_config('role', 'causeway_partner', true), set_config('causeway.partner_id', '${call.partnerId}', true);`;
  const inOneTrip = (statements: readonly string[]) =>
    lines.push('\\startpipeline', ...statements, '\\endpipeline');
  for (const step of call.steps.filter(({ how }) => how === 'apart')) {
    inOneTrip([AS_SYSTEM, await filledIn(client, step, replaced)]);
  }
  let trip = call.inTransaction ? ['BEGIN;', opening] : [opening];
  for (const step of call.steps.filter(({ how }) => how !== 'apart')) {
    trip.push(await filledIn(client, step, replaced));
    if (step.how === 'defer') continue;
    inOneTrip(trip);
    trip = call.inTransaction ? [] : [opening];
  }
  if (call.inTransaction) inOneTrip([...trip, 'COMMIT;']);
  return lines;
}

/** The statement with its parameters written out, each of the type that the server gives it. */
async function filledIn(
  client: pg.Client,
  { text, params }: RecordedStep,
  replaced: readonly Replacement[],
): Promise<string> {
  await client.query(`PREPARE script_step AS ${text}`);
  const { rows } = await client.query<{ types: string[] }>(
    `SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = 'script_step'`,
  );
  await client.query('DEALLOCATE script_step');
  const types = rows[0]?.types ?? [];
  const values = params.map((param, index) => `(${literal(param, replaced)})::${types[index]}`);
  return `${text.replaceAll(/\$(\d+)/g, (_, number: string) => values[Number(number) - 1] ?? 'NULL')};`;
}

function literal(param: string | null, replaced: readonly Replacement[]): string {
  if (param === null) return 'NULL';
  // pgbench takes a colon before a letter for a variable of its own, also inside quotes.
  const quoted = `'${param.replaceAll("'", "''").replaceAll(/:(?=\w)/g, ":' || '")}'`;
  return replaced.reduce((text, { id, sql }) => text.replaceAll(id, `' || ${sql} || '`), quoted);
}
