import { setImmediate as nextTurn } from 'node:timers/promises';

/** Of work of some microseconds each: a slice takes a millisecond or two. */
export const SLICE = 100;

/**
 * Maps a list whose length a third party chooses. Between slices of it whatever else waits gets its turn: a process that
 * also answers requests must not be away for as long as the whole takes.
 */
export async function inSlices<T, R>(items: readonly T[], map: (item: T) => readonly R[]): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += SLICE) {
    if (start > 0) await nextTurn();
    for (const item of items.slice(start, start + SLICE)) results.push(...map(item));
  }
  return results;
}

/** For loops of another shape: gives way after every slice. `n` counts from 0. */
export async function giveWay(n: number): Promise<void> {
  if (n > 0 && n % SLICE === 0) await nextTurn();
}

/** What a killed worker had in hand goes on after this. It says that the process is alive, not how long the work takes (0064). */
export const WORK_LEASE_MS = 2_500;
/** A lease outlives two renewals that fail. */
export const RENEWALS_PER_LEASE = 3;

/** Runs work at an interval: never two of it at once, and never an unhandled failure. The timer is the caller's to clear. */
export function repeatEvery(
  ms: number,
  run: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): NodeJS.Timeout {
  let busy = false;
  return setInterval(() => {
    if (busy) return;
    busy = true;
    void run()
      .catch(onFailure)
      .finally(() => {
        busy = false;
      });
  }, ms);
}
