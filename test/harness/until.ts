import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_AGAIN_MS = 25;
/** Where processes die on purpose all the time, everything takes longer. */
export const PATIENCE = Number(process.env.TEST_PATIENCE ?? 1);

/** Waits for a condition, never for a time: asks until the answer is not undefined or false, or fails saying what was awaited. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs * PATIENCE;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await sleep(LOOK_AGAIN_MS);
  }
}
