import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { takePrecedence } from '../../apps/gateway/src/lib/scheduling.ts';
import { startServerProcess } from '../../bench/frame/server-process.ts';
import { type PlayedRound, playUndisturbed } from '../../bench/frame/undisturbed.ts';
import { type LoadProcess, startLoadProcess } from '../soak/load-process.ts';
import type { ControlRound } from './bare-control.ts';
import {
  type Deployment,
  databaseUrlOf,
  processorSeconds,
  residentMib,
  startDeployment,
} from './deployment.ts';
import { findPeak, isFollowed, type LoadSummary, p99ByKind, summarise } from './judge-load.ts';
import { type LoadResult, type LoadRound, type RequestKind, USUAL_MIX } from './partner-requests.ts';
import type { PreparedLoad } from './prepare-partners.ts';

/** A deployment under load, with what its parts used for it. */
export interface MeasuredLoad {
  readonly result: LoadResult;
  readonly summary: LoadSummary;
  /** Milliseconds of the processor for each request, by process. */
  readonly cpuMsARequest: Readonly<Record<string, number>>;
  /** MiB of the API and the worker, every second. */
  readonly memory: readonly number[];
  /** Of a bare Fastify in the same seconds, in milliseconds; undefined where none was asked for. */
  readonly bareP99: number | undefined;
}

export interface PlayedLoad {
  readonly seconds: number;
  readonly aSecond: number;
  readonly mix?: readonly RequestKind[];
  /** Whether a bare Fastify is measured beside it (bare-control.ts). */
  readonly withBare?: boolean;
}

export interface LoadRun {
  play(round: PlayedLoad): Promise<MeasuredLoad>;
  findPeak(): Promise<number>;
  /** Bytes of the write-ahead log, and of all tables with their indexes. */
  databaseBytes(): Promise<{ wal: number; tables: number }>;
}

export interface LoadRunOptions {
  readonly seed: number;
  readonly partners: number;
  readonly apiProcesses: number;
  /** As API_SCHEDULING has it. */
  readonly scheduling: 'normal' | 'realtime';
  /** How often a step of the search for the peak is played at most, until the host leaves the machine alone. */
  readonly tries: number;
  readonly say: (text: string) => void;
}

const FIRST_RATE = 60;
const WARM_UP = { seconds: 15, aSecond: 60 };
const SECONDS_A_STEP = 8;
/** Less of the processors' time taken by the host does not decide whether a rate is followed. */
export const MOVES_A_PEAK = 0.02;

export async function withLoad<T>(options: LoadRunOptions, use: (run: LoadRun) => Promise<T>): Promise<T> {
  const { partners, apiProcesses, scheduling, say } = options;
  let deployment: Deployment | undefined;
  const generator = startLoadProcess('../load/load-generator.ts');
  const control = startLoadProcess('../load/bare-control.ts');
  const bare = await startServerProcess({ script: new URL('../../bench/servers/bare.ts', import.meta.url) });
  const measureBare = (seconds: number) =>
    control.ask<number>('round', { url: bare.url, seconds, seed: options.seed } satisfies ControlRound);
  try {
    // Clients are other machines, and wait for no core of this one; the bare server has what the deployment has.
    goAhead([generator.child.pid, control.child.pid, ...(scheduling === 'realtime' ? [bare.pid] : [])], say);
    // Every partner calls from an address of its own, as a proxy tells it: the limits are those of production.
    const env = {
      TRUSTED_PROXIES: '127.0.0.1',
      API_PROCESSES: String(apiProcesses),
      API_SCHEDULING: scheduling,
    };
    deployment = await startDeployment({ roles: 'together', env });
    const { base_url: baseUrl, operator_key: operatorKey } = deployment.description;
    await generator.ask('prepare', { baseUrl, operatorKey, partners } satisfies PreparedLoad);
    await turnLogOver(deployment.home);
    const run = createRun(deployment, generator, measureBare, options);
    await run.play(WARM_UP);
    return await use(run);
  } finally {
    await generator.stop();
    await control.stop();
    await bare.stop();
    await deployment?.stop();
  }
}

const LOG_FILES = 50;

/**
 * A database that has run for a day uses the files of its log again. A new one makes each when it is needed: 16 MB of zeros,
 * under the lock of the log, while every commit waits.
 */
async function turnLogOver(home: string): Promise<void> {
  const client = new pg.Client(await databaseUrlOf(home));
  await client.connect();
  await client.query("ALTER SYSTEM SET min_wal_size = '1GB'");
  await client.query('SELECT pg_reload_conf()');
  for (let file = 0; file < LOG_FILES; file++) {
    // A file that nothing was written to is not left.
    await client.query("SELECT pg_logical_emit_message(true, 'load', '')");
    await client.query('SELECT pg_switch_wal()');
  }
  await client.query('CHECKPOINT');
  await client.end();
}

function goAhead(pids: readonly (number | undefined)[], say: LoadRunOptions['say']): void {
  try {
    for (const pid of pids) takePrecedence(pid);
  } catch (error) {
    say(`clients wait for a core like every process: ${(error as Error).message}`);
  }
}

function createRun(
  { home, processes }: Deployment,
  generator: LoadProcess,
  measureBare: (seconds: number) => Promise<number>,
  { seed, tries, say }: LoadRunOptions,
): LoadRun {
  let rounds = 0;

  async function play({ mix = USUAL_MIX, withBare = false, ...rate }: PlayedLoad): Promise<MeasuredLoad> {
    const before = await processorSeconds(processes);
    const sampling = sampleMemory(processes);
    const round: LoadRound = { ...rate, mix, seed: seed + rounds++ };
    const [result, bareP99] = await Promise.all([
      generator.ask<LoadResult>('round', round),
      withBare ? measureBare(rate.seconds) : undefined,
    ]);
    const memory = await sampling.stop();
    const after = await processorSeconds(processes);
    const summary = summarise(result, rate.seconds);
    const requests = summary.offered * rate.seconds;
    const cpuMsARequest = Object.fromEntries(
      Object.entries(after).map(([name, used]) => [name, ((used - (before[name] ?? 0)) * 1_000) / requests]),
    );
    const cpuMs = Object.values(cpuMsARequest).reduce((sum, ms) => sum + ms, 0);
    const p99s = Object.entries(p99ByKind(result)).map(([kind, ms]) => `${kind} ${ms.toFixed(0)}`);
    if (bareP99 !== undefined) p99s.push(`a bare Fastify ${bareP99.toFixed(0)}`);
    say(
      `${rate.aSecond.toFixed(0)}/s for ${rate.seconds} s: ${summary.goodput.toFixed(0)}/s in time, ${JSON.stringify(summary.statuses)}, ${Math.max(...memory).toFixed(0)} MiB, ${cpuMs.toFixed(2)} ms of processor a request, p99 in ms: ${p99s.join(', ')}`,
    );
    return { result, summary, cpuMsARequest, memory, bareP99 };
  }

  return {
    play,
    findPeak: () =>
      findPeak(FIRST_RATE, async (aSecond) => {
        const step = () => play({ seconds: SECONDS_A_STEP, aSecond });
        const first = await step();
        // A rate that is followed although others disturb it would be without them.
        if (isFollowed(first.summary)) return first.summary;
        const again = { wanted: 1, atMost: tries, disturbed: MOVES_A_PEAK };
        const [played] = await playUndisturbed(again, step);
        return (played as PlayedRound<MeasuredLoad>).round.summary;
      }),
    async databaseBytes() {
      const client = new pg.Client(await databaseUrlOf(home));
      await client.connect();
      const { rows } = await client.query(
        `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal,
                (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
                  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace)::float8 AS tables`,
      );
      await client.end();
      return rows[0];
    },
  };
}

const SAMPLE_MS = 1_000;

function sampleMemory({ gateway, worker }: Deployment['processes']) {
  const samples: number[] = [];
  const stopped = new AbortController();
  const sampling = (async () => {
    while (!stopped.signal.aborted) {
      samples.push((await residentMib(gateway)) + (await residentMib(worker)));
      await sleep(SAMPLE_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop(): Promise<number[]> {
      stopped.abort();
      await sampling;
      return samples;
    },
  };
}
