import { percentile } from '../../bench/frame/statistics.ts';
import type { LoadResult } from './partner-requests.ts';

/** A client that has not been answered by then has given up, or asks again: what comes later is of no use. */
export const USEFUL_WITHIN_MS = 1_000;

export interface LoadSummary {
  /** Requests a second that were answered 200 in time. */
  readonly goodput: number;
  readonly offered: number;
  /** Requests by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Answers of a broken server: 5xx but 503, and none at all. */
  readonly broken: number;
  readonly refused: number;
  /** 4xx but 429: a request that the generator should not have made. */
  readonly wrong: number;
}

export function summarise(result: LoadResult, seconds: number): LoadSummary {
  const statuses: Record<string, number> = {};
  for (const [line, count] of Object.entries(result.answers)) {
    const status = line.split(' ')[1] ?? '0';
    statuses[status] = (statuses[status] ?? 0) + count;
  }
  const countOf = (has: (status: number) => boolean) =>
    Object.entries(statuses).reduce((total, [status, count]) => total + (has(Number(status)) ? count : 0), 0);
  const useful = Object.values(result.latencies)
    .flat()
    .filter((ms) => ms <= USEFUL_WITHIN_MS).length;
  return {
    goodput: useful / seconds,
    offered: countOf(() => true) / seconds,
    statuses,
    broken: countOf((status) => status === 0 || (status >= 500 && status !== 503)),
    refused: countOf((status) => status === 429 || status === 503),
    wrong: countOf((status) => status >= 400 && status < 500 && status !== 429),
  };
}

export function p99ByKind({ latencies }: LoadResult): Record<string, number> {
  return Object.fromEntries(
    Object.entries(latencies).map(([kind, values]) => [kind, percentile(values, 0.99)]),
  );
}

const FOLLOWS = 0.95;

/** Whether what is answered in time follows what is asked. */
export function isFollowed({ goodput, offered }: LoadSummary): boolean {
  return goodput >= FOLLOWS * offered;
}

const STEP = 1.4;
const HALVINGS = 3;

/**
 * The highest rate at which what is answered in time follows what is asked, twice in a row, by steps and then by halves.
 * Once may be luck: near the end of what a machine can do, one measurement is followed and the next one is not.
 */
export async function findPeak(
  from: number,
  measure: (aSecond: number) => Promise<LoadSummary>,
): Promise<number> {
  const follows = async (aSecond: number) =>
    isFollowed(await measure(aSecond)) && isFollowed(await measure(aSecond));
  let [kept, failed] = [0, from];
  while (await follows(failed)) [kept, failed] = [failed, failed * STEP];
  for (let n = 0; n < HALVINGS; n++) {
    const middle = (kept + failed) / 2;
    if (await follows(middle)) kept = middle;
    else failed = middle;
  }
  return kept;
}

/** The slope of a straight line through the samples, for each of them. */
export function slopeOf(samples: readonly number[]): number {
  const middle = (samples.length - 1) / 2;
  const mean = samples.reduce((total, value) => total + value, 0) / samples.length;
  let [above, below] = [0, 0];
  samples.forEach((value, index) => {
    above += (index - middle) * (value - mean);
    below += (index - middle) ** 2;
  });
  return below === 0 ? 0 : above / below;
}
