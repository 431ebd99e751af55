import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalPostgres, startLocalPostgres } from './local-postgres.ts';
import { findProcessesByCommand } from './processes.ts';

let home: string;
const running: LocalPostgres[] = [];

beforeEach(async () => {
  const base = await mkdtemp(join(tmpdir(), 'causeway-pg-'));
  await chmod(base, 0o755);
  home = join(base, 'home');
  await mkdir(home, { mode: 0o700 });
});

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  expect(await findProcessesByCommand(home)).toEqual([]);
  await rm(join(home, '..'), { recursive: true, force: true });
});

async function start(): Promise<LocalPostgres> {
  const server = await startLocalPostgres({ home, onProgress: () => undefined, onNotice: () => undefined });
  running.push(server);
  return server;
}

async function query(databaseUrl: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('local PostgreSQL', () => {
  it('is version 18, in UTF-8, durable, and reachable over loopback only', async () => {
    const { databaseUrl } = await start();
    const rows = await query(
      databaseUrl,
      `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'listen_addresses',
        'unix_socket_directories', 'server_encoding', 'jit', 'max_connections', 'TimeZone')`,
    );
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      server_encoding: 'UTF8',
      jit: 'off',
      max_connections: '100',
      TimeZone: 'UTC',
    });
    const [version] = await query(databaseUrl, 'select current_database() as name, version() as text');
    expect(version).toMatchObject({ name: 'causeway', text: expect.stringMatching(/^PostgreSQL 18\./) });
  });

  it('refuses connections without the password, which only its owner can read', async () => {
    const { databaseUrl } = await start();
    const wrong = new URL(databaseUrl);
    wrong.password = 'guess';
    await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed');
    expect((await stat(join(home, 'postgres-secrets.json'))).mode & 0o777).toBe(0o600);
    expect(await readdir(home)).not.toContain('initdb-password');
  });

  it('gets a new password when the kept one was lost, and keeps its data', async () => {
    const first = await start();
    await query(first.databaseUrl, 'create table kept as select 7 as value');
    await first.stop();
    await rm(join(home, 'postgres-secrets.json'));
    const second = await start();
    expect(second.databaseUrl).not.toBe(first.databaseUrl);
    expect(await query(second.databaseUrl, 'select value from kept')).toEqual([{ value: 7 }]);
  });

  it('starts over when the very first start was cut off while it created the cluster', async () => {
    await mkdir(join(home, 'postgres.new', 'base'), { recursive: true });
    await writeFile(join(home, 'postgres.new', 'PG_VERSION'), '18\n');
    await writeFile(join(home, 'initdb-password'), 'left over');
    const { databaseUrl } = await start();
    expect(await query(databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await readdir(home)).not.toContain('postgres.new');
  });

  it('spares another process whose pid is in a stale pid file', async () => {
    const first = await start();
    await first.stop();
    const otherProcess = spawn('sleep', ['60']);
    try {
      const pidFile = join(home, 'postgres', 'postmaster.pid');
      await writeFile(pidFile, `${otherProcess.pid}\n${join(home, 'postgres')}\n1\n5432\n\n127.0.0.1\n`);
      const second = await start();
      expect(await query(second.databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
      expect(otherProcess.exitCode).toBeNull();
      expect(otherProcess.signalCode).toBeNull();
      expect((await readFile(pidFile, 'utf8')).split('\n')[0]).toBe(String(second.pid));
    } finally {
      otherProcess.kill();
      await once(otherProcess, 'exit');
    }
  });

  it('says what the server said when it cannot start', async () => {
    const first = await start();
    await first.stop();
    await writeFile(join(home, 'postgres', 'PG_VERSION'), '12\n');
    await expect(start()).rejects.toThrow(/PostgreSQL did not start[\s\S]*incompatible/);
  });
});
