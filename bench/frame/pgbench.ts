import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * PostgreSQL's own load generator: as much of some SQL as the server takes, with nothing around it. It comes with a
 * distribution's PostgreSQL and not with the embedded one, so a machine may be without it.
 */
export interface PgbenchOptions {
  readonly databaseUrl: string;
  /** In pgbench's own language. */
  readonly script: string;
  readonly clients: number;
  readonly seconds: number;
}

const run = promisify(execFile);
const THREADS = 2;

export async function hasPgbench(): Promise<boolean> {
  return run('pgbench', ['--version']).then(
    () => true,
    () => false,
  );
}

/** Runs of the script per second. */
export async function pgbenchPerSecond(options: PgbenchOptions): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-pgbench-'));
  const { hostname, port, username, password, pathname } = new URL(options.databaseUrl);
  try {
    const file = join(folder, 'script.sql');
    await writeFile(file, options.script);
    const settings = {
      '-M': 'prepared',
      '-c': options.clients,
      '-j': THREADS,
      '-T': options.seconds,
      '-f': file,
    };
    const args = [
      '--no-vacuum',
      ...Object.entries(settings).flatMap(([flag, value]) => [flag, String(value)]),
    ];
    const { stdout } = await run('pgbench', [...args, pathname.slice(1)], {
      env: {
        ...process.env,
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: username,
        PGPASSWORD: password,
      },
    });
    const failed = /number of failed transactions: (\d+)/.exec(stdout)?.[1] ?? '0';
    const perSecond = /^tps = ([\d.]+)/m.exec(stdout)?.[1];
    if (perSecond === undefined || failed !== '0') throw new Error(`pgbench did not do its work: ${stdout}`);
    return Number(perSecond);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
