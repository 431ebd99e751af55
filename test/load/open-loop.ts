import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Requests that come when they are due, whether or not those before them were answered, as those of many independent
 * clients do (a Poisson process). A latency counts from when the request was due: a server that stops for a second is seen
 * by all that would have come in that second, and not only by the one that was under way (coordinated omission).
 */
export interface OpenLoop {
  readonly seconds: number;
  readonly aSecond: number;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
  /** Sends the nth request, and resolves when it is answered or lost. `due` is in milliseconds of `performance.now()`. */
  readonly send: (n: number, due: number) => Promise<unknown>;
}

export async function runOpenLoop({ seconds, aSecond, random, send }: OpenLoop): Promise<void> {
  const began = performance.now();
  const end = began + seconds * 1_000;
  const underWay = new Set<Promise<unknown>>();
  let due = began + pause(aSecond, random);
  for (let n = 0; due < end; n++) {
    const early = due - performance.now();
    // A timer is late by up to a millisecond; what is due in between is sent with it, and counts from when it was due.
    if (early > 0) await sleep(early);
    const sent = send(n, due).finally(() => underWay.delete(sent));
    underWay.add(sent);
    due += pause(aSecond, random);
  }
  await Promise.all(underWay);
}

function pause(aSecond: number, random: () => number): number {
  return (-Math.log(1 - random()) * 1_000) / aSecond;
}

/** The same seed draws the same numbers (a linear congruential generator: chance enough for a schedule). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
