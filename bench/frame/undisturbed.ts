import { readFileSync } from 'node:fs';

/**
 * Latencies on a machine that is shared with others. A virtual machine's kernel counts the time in which it wanted to run and
 * its host let others: a request that waited then says nothing about the program. What it does not count is that others on the
 * host leave it less of caches and cores; the same work then takes more of the processor's time. So rounds are played until
 * enough of them were left alone, and the least disturbed count. What they had is reported with the figures.
 */
export interface PlayedRound<T> {
  readonly round: T;
  /** Of all processors' time: which part the host gave to others. */
  readonly stolen: number;
  /** How much more of the processor's time its work took than in the round where it took least; 0 where nobody counts it. */
  readonly slower: number;
}

/** 25 ms of ten seconds on one core: a quarter of what would move a p99 by itself. */
const UNDISTURBED = 0.0025;
/** Rounds of the same work differ by a twentieth on a machine that is left alone, and by a half where it is not. */
const SLOWED_DOWN = 0.1;
/** How many times as many rounds are played at most: where the machine is never left alone, the run ends all the same. */
const AT_MOST = 3;

interface UndisturbedOptions<T> {
  readonly wanted: number;
  readonly atMost?: number;
  /** More than this of the processors' time taken by the host is a disturbance; by default, what would move a p99. */
  readonly disturbed?: number;
  /** Processor time that the work of a round took, where all rounds do the same work. */
  readonly costOf?: (round: T) => number;
}

/** Plays until `wanted` rounds were undisturbed, at most so many times as many; returns the least disturbed, in their order. */
export async function playUndisturbed<T>(
  { wanted, atMost = AT_MOST, disturbed = UNDISTURBED, costOf = () => 1 }: UndisturbedOptions<T>,
  play: (n: number) => Promise<T>,
  readTimes: () => ProcessorTimes = processorTimes,
): Promise<PlayedRound<T>[]> {
  const noted: { readonly round: T; readonly stolen: number; readonly cost: number }[] = [];
  const disturbance = ({ stolen, slower }: PlayedRound<T>) =>
    Math.max(stolen / disturbed, slower / SLOWED_DOWN);
  for (;;) {
    const least = Math.min(...noted.map(({ cost }) => cost));
    const played = noted.map(({ round, stolen, cost }) => ({ round, stolen, slower: cost / least - 1 }));
    const calmest = played.toSorted((left, right) => disturbance(left) - disturbance(right)).slice(0, wanted);
    const isEnough = calmest.length === wanted && calmest.every((one) => disturbance(one) <= 1);
    if (isEnough || noted.length >= wanted * atMost) return played.filter((one) => calmest.includes(one));
    const before = readTimes();
    const round = await play(noted.length);
    noted.push({ round, stolen: stolenBetween(before, readTimes()), cost: costOf(round) });
  }
}

export interface ProcessorTimes {
  readonly stolen: number;
  readonly all: number;
}

function stolenBetween(before: ProcessorTimes, after: ProcessorTimes): number {
  const all = after.all - before.all;
  return all > 0 ? (after.stolen - before.stolen) / all : 0;
}

/** Position of `steal` among the times of all processors: user, nice, system, idle, iowait, irq, softirq, steal. */
const STOLEN = 7;

/** Zeros where the system does not tell. */
function processorTimes(): ProcessorTimes {
  let line: string;
  try {
    line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '';
  } catch {
    return { stolen: 0, all: 0 };
  }
  const times = line
    .trim()
    .split(/\s+/)
    .slice(1, STOLEN + 2)
    .map(Number);
  return { stolen: times[STOLEN] ?? 0, all: times.reduce((sum, time) => sum + time, 0) };
}
