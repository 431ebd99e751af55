import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { endedWithTheRun } from '../../bench/frame/interruption.ts';
import { NO_LIMITS } from '../../bench/gateway.ts';
import { npmStartOf } from '../harness/process.ts';
import { until } from '../harness/until.ts';
import { startLoadProcess } from '../soak/load-process.ts';
import { databaseUrlOf, processorSeconds } from './deployment.ts';
import type { LoadResult, LoadRound } from './partner-requests.ts';
import type { PreparedLoad } from './prepare-partners.ts';

/** Milliseconds of the processor in a while. */
export interface ProcessorUse {
  readonly database: number;
  readonly gateway: number;
}

export interface MeasuredOrders {
  readonly orders: number;
  readonly busy: ProcessorUse;
  /** In as long a while without requests. */
  readonly idle: ProcessorUse;
}

export interface OrderRound {
  readonly seconds: number;
  readonly ordersASecond: number;
  readonly seed: number;
  /** How long what orders have left behind is given to be done. */
  readonly settleMs: number;
}

/** The sandbox of some checkout of this repository, of this version or of another, and its partners. */
export interface RunningCheckout {
  measure(round: OrderRound): Promise<MeasuredOrders>;
  stop(): Promise<void>;
}

const PARTNERS = 20;
const START_MS = 90_000;

export async function startCheckout(folder: string): Promise<RunningCheckout> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-order-cost-'));
  const program = startProgram(folder, home);
  const generator = startLoadProcess('../load/load-generator.ts');
  const stop = endedWithTheRun(async () => {
    await generator.stop();
    if (program.exitCode === null) {
      program.kill('SIGTERM');
      await once(program, 'exit');
    }
    await rm(home, { recursive: true, force: true });
  });
  try {
    const description = await describedBy(folder, home, program);
    const { base_url: baseUrl, operator_key: operatorKey } = description;
    await deepenOffers(home);
    await generator.ask('prepare', { baseUrl, operatorKey, partners: PARTNERS } satisfies PreparedLoad);
    const usedIn = async (ms: number, work: () => Promise<unknown>): Promise<ProcessorUse> => {
      const before = await processorSeconds({ gateway: program.pid });
      await Promise.all([work(), sleep(ms)]);
      const after = await processorSeconds({ gateway: program.pid });
      const used = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
      return { database: used('database') * 1_000, gateway: used('gateway') * 1_000 };
    };
    return {
      async measure({ seconds, ordersASecond, seed, settleMs }) {
        const ms = seconds * 1_000 + settleMs;
        await sleep(settleMs);
        const idle = await usedIn(ms, async () => undefined);
        let orders = 0;
        const busy = await usedIn(ms, async () => {
          orders = await openOrders(generator, { seconds, seed, aSecond: ordersASecond * 2 });
        });
        return { orders, busy, idle };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openOrders(
  generator: ReturnType<typeof startLoadProcess>,
  rate: Omit<LoadRound, 'mix'>,
): Promise<number> {
  const round: LoadRound = { ...rate, mix: ['quote', 'initiate'] };
  const { answers } = await generator.ask<LoadResult>('round', round);
  const { 'quote 200': quotes, 'initiate 200': orders = 0, ...others } = answers;
  if (orders === 0 || Object.keys(others).length > 0) {
    throw new Error(`not every request was answered 200: ${JSON.stringify({ quotes, orders, ...others })}`);
  }
  return orders;
}

/** As its own `npm start` has it, without npm, whose process would be in between. */
function startProgram(folder: string, home: string): ChildProcess {
  const { env, flags } = npmStartOf(folder);
  return spawn(process.execPath, [...flags, 'apps/gateway/src/main.ts'], {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH ?? '', CAUSEWAY_HOME: home, PORT: '0', METRICS_PORT: '0' },
      ...{ ...NO_LIMITS, TRUSTED_PROXIES: '127.0.0.1', LOG_FORMAT: 'json' },
      ...env,
    },
    stdio: 'ignore',
  });
}

// biome-ignore lint/suspicious/noExplicitAny: sandbox.json, read as its users read it.
async function describedBy(folder: string, home: string, program: ChildProcess): Promise<any> {
  const read = async () => {
    if (program.exitCode !== null) throw new Error(`npm start in ${folder} ended with ${program.exitCode}`);
    return readFile(join(home, 'sandbox.json'), 'utf8').catch(() => undefined);
  };
  return JSON.parse(await until('the sandbox to stand', read, START_MS));
}

/** No order is refused for want of a vendor. */
async function deepenOffers(home: string): Promise<void> {
  const client = new pg.Client(await databaseUrlOf(home));
  await client.connect();
  await client.query('UPDATE offers SET available_balance = 1000000000');
  await client.end();
}
