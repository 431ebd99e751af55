import { describe, expect, it } from 'vitest';
import { DEFAULT_FRESHNESS, freshUntil, isFixingDayOff, maxAge, untilNextFixing } from './freshness.ts';

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 86_400_000;
const fixing = (text: string): number => Date.parse(`${text}T12:10:00Z`);
const HOUR_MS = 3_600_000;

describe('the fixing calendar', () => {
  it.each([
    '2026-01-01',
    '2026-04-03',
    '2026-04-06',
    '2026-05-01',
    '2026-12-25',
    '2025-04-18',
    '2025-04-21',
    '2027-03-26',
    '2027-03-29',
    '2024-03-29',
    '2038-04-23',
    '2026-11-14',
    '2026-11-15',
  ])('is closed on %s', (text) => {
    expect(isFixingDayOff(day(text))).toBe(true);
  });

  it.each(['2026-01-02', '2026-04-02', '2026-04-07', '2026-12-24', '2026-11-13', '2026-11-16', '2024-02-29'])(
    'is open on %s',
    (text) => {
      expect(isFixingDayOff(day(text))).toBe(false);
    },
  );
});

describe('a daily fixing', () => {
  const rule = untilNextFixing(8 * HOUR_MS);

  it.each([
    ['the next day', '2026-11-10', '2026-11-11'],
    ['Monday after a Friday', '2026-11-13', '2026-11-16'],
    ['Tuesday after Easter', '2026-04-02', '2026-04-07'],
    ['the 28th after Christmas Eve 2026', '2026-12-24', '2026-12-28'],
    ['the 2nd after New Year’s Eve 2025', '2025-12-31', '2026-01-02'],
  ])('is fresh until %s', (_what, observed, successor) => {
    expect(rule(fixing(observed))).toBe(fixing(successor) + 8 * HOUR_MS);
  });
});

describe('freshUntil', () => {
  it('takes the rule of the source before the rule of its kind', () => {
    const rules = { ...DEFAULT_FRESHNESS, sources: { slow: maxAge(HOUR_MS) } };
    expect(freshUntil(rules, { name: 'slow', kind: 'ticker' }, 0)).toBe(HOUR_MS);
    expect(freshUntil(rules, { name: 'other', kind: 'ticker' }, 0)).toBe(120_000);
    expect(freshUntil(rules, { name: 'constructor', kind: 'ticker' }, 0)).toBe(120_000);
  });
});
