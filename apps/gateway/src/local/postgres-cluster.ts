import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { writeFileAtomically } from './atomic-file.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import type { RunAs } from './run-as.ts';

export const DATABASE_USER = 'causeway';
export const DATABASE_NAME = 'causeway';

/** English messages whatever the machine speaks: failures are recognised by their text. */
export const POSTGRES_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' } as const;

interface Cluster {
  readonly home: string;
  readonly dataFolder: string;
  readonly binaries: PostgresBinaries;
  readonly runAs: RunAs;
}

export async function clusterExists(dataFolder: string): Promise<boolean> {
  return (await stat(join(dataFolder, 'PG_VERSION')).catch(() => undefined)) !== undefined;
}

/** Builds the cluster beside its place and moves it there whole, so a start that dies half-way leaves nothing behind. */
export async function createCluster(cluster: Cluster): Promise<void> {
  const { home, dataFolder, binaries, runAs } = cluster;
  const unfinished = `${dataFolder}.new`;
  const passwordFile = join(home, 'initdb-password');
  await rm(unfinished, { recursive: true, force: true });
  await rm(passwordFile, { force: true });
  const password = (await readPassword(home)) ?? newPassword();
  try {
    await mkdir(unfinished, { mode: 0o700 });
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
    if (runAs.owner !== undefined) {
      await chown(unfinished, runAs.owner.uid, runAs.owner.gid);
      await chown(passwordFile, runAs.owner.uid, runAs.owner.gid);
    }
    await runToEnd(runAs, binaries.initdb, [
      `--pgdata=${unfinished}`,
      `--username=${DATABASE_USER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      // The same order and case rules on every machine, whatever locales it has installed.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-sync',
      '--no-instructions',
    ]);
    await runSingleUser({ ...cluster, dataFolder: unfinished }, `CREATE DATABASE ${DATABASE_NAME}`);
    await writePassword(home, password);
    await rename(unfinished, dataFolder);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/** The kept password; when its file was lost, a new one is set, which needs no old one in single-user mode. */
export async function ensurePassword(cluster: Cluster): Promise<string> {
  const kept = await readPassword(cluster.home);
  if (kept !== undefined) return kept;
  const password = newPassword();
  await runSingleUser(cluster, `ALTER ROLE ${DATABASE_USER} PASSWORD '${password}'`);
  await writePassword(cluster.home, password);
  return password;
}

/** Hexadecimal, so it needs no quoting in SQL or in a URL. */
function newPassword(): string {
  return randomBytes(24).toString('hex');
}

function secretsFile(home: string): string {
  return join(home, 'postgres-secrets.json');
}

async function readPassword(home: string): Promise<string | undefined> {
  const content = await readFile(secretsFile(home), 'utf8').catch(() => '{}');
  try {
    const { password }: { password?: unknown } = JSON.parse(content);
    return typeof password === 'string' && /^[0-9a-f]{48}$/.test(password) ? password : undefined;
  } catch {
    return undefined;
  }
}

async function writePassword(home: string, password: string): Promise<void> {
  await writeFileAtomically(secretsFile(home), `${JSON.stringify({ password })}\n`);
}

/** The package brings neither psql nor createdb; the server itself takes statements when no client is connected. */
async function runSingleUser(cluster: Cluster, statement: string): Promise<void> {
  const output = await runToEnd(
    cluster.runAs,
    cluster.binaries.postgres,
    ['--single', '-D', cluster.dataFolder, '-c', 'exit_on_error=true', 'postgres'],
    `${statement}\n`,
  );
  if (/\b(ERROR|FATAL|PANIC):/.test(output))
    throw new Error(`PostgreSQL refused a statement: ${output.trim()}`);
}

async function runToEnd(runAs: RunAs, program: string, args: readonly string[], input = ''): Promise<string> {
  const [command = program, ...rest] = [...runAs.prefix, program, ...args];
  const child = spawn(command, rest, { cwd: '/', env: POSTGRES_ENVIRONMENT, ...runAs.spawn, detached: true });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // A program that fails early closes its input; its exit code and words tell why.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) {
    throw new Error(`${program} failed (exit code ${code}): ${(errors || output).trim()}`);
  }
  return errors;
}
