import { readFileSync } from 'node:fs';

/**
 * Latencies on a machine that is shared with others. A virtual machine's kernel counts the time in which it wanted to run and
 * its host let others: a request that waited then says nothing about the program. So rounds are played until enough of them
 * were left alone, and those with the least such time count. What they had is reported with the figures.
 */
export interface PlayedRound<T> {
  readonly round: T;
  /** Of all processors' time: which part the host gave to others. */
  readonly stolen: number;
}

/** 25 ms of ten seconds on one core: a quarter of what would move a p99 by itself. */
const UNDISTURBED = 0.0025;
/** How many times as many rounds are played at most: where the machine is never left alone, the run ends all the same. */
const AT_MOST = 3;

interface UndisturbedOptions {
  readonly wanted: number;
  readonly atMost?: number;
  /** More than this of the processors' time taken by the host is a disturbance; by default, what would move a p99. */
  readonly disturbed?: number;
}

/** Plays until `wanted` rounds were undisturbed, at most so many times as many; returns the least disturbed, in their order. */
export async function playUndisturbed<T>(
  { wanted, atMost = AT_MOST, disturbed = UNDISTURBED }: UndisturbedOptions,
  play: (n: number) => Promise<T>,
  readTimes: () => ProcessorTimes = processorTimes,
): Promise<PlayedRound<T>[]> {
  const played: PlayedRound<T>[] = [];
  const quiet = () => played.filter(({ stolen }) => stolen <= disturbed).length;
  while (quiet() < wanted && played.length < wanted * atMost) {
    const before = readTimes();
    const round = await play(played.length);
    played.push({ round, stolen: stolenBetween(before, readTimes()) });
  }
  const kept = new Set(played.toSorted((left, right) => left.stolen - right.stolen).slice(0, wanted));
  return played.filter((one) => kept.has(one));
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
