import { describe, expect, it } from 'vitest';
import { reportEvidence } from '../../bench/frame/evidence.ts';
import { figure, type Measurement } from '../../bench/frame/measurement.ts';
import { median, percentile } from '../../bench/frame/statistics.ts';
import { type CrashResult, type Resumption, runCrashes } from '../deployment/crash-run.ts';

/** `npm run crash [-- kills [database stops [chain stops [seed]]]]` makes many more, of a larger deployment. */
const {
  CRASH_KILLS,
  CRASH_DATABASE_STOPS = '1',
  CRASH_CHAIN_STOPS = '1',
  CRASH_SEED = String(Math.floor(Math.random() * 2 ** 31)),
} = process.env;
const IS_LONG = CRASH_KILLS !== undefined;
const RUN = {
  kills: Number(CRASH_KILLS ?? 1),
  databaseStops: Number(CRASH_DATABASE_STOPS),
  chainStops: Number(CRASH_CHAIN_STOPS),
  seed: Number(CRASH_SEED),
  ...(IS_LONG ? { apis: 2, workers: 2, lanes: 6 } : { apis: 1, workers: 1, lanes: 5 }),
};
const START_MS = 240_000;
const A_FAULT_MS = 60_000;
/** What the runs on a quiet machine are held to; beside other tests a process alone takes longer to start. */
const RESUMED_WITHIN_MS = 5_000;

describe('processes, the database and the chain that die at any moment', () => {
  it(`lose nothing that was acknowledged, do nothing twice, and work goes on (CRASH_SEED=${CRASH_SEED})`, {
    timeout: START_MS + (RUN.kills + RUN.databaseStops + RUN.chainStops) * A_FAULT_MS,
  }, async () => {
    const say = (text: string) => IS_LONG && process.stdout.write(`${text}\n`);
    const result = await runCrashes({ ...RUN, say });
    const isMet = IS_LONG ? record(result) : true;
    for (const [what, found] of Object.entries(result.differences)) expect(found, what).toEqual([]);
    expect(new Set(result.ends)).toEqual(new Set([0]));
    expect(isMet).toBe(true);
    // The load must have met the faults, or this proves nothing: a request was not answered, or told to come again.
    expect(result.journal.lost + result.journal.refused).toBeGreaterThan(0);
    expect(Object.values(result.orders).length).toBeGreaterThan(0);
  });
});

/** Whether every target was met. */
function record(result: CrashResult): boolean {
  const { kills, databaseStops, chainStops, seed } = RUN;
  const command = `npm run crash -- ${kills} ${databaseStops} ${chainStops} ${seed}`;
  return reportEvidence({ run: 'crash', command, seed, figures: figuresOf(result) }, { record: true });
}

function figuresOf({ differences, resumptions, journal, ...result }: CrashResult): Measurement[] {
  const count = (name: string, value: number, details = {}) =>
    figure({ name, value, unit: 'count', better: 'higher', details });
  const longest = Math.max(...journal.acknowledged.map(({ sentAt, answeredAt }) => answeredAt - sentAt));
  return [
    count('processes killed', RUN.kills),
    count('immediate stops of PostgreSQL', RUN.databaseStops),
    count('kills of the chain’s process', RUN.chainStops),
    count('acknowledged writes', journal.acknowledged.length, {
      attempts_without_answer: journal.lost,
      told_to_come_again: journal.refused,
    }),
    count(
      'orders',
      Object.values(result.orders).reduce((sum, one) => sum + one, 0),
      result.orders,
    ),
    count('deposits at the bank', result.deposits),
    count('webhook events', result.events, { received_more_than_once: result.repeatedEvents }),
    ...Object.entries(differences).map(([name, found]) =>
      figure({ name, value: found.length, unit: 'count', better: 'lower', target: 0 }),
    ),
    ...(['kill', 'role', 'database', 'chain'] as const).flatMap((kind) => timesOf(kind, resumptions)),
    figure({ name: 'longest wait for the answer to one write', value: longest, unit: 'ms', better: 'lower' }),
  ];
}

const AFTER = {
  kill: 'a kill',
  role: 'a kill of both APIs or both workers',
  database: 'a stop of PostgreSQL',
  chain: 'a stop of the chain',
} as const;

function timesOf(kind: Resumption['kind'], all: readonly Resumption[]): Measurement[] {
  const some = all.filter((one) => one.kind === kind);
  if (some.length === 0) return [];
  const time = (what: keyof Omit<Resumption, 'kind'>, name: string, target?: number) => {
    const values = some.map((one) => one[what]);
    const common = { unit: 'ms', better: 'lower' } as const;
    return [
      figure({ ...common, name: `${name} after ${AFTER[kind]}, p50`, value: median(values) }),
      figure({
        ...common,
        name: `${name} after ${AFTER[kind]}, longest`,
        value: Math.max(...values),
        target,
        details: { p95: percentile(values, 0.95), values },
      }),
    ];
  };
  return [
    ...time('answered', 'first request answered', RESUMED_WITHIN_MS),
    ...time('settled', kind === 'chain' ? 'first transaction' : 'first effect or webhook', RESUMED_WITHIN_MS),
    ...time('standing', 'started again'),
  ];
}
