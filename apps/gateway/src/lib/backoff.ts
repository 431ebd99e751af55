/** When to try again, as data: the delays between attempts, how many attempts there are, and how far they spread. */
export interface RetrySchedule {
  readonly delaysSeconds: readonly number[];
  readonly maxAttempts: number;
  readonly jitterPct: number;
  /**
   * Seconds to wait between the failure of attempt `n - 1` and attempt `n`; 0 for the first attempt, `null` when there
   * is no attempt `n`. Jitter only ever makes an attempt later, so a promised delay is never cut short.
   */
  delayBeforeAttempt(attempt: number): number | null;
}

export interface RetryScheduleOptions {
  /** Attempts in all, the first included. */
  readonly maxAttempts: number;
  /** The longest extra wait, as a percentage of the delay; 0 by default. */
  readonly jitterPct?: number;
  /** Answers a number from 0 up to, and without, 1. */
  readonly random?: () => number;
}

/** The last delay repeats until `maxAttempts` is reached. */
export function schedule(delaysSeconds: readonly number[], options: RetryScheduleOptions): RetrySchedule {
  const { maxAttempts, jitterPct = 0, random = Math.random } = options;
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1) {
    throw new RangeError('maxAttempts is a whole number of at least 1');
  }
  if (!Number.isFinite(jitterPct) || jitterPct < 0) throw new RangeError('jitterPct is not negative');
  const delays = Object.freeze([...delaysSeconds]);
  const lastDelay = delays.at(-1);
  if (lastDelay === undefined) throw new RangeError('a schedule has at least one delay');
  if (!delays.every((delay) => Number.isFinite(delay) && delay >= 0)) {
    throw new RangeError('a delay is a number of seconds that is not negative');
  }

  function delayBeforeAttempt(attempt: number): number | null {
    if (!Number.isInteger(attempt) || attempt < 1) throw new RangeError('attempts are counted from 1');
    if (attempt > maxAttempts) return null;
    if (attempt === 1) return 0;
    const delay = delays[attempt - 2] ?? lastDelay ?? 0;
    return jitterPct === 0 ? delay : delay + (delay * jitterPct * random()) / 100;
  }

  return Object.freeze({ delaysSeconds: delays, maxAttempts, jitterPct, delayBeforeAttempt });
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/**
 * The contract's webhook retries. No jitter: the contract names the delays, and partners who move the sandbox clock by
 * exactly one of them expect the retry to be due.
 */
export const WEBHOOK_RETRY_SCHEDULE: RetrySchedule = schedule(
  [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR],
  { maxAttempts: 10 },
);
