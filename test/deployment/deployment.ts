import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { inject } from 'vitest';
import { pickPort } from '../../apps/gateway/src/local/free-port.ts';
import { type LocalPostgres, startLocalPostgres } from '../../apps/gateway/src/local/local-postgres.ts';
import { SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { connect } from '../harness/database.ts';
import { NO_ORDER_LIMITS } from '../harness/gateway.ts';
import type {} from '../harness/global-setup.ts';
import { COMPILED, readSandboxFile } from '../harness/process.ts';
import { type GatewaySlot, keepRunning } from './gateway-slot.ts';

export const CHAIN = 'base-mainnet';

/** Processes of their own around one PostgreSQL and one chain, each of which can be killed and comes back. */
export interface Deployment {
  readonly slots: readonly GatewaySlot[];
  /** One address a process with the role `api`. */
  readonly apiUrls: readonly string[];
  readonly databaseUrl: string;
  readonly chainUrl: string;
  /** As sandbox.json has it: partners, keys, chains. */
  // biome-ignore lint/suspicious/noExplicitAny: read as its users read it.
  readonly sandbox: any;
  /** As `pg_ctl stop -m immediate` does: no client is waited for, and the next start recovers. */
  stopDatabase(): Promise<void>;
  startDatabase(): Promise<void>;
  /** SIGKILL; the next start plays the journal again. */
  stopChain(): Promise<void>;
  startChain(): Promise<void>;
  /** SIGTERM to the gateway's processes; how each of them ended. */
  stop(): Promise<readonly (number | string)[]>;
}

export interface DeploymentOptions {
  readonly apis: number;
  readonly workers: number;
}

/** Neither limits nor a power cut are what is looked at here. */
const ENVIRONMENT = {
  ...NO_ORDER_LIMITS,
  RATE_LIMIT_PARTNER_PER_MINUTE: '10000000',
  RATE_LIMIT_PUBLIC_PER_MINUTE: '10000000',
  DATABASE_POOL_SIZE: '5',
  METRICS_PORT: 'off',
  LOG_LEVEL: 'warn',
  LOG_FORMAT: 'json',
};

export async function startDeployment({ apis, workers }: DeploymentOptions): Promise<Deployment> {
  const { templateHome } = inject('ground');
  const home = await mkdtemp(join(tmpdir(), 'causeway-deployment-'));
  // Without the port of the template, which others take while this chain is away.
  await cp(join(templateHome, 'chains'), join(home, 'chains'), {
    recursive: true,
    filter: (path) => basename(path) !== 'port',
  });
  const slots: GatewaySlot[] = [];
  let postgres: LocalPostgres | undefined;
  let chain: ChainProcess | undefined;

  const startDatabase = async (): Promise<LocalPostgres> => {
    postgres = await startLocalPostgres({
      home,
      onProgress: () => {},
      onNotice: () => {},
      settings: { fsync: 'off', max_connections: '200' },
    });
    return postgres;
  };
  const startChain = async (): Promise<ChainProcess> => {
    chain = await startChainProcess(home);
    return chain;
  };
  const stop = async () => {
    const ends = await Promise.all(slots.map((slot) => slot.stop()));
    await chain?.kill();
    await postgres?.stop();
    await rm(home, { recursive: true, force: true });
    return ends;
  };

  try {
    const [{ databaseUrl }, { address }] = await Promise.all([startDatabase(), startChain()]);
    const chainUrl = address.slice(CHAIN.length + 1);
    const apiUrls: string[] = [];

    const open = async (role: GatewaySlot['role'], index: number): Promise<GatewaySlot> => {
      const name = `${role} ${index + 1}`;
      const own = join(home, `${role}-${index + 1}`);
      await mkdir(own);
      await cp(join(templateHome, SECRETS_FILE), join(own, SECRETS_FILE));
      const port = await pickPort(undefined);
      if (role === 'api') apiUrls.push(`http://127.0.0.1:${port}`);
      const env = {
        ...ENVIRONMENT,
        CAUSEWAY_HOME: own,
        DATABASE_URL: databaseUrl,
        CHAIN_RPC_URLS: address,
        PORT: String(port),
      };
      const slot = keepRunning(name, role, env);
      slots.push(slot);
      return slot;
    };
    // The first one migrates and seeds the database; the others find it so.
    await (await open('api', 0)).ready();
    const others = [
      ...Array.from({ length: apis - 1 }, (_, index) => open('api', index + 1)),
      ...Array.from({ length: workers }, (_, index) => open('worker', index)),
    ];
    await Promise.all((await Promise.all(others)).map((slot) => slot.ready()));
    // Opened at once: without an order of their own, a seed would kill others in the next run.
    slots.sort((left, right) => left.name.localeCompare(right.name));
    await fillOffers(databaseUrl);
    return {
      slots,
      apiUrls,
      databaseUrl,
      chainUrl,
      sandbox: await readSandboxFile(join(home, 'api-1')),
      async stopDatabase() {
        process.kill(postgres!.pid, 'SIGQUIT');
        await postgres!.exited;
      },
      async startDatabase() {
        await startDatabase();
      },
      stopChain: () => chain!.kill(),
      async startChain() {
        await startChain();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface ChainProcess {
  /** As CHAIN_RPC_URLS has it. */
  readonly address: string;
  kill(): Promise<void>;
}

async function startChainProcess(home: string): Promise<ChainProcess> {
  const script = new URL('./chain-process.ts', import.meta.url).pathname;
  const child: ChildProcess = spawn(process.execPath, [script, home, CHAIN], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
  const exited = once(child, 'exit');
  const [printed] = await Promise.race([
    once(child.stdout as NonNullable<typeof child.stdout>, 'data'),
    exited.then(([code]) => Promise.reject(new Error(`the chain ended with ${code}`))),
  ]);
  return {
    address: String(printed).trim(),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** No order shall end because the vendors have nothing left to trade. */
async function fillOffers(databaseUrl: string): Promise<void> {
  const owner = await connect(databaseUrl);
  await owner.query('UPDATE offers SET available_balance = 1000000000');
  await owner.end();
}
