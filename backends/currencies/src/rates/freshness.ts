import type { SourceKind } from './rate-source.port.ts';

/** Until when (epoch ms) an observation made at `observedAt` may be priced on. */
export type FreshnessRule = (observedAt: number) => number;

export interface FreshnessRules {
  readonly kinds: Readonly<Record<SourceKind, FreshnessRule>>;
  /** By source name; wins over the kind. */
  readonly sources: Readonly<Record<string, FreshnessRule>>;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * The central banks agree on the reference rates at 14:10 Frankfurt time: 12:10 UTC in summer, 13:10 in winter. The earlier
 * one is used all year, so that a rate can look an hour older than it is but never younger.
 */
export const ECB_FIXING_OF_DAY_MS = 12 * HOUR_MS + 10 * MINUTE_MS;

/** Published by 16:00 Frankfurt time, read hourly; the rest is room for a late publication. */
const ECB_PUBLICATION_GRACE_MS = 8 * HOUR_MS;

export function maxAge(ageMs: number): FreshnessRule {
  return (observedAt) => observedAt + ageMs;
}

/**
 * A daily fixing is fresh until its successor is due: over a weekend and over the days on which the euro system is closed there is no successor.
 */
export function untilNextFixing(graceMs: number = ECB_PUBLICATION_GRACE_MS): FreshnessRule {
  return (observedAt) => {
    let day = Math.floor(observedAt / DAY_MS) + 1;
    while (isFixingDayOff(day)) day += 1;
    return day * DAY_MS + ECB_FIXING_OF_DAY_MS + graceMs;
  };
}

export const DEFAULT_FRESHNESS: FreshnessRules = {
  kinds: {
    'daily-reference': untilNextFixing(),
    ticker: maxAge(2 * MINUTE_MS),
    feed: maxAge(15 * MINUTE_MS),
    simulated: maxAge(MINUTE_MS),
  },
  sources: {},
};

export function freshUntil(
  rules: FreshnessRules,
  source: { readonly name: string; readonly kind: SourceKind },
  observedAt: number,
): number {
  const own = Object.hasOwn(rules.sources, source.name) ? rules.sources[source.name] : undefined;
  return (own ?? rules.kinds[source.kind])(observedAt);
}

/** Weekends and the closing days of the T2 calendar, which the fixing follows. `day` counts from 1 January 1970. */
export function isFixingDayOff(day: number): boolean {
  const weekday = (((day + 4) % 7) + 7) % 7;
  if (weekday === 0 || weekday === 6) return true;
  const date = new Date(day * DAY_MS);
  const monthAndDay = `${date.getUTCMonth() + 1}-${date.getUTCDate()}`;
  if (['1-1', '5-1', '12-25', '12-26'].includes(monthAndDay)) return true;
  const easter = easterSunday(date.getUTCFullYear());
  return day === easter - 2 || day === easter + 1;
}

/** The Gregorian computus (Meeus, Jones, Butcher), as a day number. */
function easterSunday(year: number): number {
  const cycle = year % 19;
  const century = Math.floor(year / 100);
  const yearOfCentury = year % 100;
  const correction = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
  const epact = (19 * cycle + century - Math.floor(century / 4) - correction + 15) % 30;
  const weekdayShift =
    (32 + 2 * (century % 4) + 2 * Math.floor(yearOfCentury / 4) - epact - (yearOfCentury % 4)) % 7;
  const late = Math.floor((cycle + 11 * epact + 22 * weekdayShift) / 451);
  const monthAndDay = epact + weekdayShift - 7 * late + 114;
  return Date.UTC(year, Math.floor(monthAndDay / 31) - 1, (monthAndDay % 31) + 1) / DAY_MS;
}
