import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { endedWithTheRun } from '../../bench/frame/interruption.ts';
import { type GatewayProcess, readSandboxFile, startProcess } from '../harness/process.ts';
import { until } from '../harness/until.ts';
import { startLoadProcess } from '../soak/load-process.ts';

/**
 * A deployment as a machine has it: an api and a worker, in one process or in several, on a durable PostgreSQL, with the
 * limits that production has when nothing is said. The chains' nodes are somebody else's machine, and yield the processor.
 */
export interface DeploymentOptions {
  /** `together` as `npm start` has it; `apart` as `npm start -- api` and `npm start -- worker`. */
  readonly roles: 'together' | 'apart';
  readonly env?: Readonly<Record<string, string>>;
  /** See LoadProcess.yieldProcessor: not for a load that leaves no core idle. */
  readonly nodesOnlyIdle?: boolean;
}

export interface Deployment {
  readonly home: string;
  // biome-ignore lint/suspicious/noExplicitAny: sandbox.json, read as its users read it.
  readonly description: any;
  /** Process ids by what they do, without those of the database. */
  readonly processes: Readonly<Record<'gateway' | 'worker' | 'nodes', number | undefined>>;
  stop(): Promise<void>;
}

/** A sandbox's own limits are wide, for the tests of its users, and its log is for people; these are what production has. */
const AS_IN_PRODUCTION = {
  LOG_FORMAT: 'json',
  RATE_LIMIT_PARTNER_PER_MINUTE: '6000',
  RATE_LIMIT_PUBLIC_PER_MINUTE: '1200',
  RATE_LIMIT_WRONG_KEYS_PER_MINUTE: '30',
  PARTNER_TIME_SHARE_PCT: '20',
};

export async function startDeployment({
  roles,
  env: own = {},
  nodesOnlyIdle = false,
}: DeploymentOptions): Promise<Deployment> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-load-'));
  const nodes = startLoadProcess('./chain-nodes.ts');
  let gateway: GatewayProcess | undefined;
  let worker: GatewayProcess | undefined;
  const stop = endedWithTheRun(async () => {
    for (const process of [worker, gateway]) {
      process?.child.kill('SIGTERM');
      await process?.exited;
    }
    await nodes.stop();
    await rm(home, { recursive: true, force: true });
  });
  try {
    const env = { PORT: '0', CHAIN_RPC_URLS: await nodes.ask<string>('start'), ...AS_IN_PRODUCTION, ...own };
    gateway = startProcess({ ...env, CAUSEWAY_HOME: home }, roles === 'apart' ? ['api'] : []);
    if (roles === 'apart') worker = startProcess(await besides(home, env, gateway), ['worker']);
    await Promise.all([gateway.ready(), worker?.ready()]);
    // Not before: a start waits for them.
    nodes.yieldProcessor({ onlyIdle: nodesOnlyIdle });
    const description = await readSandboxFile(home);
    const processes = { gateway: gateway.child.pid, worker: worker?.child.pid, nodes: nodes.child.pid };
    return { home, description, processes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a second process of the same deployment is told. */
async function besides(
  home: string,
  env: Readonly<Record<string, string>>,
  first: GatewayProcess,
): Promise<Record<string, string>> {
  await until('the database', () => /Starting the API/.test(first.output()));
  const own = join(home, 'worker');
  await mkdir(own);
  await cp(join(home, SECRETS_FILE), join(own, SECRETS_FILE));
  return { ...env, CAUSEWAY_HOME: own, DATABASE_URL: await databaseUrlOf(home) };
}

/** The owner's login at a sandbox's own PostgreSQL. */
export async function databaseUrlOf(home: string): Promise<string> {
  const { password } = JSON.parse(await readFile(join(home, 'postgres-secrets.json'), 'utf8'));
  const port = (await readFile(join(home, 'postgres-port'), 'utf8')).trim();
  return `postgres://causeway:${password}@127.0.0.1:${port}/causeway`;
}

/** Of Linux, whatever the kernel's own. */
const TICKS_A_SECOND = 100;

interface ProcessRow {
  readonly parent: number;
  readonly isNode: boolean;
  readonly ticks: number;
  readonly ticksOfGone: number;
}

/** Every process of the machine; nothing where /proc does not tell. */
async function readProcesses(): Promise<Map<number, ProcessRow>> {
  const rows = new Map<number, ProcessRow>();
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue;
    const line = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const end = line.lastIndexOf(')');
    const fields = line
      .slice(end + 2)
      .split(' ')
      .map(Number);
    rows.set(Number(name), {
      parent: fields[1] ?? 0,
      isNode: /^(?:node|MainThread)$/.test(line.slice(line.indexOf('(') + 1, end)),
      ticks: sum(fields.slice(11, 13)),
      ticksOfGone: sum(fields.slice(13, 15)),
    });
  }
  return rows;
}

/** Seconds of the processor since their start: each with its own processes of the API, and under `database` the rest. */
export async function processorSeconds(
  processes: Readonly<Record<string, number | undefined>>,
): Promise<Record<string, number>> {
  const rows = await readProcesses();
  const seconds: Record<string, number> = { database: 0 };
  const below = (pid: number, name: string): void => {
    for (const [child, { parent, isNode, ticks, ticksOfGone }] of rows) {
      if (parent !== pid) continue;
      const whose = isNode ? name : 'database';
      seconds[whose] = (seconds[whose] ?? 0) + (ticks + (isNode ? 0 : ticksOfGone)) / TICKS_A_SECOND;
      below(child, whose);
    }
  };
  for (const [name, pid = 0] of Object.entries(processes)) {
    seconds[name] = (rows.get(pid)?.ticks ?? 0) / TICKS_A_SECOND;
    if (pid !== 0) below(pid, name);
  }
  return seconds;
}

/** Resident memory of a process and of its own processes of the API, MiB. */
export async function residentMib(pid: number | undefined): Promise<number> {
  if (pid === undefined) return 0;
  const children = [...(await readProcesses())].filter(([, { parent, isNode }]) => parent === pid && isNode);
  const sizes = [pid, ...children.map(([child]) => child)].map(async (one) => {
    const status = await readFile(`/proc/${one}/status`, 'utf8').catch(() => '');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024;
  });
  return sum(await Promise.all(sizes));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
