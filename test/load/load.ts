import { type EvidenceInput, reportEvidence } from '../../bench/frame/evidence.ts';
import { figure, type Measurement } from '../../bench/frame/measurement.ts';
import { median } from '../../bench/frame/statistics.ts';
import { playUndisturbed } from '../../bench/frame/undisturbed.ts';
import { p99ByKind, slopeOf } from './judge-load.ts';
import { type LoadRun, type MeasuredLoad, processorMs, withLoad } from './load-run.ts';

/**
 * `npm run load [-- phase …] [seed=N] [soak=seconds] [partners=N]`: finds the peak, then the phases that are named, or all:
 *   half      p99 by kind of request at half of the peak, the median of several rounds
 *   overload  three times the peak: what is still answered in time, and how the rest is refused
 *   cost      what one order costs each process and the database
 *   soak      memory over ten minutes at half of the peak
 *   scaling   the peak with two processes of the API
 * Exits with 1 where a target is missed. A run of all phases is recorded.
 */
const PHASES = ['half', 'overload', 'cost', 'soak', 'scaling'] as const;
type Phase = (typeof PHASES)[number];

const args = process.argv.slice(2);
const setting = (name: string, fallback: number) =>
  Number(args.find((arg) => arg.startsWith(`${name}=`))?.split('=')[1] ?? fallback);
const named = args.filter((arg) => !arg.includes('=')) as Phase[];
const phases: readonly Phase[] = named.length === 0 ? PHASES : named;
const seed = setting('seed', Math.floor(Math.random() * 2 ** 31));
const soakSeconds = setting('soak', 600);
const partners = setting('partners', 40);
const SECONDS = 30;
const ROUNDS = 7;
const OVERLOADS = 3;
const SECONDS_A_ROUND = 10;
const P99_TARGETS: Readonly<Record<string, number>> = { quote: 25, read: 10, discovery: 5 };

const say = (text: string) => console.log(text);
const lower = (name: string, value: number, unit: string, target?: number, details = {}) =>
  figure({ name, value, unit, better: 'lower', target, details });

/** The median of the calmest of several rounds: in the others the machine did something else as well. */
async function atHalf(run: LoadRun, peak: number): Promise<Measurement[]> {
  const all: MeasuredLoad[] = [];
  const played = await playUndisturbed({ wanted: ROUNDS, costOf: processorMs }, async () => {
    const round = await run.play({ seconds: SECONDS_A_ROUND, aSecond: peak / 2 });
    all.push(round);
    return round;
  });
  const rounds = played.map(({ round }) => round);
  const middle = (of: (round: MeasuredLoad) => number) => {
    const values = rounds.map(of);
    return { value: median(values), details: { rounds: values } };
  };
  const kinds = Object.keys(p99ByKind((rounds[0] as MeasuredLoad).result));
  return [
    ...kinds.map((kind) => {
      const p99 = ({ result }: MeasuredLoad) => p99ByKind(result)[kind] ?? Number.NaN;
      const { value, details } = middle(p99);
      const withDisturbed = { ...details, ofAllPlayed: median(all.map(p99)) };
      return lower(`p99 at half of the peak: ${kind}`, value, 'ms', P99_TARGETS[kind], withDisturbed);
    }),
    ...[middle(({ summary }) => summary.refused + summary.broken)].map(({ value, details }) =>
      lower('not answered 200 at half of the peak', value, 'requests', 0, details),
    ),
    lower(
      'taken by the host in these rounds',
      median(played.map(({ stolen }) => stolen * 100)),
      '% of the processors',
    ),
    lower(`rounds played for the calmest ${ROUNDS}`, all.length, 'rounds'),
  ];
}

async function atThreeTimes(run: LoadRun, peak: number): Promise<Measurement[]> {
  const played = await playUndisturbed({ wanted: OVERLOADS }, () =>
    run.play({ seconds: SECONDS, aSecond: peak * 3 }),
  );
  const rounds = played.map(({ round }) => round);
  const shares = rounds.map(({ summary }) => summary.goodput / peak);
  const all = (of: (round: MeasuredLoad) => number) => rounds.reduce((sum, round) => sum + of(round), 0);
  return [
    figure({
      ...{ name: 'goodput at three times the peak', value: median(shares), unit: 'of the peak' },
      ...{ better: 'higher', target: 0.8 },
      details: { rounds: shares, ...rounds.at(-1)?.summary.statuses },
    }),
    lower(
      '5xx but 503, or no answer, at three times the peak',
      all(({ summary }) => summary.broken),
      'requests',
      0,
    ),
    lower(
      'refusals without Retry-After',
      all(({ result }) => result.withoutRetryAfter),
      'requests',
      0,
    ),
  ];
}

/** Orders alone, each quoted, opened and cancelled: three requests. */
async function costOfAnOrder(run: LoadRun, peak: number): Promise<Measurement[]> {
  const before = await run.databaseBytes();
  const played = await run.play({
    ...{ seconds: SECONDS, aSecond: peak / 4 },
    mix: ['quote', 'initiate', 'cancel'],
  });
  const after = await run.databaseBytes();
  const orders = (played.summary.offered * SECONDS) / 3;
  return [
    ...Object.entries(played.cpuMsARequest)
      .filter(([name]) => name === 'gateway' || name === 'database')
      .map(([name, ms]) =>
        lower(`processor for an order: ${name === 'gateway' ? 'API and worker' : name}`, ms * 3, 'ms'),
      ),
    lower('write-ahead log for an order', (after.wal - before.wal) / orders / 1_024, 'KiB'),
    lower('tables and indexes for an order', (after.tables - before.tables) / orders / 1_024, 'KiB'),
  ];
}

async function soak(run: LoadRun, peak: number): Promise<Measurement[]> {
  const { memory } = await run.play({ seconds: soakSeconds, aSecond: peak / 2 });
  // The first fifth is growth to size: code is compiled, caches fill.
  const settled = memory.slice(Math.floor(memory.length / 5));
  return [
    lower('API and worker under load, at most', Math.max(...memory), 'MiB', 300),
    lower('growth over ten minutes', slopeOf(settled) * 600, 'MiB', 15, { minutes: soakSeconds / 60 }),
  ];
}

function peakWith(apiProcesses: number): Promise<number> {
  return withLoad({ seed, partners, apiProcesses, say }, (run) => run.findPeak());
}

const WORK: Readonly<
  Record<Exclude<Phase, 'scaling'>, (run: LoadRun, peak: number) => Promise<Measurement[]>>
> = { half: atHalf, overload: atThreeTimes, cost: costOfAnOrder, soak };

console.log(`seed ${seed}, ${partners} partners`);
const figures = await withLoad({ seed, partners, apiProcesses: 1, say }, async (run) => {
  const peak = await run.findPeak();
  const all = [
    figure({ name: 'peak, one process', value: peak, unit: 'requests/s', better: 'higher' as const }),
  ];
  for (const phase of phases) if (phase !== 'scaling') all.push(...(await WORK[phase](run, peak)));
  return all;
});
if (phases.includes('scaling')) {
  const [one, two] = [figures[0]?.value ?? Number.NaN, await peakWith(2)];
  figures.push(
    figure({ name: 'peak, API_PROCESSES=2', value: two, unit: 'requests/s', better: 'higher' }),
    figure({ name: 'two processes against one', value: two / one, unit: 'times', better: 'higher' }),
  );
}
const evidence: EvidenceInput = { run: 'load', command: 'npm run load', seed, figures };
const met = reportEvidence(evidence, { record: named.length === 0 });
process.exit(met ? 0 : 1);
