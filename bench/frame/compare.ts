import { generateLoad, type LoadResult } from './load.ts';
import { type Better, figure, type Measurement } from './measurement.ts';
import type { RunningServer } from './server-process.ts';
import { median, relativeSpread } from './statistics.ts';

export interface CompareFiguresOptions {
  readonly name: string;
  /** Measure once and answer one figure, in the same unit on both sides. */
  readonly baseline: () => Promise<number>;
  readonly candidate: () => Promise<number>;
  readonly sidesUnit: string;
  readonly rounds: number;
  /** Whether a higher figure, and so a higher ratio, is the better one. */
  readonly better: Better;
  /** The ratio candidate / baseline to reach: at least where higher is better, at most where lower is. */
  readonly targetRatio?: number | undefined;
}

/**
 * Measures two things in turns, A B, B A, A B, …: what disturbs the machine for a while then disturbs both, and a slow
 * drift cancels out. The result is the median of the rounds' ratios, each of two neighbours in time.
 */
export async function compareFigures(options: CompareFiguresOptions): Promise<Measurement> {
  const { name, sidesUnit, rounds, better, targetRatio } = options;
  const baseline: number[] = [];
  const candidate: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const measureBaseline = async () => baseline.push(await options.baseline());
    const measureCandidate = async () => candidate.push(await options.candidate());
    const turns = [measureBaseline, measureCandidate];
    for (const measure of round % 2 === 0 ? turns : turns.reverse()) await measure();
  }
  const ratios = candidate.map((value, round) => value / (baseline[round] ?? Number.NaN));
  return figure({
    name,
    value: median(ratios),
    unit: 'ratio',
    better,
    target: targetRatio,
    details: {
      sidesUnit,
      baselineMedian: median(baseline),
      candidateMedian: median(candidate),
      baselineRounds: baseline,
      candidateRounds: candidate,
      ratios,
      spread: relativeSpread(ratios),
    },
  });
}

export interface Contender {
  start(): Promise<RunningServer>;
}

export interface CompareOptions {
  readonly name: string;
  readonly baseline: Contender;
  readonly candidate: Contender;
  readonly connections: number;
  /** Of one measurement; a comparison takes twice this for each round, and as much once more for warming up. */
  readonly durationSeconds: number;
  readonly rounds: number;
  readonly targetRatio?: number;
}

type Side = 'baseline' | 'candidate';

/** Requests per second of two servers, compared in turns. Both run all the time; only one is loaded at a time. */
export async function compare(options: CompareOptions): Promise<Measurement> {
  const baseline = await options.baseline.start();
  try {
    const candidate = await options.candidate.start();
    try {
      return await compareRunning(options, { baseline, candidate });
    } finally {
      await candidate.stop();
    }
  } finally {
    await baseline.stop();
  }
}

async function compareRunning(
  options: CompareOptions,
  servers: Readonly<Record<Side, RunningServer>>,
): Promise<Measurement> {
  const { name, connections, durationSeconds, rounds, targetRatio } = options;
  const latencies: Record<Side, LoadResult['latencyMs'][]> = { baseline: [], candidate: [] };
  const loadOnce = async (side: Side) => {
    const { url, request } = servers[side];
    const result = await generateLoad({ url, request, connections, durationSeconds });
    // Refusing is cheaper than serving: a rate with failures in it compares nothing.
    if (result.failed > 0 || result.succeeded === 0) {
      throw new Error(`${name}: ${side} failed ${result.failed} requests and served ${result.succeeded}`);
    }
    return result;
  };
  const measure = (side: Side) => async () => {
    const { requestsPerSecond, latencyMs } = await loadOnce(side);
    latencies[side].push(latencyMs);
    return requestsPerSecond;
  };
  await loadOnce('baseline');
  await loadOnce('candidate');
  const compared = await compareFigures({
    name,
    baseline: measure('baseline'),
    candidate: measure('candidate'),
    sidesUnit: 'requests/s',
    rounds,
    better: 'higher',
    targetRatio,
  });
  return {
    ...compared,
    details: {
      ...compared.details,
      connections,
      durationSeconds,
      baselineP50Ms: median(latencies.baseline.map(({ p50 }) => p50)),
      baselineP99Ms: median(latencies.baseline.map(({ p99 }) => p99)),
      candidateP50Ms: median(latencies.candidate.map(({ p50 }) => p50)),
      candidateP99Ms: median(latencies.candidate.map(({ p99 }) => p99)),
    },
  };
}
