import { expect, test } from 'vitest';
import { aheadOf, secondsLeft } from './clock.ts';

const EXPIRES = '2026-11-16T12:01:00.000Z';

test('a device whose clock is wrong counts by the service’s clock', () => {
  for (const wrongBy of [0, -3_600_000, 86_400_000]) {
    const local = Date.parse('2026-11-16T12:00:00.000Z') + wrongBy;
    const ahead = aheadOf('2026-11-16T12:00:00.000Z', local);
    expect(secondsLeft(EXPIRES, local, ahead)).toBe(60);
    expect(secondsLeft(EXPIRES, local + 30_000, ahead)).toBe(30);
    expect(secondsLeft(EXPIRES, local + 58_999, ahead)).toBe(1);
    expect(secondsLeft(EXPIRES, local + 60_000, ahead)).toBe(0);
    expect(secondsLeft(EXPIRES, local + 90_000, ahead)).toBe(0);
  }
});
