import { setTimeout as sleep } from 'node:timers/promises';
import { type EvidenceInput, reportEvidence } from '../../bench/frame/evidence.ts';
import { endOnInterruption } from '../../bench/frame/interruption.ts';
import { figure, type Measurement } from '../../bench/frame/measurement.ts';
import { median } from '../../bench/frame/statistics.ts';
import { playUndisturbed } from '../../bench/frame/undisturbed.ts';
import { isFollowed, p99ByKind, slopeOf } from './judge-load.ts';
import { type LoadRun, type MeasuredLoad, MOVES_A_PEAK, withLoad } from './load-run.ts';

/**
 * `npm run load [-- phase …] [seed=N] [soak=seconds] [partners=N] [tries=N] [scheduling=normal]`: finds the peak, then the phases that are named, or all:
 *   turns     the peak again, half of it for the p99 by kind of request, beside that of a bare Fastify in the same seconds,
 *             three times it for what is still answered in time and how the rest is refused; by turns, the medians
 *   cost      what one order costs each process and the database
 *   soak      memory over ten minutes at half of the peak
 *   scaling   the peak with one and with two processes of the API, which leave nothing to go ahead of
 * The API goes ahead of the database (API_SCHEDULING=realtime), and the clients of both, unless `scheduling=normal` is given.
 * Steps and turns are played up to `tries` times as often, where others on the host disturb them.
 * Exits with 1 where a target is missed. A run of all phases is recorded.
 */
const PHASES = ['turns', 'cost', 'soak', 'scaling'] as const;
type Phase = (typeof PHASES)[number];

const args = process.argv.slice(2);
const setting = (name: string, fallback: number) =>
  Number(args.find((arg) => arg.startsWith(`${name}=`))?.split('=')[1] ?? fallback);
const named = args.filter((arg) => !arg.includes('=')) as Phase[];
const phases: readonly Phase[] = named.length === 0 ? PHASES : named;
const seed = setting('seed', Math.floor(Math.random() * 2 ** 31));
const soakSeconds = setting('soak', 600);
const partners = setting('partners', 40);
const tries = setting('tries', 3);
const scheduling = args.includes('scheduling=normal') ? 'normal' : 'realtime';
const SECONDS = 30;
const TURNS = 7;
const SECONDS_A_ROUND = 10;
/** Of a rate that is not followed, the next one that is tried. */
const LOWER = 0.85;
/** What the load before has left to the worker is done by then. */
const SETTLED_MS = 3_000;
const P99_TARGETS: Readonly<Record<string, number>> = { quote: 25, read: 10, discovery: 5 };

const say = (text: string) => console.log(text);
const lower = (name: string, value: number, unit: string, target?: number, details = {}) =>
  figure({ name, value, unit, better: 'lower', target, details });

/** What a machine carries changes from minute to minute where others share it, so each turn is held against its own peak. */
interface Turn {
  /** The highest rate, from the peak downwards, that was followed in this turn, in requests a second. */
  readonly peak: number;
  readonly atHalf: MeasuredLoad;
  readonly atThreeTimes: MeasuredLoad;
}

async function playTurn(run: LoadRun, rate: number): Promise<Turn> {
  const play = async (aSecond: number, withBare = false) => {
    const played = await run.play({ seconds: SECONDS_A_ROUND, aSecond, withBare });
    await sleep(SETTLED_MS);
    return played;
  };
  // What is answered in time at a rate that is too high for the moment is less than could be: half of it says little.
  let peak = rate;
  while (!isFollowed((await play(peak)).summary)) peak *= LOWER;
  return { peak, atHalf: await play(peak / 2, true), atThreeTimes: await play(peak * 3) };
}

/** The medians of the calmest turns, in which requests cost least: in the others the machine did something else as well. */
async function byTurns(run: LoadRun, rate: number): Promise<{ peak: number; figures: Measurement[] }> {
  const all: Turn[] = [];
  const costOf = ({ atHalf }: Turn) => Object.values(atHalf.cpuMsARequest).reduce((sum, ms) => sum + ms, 0);
  const wanted = { wanted: TURNS, atMost: tries, disturbed: MOVES_A_PEAK, costOf };
  const played = await playUndisturbed(wanted, async () => {
    const turn = await playTurn(run, rate);
    all.push(turn);
    return turn;
  });
  const turns = played.map(({ round }) => round);
  const middle = (of: (turn: Turn) => number) => ({
    value: median(turns.map(of)),
    details: { turns: turns.map(of), ofAllPlayed: median(all.map(of)) },
  });
  const total = (of: (turn: Turn) => number) => all.reduce((sum, turn) => sum + of(turn), 0);
  const kinds = Object.keys(p99ByKind((turns[0] as Turn).atHalf.result));
  const p99Of = ({ atHalf }: Turn, kind: string) => p99ByKind(atHalf.result)[kind] ?? Number.NaN;
  const bareP99Of = ({ atHalf }: Turn) => atHalf.bareP99 ?? Number.NaN;
  const peak = middle((turn) => turn.peak);
  const figures = [
    figure({ name: 'peak in these turns', ...peak, unit: 'requests/s', better: 'higher' as const }),
    ...kinds.map((kind) => {
      const { value, details } = middle((turn) => p99Of(turn, kind));
      return lower(`p99 at half of the peak: ${kind}`, value, 'ms', P99_TARGETS[kind], details);
    }),
    ...[middle(bareP99Of)].map(({ value, details }) =>
      lower('the same seconds: p99 of a bare Fastify that does nothing', value, 'ms', undefined, details),
    ),
    ...Object.entries(P99_TARGETS).map(([kind, target]) => {
      const { value, details } = middle((turn) => p99Of(turn, kind) - bareP99Of(turn));
      return lower(`p99 at half of the peak: ${kind}, above the bare one`, value, 'ms', target, details);
    }),
    ...[middle(({ atHalf: { summary } }) => summary.refused + summary.broken)].map(({ value, details }) =>
      lower('not answered 200 at half of the peak', value, 'requests', 0, details),
    ),
    figure({
      ...{ name: 'goodput at three times the peak', unit: 'of the peak', better: 'higher', target: 0.8 },
      ...middle((turn) => turn.atThreeTimes.summary.goodput / turn.peak),
    }),
    lower(
      '5xx but 503, or no answer, at three times the peak',
      total(({ atThreeTimes }) => atThreeTimes.summary.broken),
      'requests',
      0,
    ),
    lower(
      'refusals without Retry-After',
      total(({ atThreeTimes }) => atThreeTimes.result.withoutRetryAfter),
      'requests',
      0,
    ),
    lower(`turns played for the calmest ${TURNS}`, all.length, 'turns'),
  ];
  return { peak: peak.value, figures };
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
  return withLoad({ seed, partners, tries, apiProcesses, scheduling: 'normal', say }, (run) =>
    run.findPeak(),
  );
}

const WORK: Readonly<Record<'cost' | 'soak', (run: LoadRun, peak: number) => Promise<Measurement[]>>> = {
  cost: costOfAnOrder,
  soak,
};

endOnInterruption();
console.log(`seed ${seed}, ${partners} partners`);
const figures = await withLoad({ seed, partners, tries, apiProcesses: 1, scheduling, say }, async (run) => {
  let peak = await run.findPeak();
  const all = [
    figure({ name: 'peak, one process', value: peak, unit: 'requests/s', better: 'higher' as const }),
  ];
  if (phases.includes('turns')) {
    const turns = await byTurns(run, peak);
    all.push(...turns.figures);
    peak = turns.peak;
  }
  for (const phase of ['cost', 'soak'] as const) {
    if (phases.includes(phase)) all.push(...(await WORK[phase](run, peak)));
  }
  return all;
});
if (phases.includes('scaling')) {
  const [one, two] = [await peakWith(1), await peakWith(2)];
  figures.push(
    figure({
      name: 'peak, one process, API_SCHEDULING=normal',
      value: one,
      unit: 'requests/s',
      better: 'higher',
    }),
    figure({
      name: 'peak, API_PROCESSES=2, API_SCHEDULING=normal',
      value: two,
      unit: 'requests/s',
      better: 'higher',
    }),
    figure({ name: 'two processes against one', value: two / one, unit: 'times', better: 'higher' }),
  );
}
const evidence: EvidenceInput = { run: 'load', command: 'npm run load', seed, figures };
const met = reportEvidence(evidence, { record: named.length === 0 });
process.exit(met ? 0 : 1);
