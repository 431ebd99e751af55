import { describe, expect, it } from 'vitest';
import { nextPoll, type PollState } from './polling.ts';

const NOW = 1_800_000_000_000;
const at = (part: Partial<PollState>) =>
  nextPoll({ phase: 'settle', now: NOW, changedAt: NOW, expiresAt: null, failures: 0, ...part });

describe('how often an order is asked for', () => {
  it('is every 2 seconds while something is due, and less often the longer nothing happens', () => {
    const waits = [0, 179, 180, 899, 900, 90_000].map((seconds) => at({ changedAt: NOW - seconds * 1_000 }));
    expect(waits).toEqual([2_000, 2_000, 5_000, 5_000, 15_000, 15_000]);
  });

  it('is never again once it is completed, and seldom where it has ended otherwise', () => {
    expect(at({ phase: 'completed' })).toBeNull();
    expect(at({ phase: 'stopped' })).toBe(10_000);
    expect(at({ phase: 'disputed', changedAt: NOW - 86_400_000 })).toBe(15_000);
  });

  it('is at once when a wait is over, and as usual when it has long been over', () => {
    const old = { changedAt: NOW - 3_000_000 };
    expect(at({ ...old, expiresAt: NOW + 4_000 })).toBe(4_500);
    expect(at({ ...old, expiresAt: NOW - 400 })).toBe(500);
    expect(at({ ...old, expiresAt: NOW - 60_000 })).toBe(15_000);
    expect(at({ expiresAt: NOW + 600_000 })).toBe(2_000);
  });

  it('backs off while there is no answer, to half a minute at most', () => {
    expect([1, 2, 3, 4, 5, 12].map((failures) => at({ failures }))).toEqual([
      2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
    ]);
  });

  it('goes on for a phase that is not known yet', () => {
    expect(at({ phase: 'beaming' })).toBe(2_000);
  });
});
