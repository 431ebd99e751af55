import type { Intent } from '../../engine/intent.ts';
import type { Outcome } from '../../engine/intent-worker.ts';
import { type RetrySchedule, schedule } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { BankingError } from '../../upstream/banking.port.ts';

/** How workers deal with a bank that takes its time, is closed or says no. */

const FIRST_LOOK_MS = 100;
const LAST_LOOK_MS = 10 * 60 * 1_000;

/** A bank is closed for a night or a weekend, never for ever. */
export const BANK_SCHEDULE: RetrySchedule = schedule([1, 5, 30, 120, 600], {
  maxAttempts: 2_000,
  jitterPct: 20,
});

/** The longer it has taken, the longer it may take. */
export function lookAgain(clock: Clock, { createdAt }: Pick<Intent, 'createdAt'>): Outcome {
  const age = clock.now() - createdAt.getTime();
  return { kind: 'waiting', afterMs: Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, age / 4)) };
}

/** Asks the bank; what it refuses is told apart from what it could not do now. Anything else is a fault of ours. */
export async function askBank<T>(
  ask: () => Promise<T>,
): Promise<{ readonly answer: T } | { readonly refused: string } | { readonly unavailable: string }> {
  try {
    return { answer: await ask() };
  } catch (error) {
    if (!(error instanceof BankingError)) throw error;
    return error.failure === 'refused' ? { refused: error.message } : { unavailable: error.message };
  }
}
