/** Days as the viewer counts them. Some have 23 or 25 hours: days are counted by their dates, never by their hours. */

/** The viewer’s zone, which the service is told with a day. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The day of a moment, or one that is so many days earlier: `2026-11-18`. */
export function dayOf(at: number, earlier = 0): string {
  const date = new Date(at);
  date.setDate(date.getDate() - earlier);
  const parts = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0'));
  return [date.getFullYear(), ...parts].join('-');
}

/** The moment at which a day begins, or one that is so many days later. */
export function startOfDay(day: string | undefined, later = 0): string | undefined {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + later);
  // Where the clock is put forward at midnight, a day begins at one; the days after it do not.
  date.setHours(0, 0, 0, 0);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
