import { afterEach, describe, expect, it, vi } from 'vitest';
import { dayOf, startOfDay } from './days.ts';
import { periodOf } from './filters.ts';

/** As a viewer there: what is tried here needs no zone that was read before. */
function at(zone: string): void {
  vi.stubEnv('TZ', zone);
  expect(Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone);
}

const hoursOf = (day: string) =>
  (Date.parse(startOfDay(day, 1) ?? '') - Date.parse(startOfDay(day) ?? '')) / 3_600_000;

describe('days of the viewer', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ['Europe/Berlin', '2026-11-18', 24],
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['America/New_York', '2026-03-08', 23],
    ['America/New_York', '2026-11-01', 25],
    ['Asia/Tokyo', '2026-03-29', 24],
    // Half an hour, at two in the morning.
    ['Australia/Lord_Howe', '2026-10-04', 23.5],
    // At midnight: the one day begins at one, the other has its last hour twice.
    ['America/Santiago', '2026-09-06', 23],
    ['America/Santiago', '2026-04-04', 25],
    ['Africa/Cairo', '2026-04-24', 23],
  ])('in %s %s has %d hours, and the last day of a period all of them', (zone, day, hours) => {
    at(zone);
    expect(hoursOf(day)).toBe(hours);
    expect(periodOf({ from: day, to: day })).toEqual({ from: startOfDay(day), to: startOfDay(day, 1) });
    const last = new Date(Date.parse(startOfDay(day, 1) ?? '') - 1);
    expect([dayOf(last.getTime()), dayOf(Date.parse(startOfDay(day) ?? ''))]).toEqual([day, day]);
  });

  it('a period of days is told as the moments between them', () => {
    at('Europe/Berlin');
    expect(periodOf({ from: '2026-03-28', to: '2026-03-29' })).toEqual({
      from: '2026-03-27T23:00:00.000Z',
      to: '2026-03-29T22:00:00.000Z',
    });
    expect(periodOf({ created_from: '2026-12-31' }, ['created_from', 'created_to'])).toEqual({
      from: '2026-12-30T23:00:00.000Z',
    });
    expect(periodOf({ from: 'yesterday', to: '' })).toEqual({});
    expect(periodOf({})).toEqual({});
  });

  it('the day of a moment is the viewer’s, and so is one some days earlier', () => {
    const moment = Date.parse('2026-11-02T03:30:00Z');
    at('America/New_York');
    expect([dayOf(moment), dayOf(moment, 1), dayOf(moment, 29)]).toEqual([
      '2026-11-01',
      '2026-10-31',
      '2026-10-03',
    ]);
    at('Pacific/Auckland');
    expect([dayOf(moment), dayOf(moment, 6)]).toEqual(['2026-11-02', '2026-10-27']);
  });

  it('goes back by dates over a day of 23 hours, just after midnight too', () => {
    at('Europe/Berlin');
    const moment = Date.parse('2026-03-29T22:15:00Z');
    expect([0, 1, 2].map((earlier) => dayOf(moment, earlier))).toEqual([
      '2026-03-30',
      '2026-03-29',
      '2026-03-28',
    ]);
  });
});
