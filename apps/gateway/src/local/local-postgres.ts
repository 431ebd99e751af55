import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeFileAtomically } from './atomic-file.ts';
import { type Child, lastLogLines, startChild } from './child.ts';
import { pickPort } from './free-port.ts';
import { resolvePostgresBinaries } from './postgres-binaries.ts';
import {
  clusterExists,
  createCluster,
  DATABASE_NAME,
  DATABASE_USER,
  ensurePassword,
  POSTGRES_ENVIRONMENT,
} from './postgres-cluster.ts';
import { clearLeftovers, clusterMarker } from './postgres-recovery.ts';
import { chooseRunAs, type RunAs } from './run-as.ts';

export interface LocalPostgres {
  readonly databaseUrl: string;
  readonly pid: number;
  /** Resolves when the server has ended, whatever ended it. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

export interface LocalPostgresOptions {
  /** A folder that this process has locked. */
  readonly home: string;
  readonly onProgress: (text: string) => void;
  /** What a person should still read when the start is over. */
  readonly onNotice: (text: string) => void;
  /** Server settings that differ from a sandbox's, such as a throw-away server that need not survive a crash. */
  readonly settings?: Readonly<Record<string, string>>;
}

const PORT_ATTEMPTS = 5;
const READY_POLL_MS = 15;
/** Long, because a start after a crash replays the log first. */
const READY_TIMEOUT_MS = 60_000;

const STOP_LADDER = [
  { signal: 'SIGINT', timeoutMs: 5_000 },
  { signal: 'SIGQUIT', timeoutMs: 6_000 },
  { signal: 'SIGKILL', timeoutMs: 2_000 },
] as const;

/** A server for one sandbox: durable like a real one, small in memory, reachable only from this machine. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '64MB',
  fsync: 'on',
  synchronous_commit: 'on',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '1GB',
  jit: 'off',
  io_method: 'sync',
  log_checkpoints: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
} as const;

/** PostgreSQL 18 with its data in `<home>/postgres`; whatever an earlier run left behind is cleared first. */
export async function startLocalPostgres({
  home,
  onProgress,
  onNotice,
  settings = {},
}: LocalPostgresOptions): Promise<LocalPostgres> {
  const binaries = await resolvePostgresBinaries();
  const dataFolder = join(home, 'postgres');
  const { stopped } = await clearLeftovers(dataFolder);
  if (stopped > 0) onNotice('Stopped a PostgreSQL left over from an earlier run');
  const runAs = await chooseRunAs(home, dataFolder, binaries.postgres);
  const cluster = { home, dataFolder, binaries, runAs };
  if (!(await clusterExists(dataFolder))) {
    onProgress('Creating the database (first start only)');
    await createCluster(cluster);
  }
  const password = await ensurePassword(cluster);
  const server: Server = { home, dataFolder, program: binaries.postgres, runAs, settings };
  const { child, port } = await startOnFreePort(server, onNotice);
  return {
    databaseUrl: `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/${DATABASE_NAME}`,
    pid: child.pid,
    exited: child.exited,
    stop: () => child.stop(STOP_LADDER),
  };
}

interface Server {
  readonly home: string;
  readonly dataFolder: string;
  readonly program: string;
  readonly runAs: RunAs;
  readonly settings: Readonly<Record<string, string>>;
}

/** The port of the last run if it is free, so that addresses people noted keep working. */
async function startOnFreePort(
  server: Server,
  onNotice: (text: string) => void,
): Promise<{ child: Child; port: number }> {
  const { home, dataFolder } = server;
  const portFile = join(home, 'postgres-port');
  const remembered = await rememberedPort(portFile);
  let preferred = remembered;
  for (let attempt = 1; ; attempt += 1) {
    const port = await pickPort(preferred);
    const child = await startServer(server, port);
    const ready = await waitUntilReady(child, dataFolder);
    if (ready) {
      if (remembered !== undefined && port !== remembered) {
        onNotice(`Port ${remembered} is taken: PostgreSQL listens on ${port}`);
      }
      if (port !== remembered) await writeFileAtomically(portFile, `${port}\n`);
      return { child, port };
    }
    const log = await lastLogLines(child.logFile);
    // Someone may take the port between our look and the server's; anything else will not go away by itself.
    if (!log.includes('Address already in use') || attempt === PORT_ATTEMPTS) {
      throw new Error(`PostgreSQL did not start. Its log (${child.logFile}) ends with:\n${log}`);
    }
    preferred = undefined;
  }
}

async function rememberedPort(file: string): Promise<number | undefined> {
  const port = Number(await readFile(file, 'utf8').catch(() => ''));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

function startServer(
  { home, dataFolder, program, runAs, settings: own }: Server,
  port: number,
): Promise<Child> {
  const settings = { ...SETTINGS, ...own, port: String(port), cluster_name: clusterMarker(dataFolder) };
  const [command = program, ...args] = [
    ...runAs.prefix,
    program,
    '-D',
    dataFolder,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  return startChild({
    name: 'PostgreSQL',
    command,
    args,
    env: POSTGRES_ENVIRONMENT,
    cwd: '/',
    ...runAs.spawn,
    logFile: join(home, 'postgres.log'),
  });
}

/** Reads what pg_ctl reads: the server writes "ready" into its pid file once it accepts connections. */
async function waitUntilReady(child: Child, dataFolder: string): Promise<boolean> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!child.hasExited()) {
    const lines = (await readFile(join(dataFolder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    if (lines[0] === String(child.pid) && lines[7]?.trim() === 'ready') return true;
    if (performance.now() >= deadline) {
      await child.stop(STOP_LADDER);
      return false;
    }
    await delay(READY_POLL_MS);
  }
  return false;
}
