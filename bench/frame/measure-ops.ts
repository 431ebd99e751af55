import { figure, type Measurement } from './measurement.ts';
import { median, relativeSpread } from './statistics.ts';

export interface MeasureOpsOptions {
  readonly name: string;
  /** One operation; the index, counting up from 0, picks the input. What it returns keeps the work from being optimised away. */
  readonly run: (index: number) => unknown;
  /** Measured time in all, after one more round for warming up. */
  readonly seconds: number;
  readonly rounds?: number;
  /** Least operations per second. */
  readonly target?: number;
}

interface Round {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

const DEFAULT_ROUNDS = 5;
// Reading the clock between batches this long costs nothing that could be seen.
const BATCH_MS = 1;

// Every result is stored where it outlives its round, so that the compiler cannot drop the work that made it.
const keptResults: unknown[] = Array(8).fill(undefined);

/** Operations per second of a pure function on one core: the median of several rounds by the wall clock. */
export function measureOps(options: MeasureOpsOptions): Measurement {
  const { name, run, seconds, rounds = DEFAULT_ROUNDS, target } = options;
  const roundMs = (seconds * 1000) / rounds;
  runRound(run, roundMs, 1);
  const batch = calibrate(run);
  const measured = Array.from({ length: rounds }, () => runRound(run, roundMs, batch));
  const perSecond = measured.map((round) => Math.round(round.perSecond));
  return figure({
    name,
    value: median(perSecond),
    unit: 'ops/s',
    better: 'higher',
    target,
    details: {
      rounds: perSecond,
      spread: relativeSpread(perSecond),
      // Differs from the figure when other work takes the core away, or when the collector uses a second one.
      perCpuSecond: Math.round(median(measured.map((round) => round.perCpuSecond))),
    },
  });
}

function calibrate(run: (index: number) => unknown): number {
  for (let batch = 1; ; batch *= 2) {
    const began = performance.now();
    runBatch(run, 0, batch);
    if (performance.now() - began >= BATCH_MS) return batch;
  }
}

function runRound(run: (index: number) => unknown, durationMs: number, batch: number): Round {
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  let operations = 0;
  let elapsedMs = 0;
  while (elapsedMs < durationMs) {
    runBatch(run, operations, batch);
    operations += batch;
    elapsedMs = performance.now() - began;
  }
  const cpu = process.cpuUsage(cpuBefore);
  return {
    perSecond: (operations * 1000) / elapsedMs,
    perCpuSecond: (operations * 1_000_000) / (cpu.user + cpu.system),
  };
}

function runBatch(run: (index: number) => unknown, first: number, count: number): void {
  for (let index = first; index < first + count; index += 1) keptResults[index & 7] = run(index);
}
