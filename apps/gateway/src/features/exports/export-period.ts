import { DEFAULT_EXPORT_DAYS, type ExportQuery, MAX_EXPORT_DAYS } from '@causeway/protocol';
import type { Static } from 'typebox';
import { invalidRequest } from '../../http/errors.ts';
import { type TimeZone, timeZone } from '../../lib/time-zone.ts';

/** The days that a file covers, by the clock of a place. */
export interface ExportPeriod {
  readonly zone: TimeZone;
  /** YYYY-MM-DD, both ends counted. */
  readonly firstDay: string;
  readonly lastDay: string;
  readonly from: Date;
  /** The first moment that is not covered any more. */
  readonly to: Date;
}

const DAY_MS = 86_400_000;

export function readPeriod(query: Static<typeof ExportQuery>, now: Date): ExportPeriod {
  const zone = timeZone(query.time_zone ?? 'UTC');
  if (zone === undefined) {
    throw invalidRequest('time_zone', 'must be the IANA name of a time zone, such as Europe/Berlin');
  }
  const lastDay = query.to === undefined ? zone.dateOf(now) : readDay('to', query.to);
  const firstDay =
    query.from === undefined ? daysLater(lastDay, 1 - DEFAULT_EXPORT_DAYS) : readDay('from', query.from);
  const days = (Date.parse(lastDay) - Date.parse(firstDay)) / DAY_MS + 1;
  if (days < 1) throw invalidRequest('to', 'must not be before from');
  if (days > MAX_EXPORT_DAYS) {
    throw invalidRequest('to', `must be at most ${MAX_EXPORT_DAYS} days from from, both counted`);
  }
  return {
    zone,
    firstDay,
    lastDay,
    from: zone.startOfDay(firstDay),
    to: zone.startOfDay(daysLater(lastDay, 1)),
  };
}

/** The form is checked already; the calendar is not. */
function readDay(field: string, day: string): string {
  const at = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(at.getTime()) || !at.toISOString().startsWith(day)) {
    throw invalidRequest(field, 'is a day that the calendar does not have');
  }
  return day;
}

function daysLater(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}
