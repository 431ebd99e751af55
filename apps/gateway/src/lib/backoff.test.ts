import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { schedule, WEBHOOK_RETRY_SCHEDULE } from './backoff.ts';

const delaysArbitrary = fc.array(fc.integer({ min: 0, max: 86_400 }), { minLength: 1, maxLength: 8 });

describe('retry schedule', () => {
  it('starts at once, follows the delays, repeats the last and then ends', () => {
    const { delayBeforeAttempt } = schedule([1, 5, 30], { maxAttempts: 6 });
    expect([1, 2, 3, 4, 5, 6, 7, 8].map(delayBeforeAttempt)).toEqual([0, 1, 5, 30, 30, 30, null, null]);
  });

  it('stops at maxAttempts even when delays are left', () => {
    const { delayBeforeAttempt } = schedule([1, 2, 3], { maxAttempts: 2 });
    expect([1, 2, 3].map(delayBeforeAttempt)).toEqual([0, 1, null]);
  });

  it('is never earlier than its delay and never later than its jitter allows', () => {
    fc.assert(
      fc.property(
        delaysArbitrary,
        fc.integer({ min: 0, max: 200 }),
        fc.integer({ min: 2, max: 12 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (delays, jitterPct, attempt, chance) => {
          const jittered = schedule(delays, { maxAttempts: 12, jitterPct, random: () => chance });
          const base = schedule(delays, { maxAttempts: 12 }).delayBeforeAttempt(attempt) ?? -1;
          const delay = jittered.delayBeforeAttempt(attempt) ?? -1;
          expect(delay).toBeGreaterThanOrEqual(base);
          expect(delay).toBeLessThanOrEqual(base * (1 + jitterPct / 100) + 1e-6);
        },
      ),
    );
  });

  it('spreads retries that failed together', () => {
    const { delayBeforeAttempt } = schedule([100], { maxAttempts: 2, jitterPct: 20 });
    expect(new Set(Array.from({ length: 50 }, () => delayBeforeAttempt(2))).size).toBeGreaterThan(40);
  });

  it('cannot be changed after it was made', () => {
    const delays = [1, 2];
    const made = schedule(delays, { maxAttempts: 3 });
    delays[0] = 99;
    expect(made.delayBeforeAttempt(2)).toBe(1);
    expect(Object.isFrozen(made) && Object.isFrozen(made.delaysSeconds)).toBe(true);
  });

  it('refuses schedules and attempts that make no sense', () => {
    expect(() => schedule([], { maxAttempts: 3 })).toThrow(RangeError);
    expect(() => schedule([-1], { maxAttempts: 3 })).toThrow(RangeError);
    expect(() => schedule([Number.NaN], { maxAttempts: 3 })).toThrow(RangeError);
    expect(() => schedule([1], { maxAttempts: 0 })).toThrow(RangeError);
    expect(() => schedule([1], { maxAttempts: 2, jitterPct: -5 })).toThrow(RangeError);
    for (const attempt of [0, -1, 1.5]) {
      expect(() => WEBHOOK_RETRY_SCHEDULE.delayBeforeAttempt(attempt)).toThrow(RangeError);
    }
  });
});

describe('webhook retries', () => {
  // Proves C6 rule 4, D10.2.
  it('wait exactly 1 min, 5 min, 15 min, 1 h, 6 h, 12 h, then 24 h until the tenth attempt', () => {
    const attempts = Array.from({ length: 11 }, (_, index) =>
      WEBHOOK_RETRY_SCHEDULE.delayBeforeAttempt(index + 1),
    );
    expect(attempts).toEqual([0, 60, 300, 900, 3600, 21_600, 43_200, 86_400, 86_400, 86_400, null]);
  });
});
