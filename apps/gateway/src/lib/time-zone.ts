/** Days and times of a place, by the rules that the runtime carries (IANA), daylight saving included. */
export interface TimeZone {
  /** As IANA spells it. */
  readonly name: string;
  /** The first moment of a day (YYYY-MM-DD), which is not midnight where the clock jumps over it. */
  startOfDay(date: string): Date;
  dateOf(at: Date): string;
  /** ISO 8601 with the offset that holds at this moment: 2026-10-25T02:30:00.000+01:00. */
  format(at: Date): string;
}

const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/;
const OFFSET = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;
const HOUR_MS = 3_600_000;
/** Offsets change at multiples of it, so one answer serves all moments in between. */
const STEP_MS = HOUR_MS / 4;
/** No place is further from UTC. */
const FURTHEST_MS = 16 * HOUR_MS;

/** Undefined for a name that is none. A bare offset is no zone: it does not know daylight saving. */
export function timeZone(name: string): TimeZone | undefined {
  const formatter = formatterOf(name);
  if (formatter === undefined) return undefined;
  const known = new Map<number, number>();

  function offsetAt(ms: number): number {
    const step = Math.floor(ms / STEP_MS);
    const offset = known.get(step) ?? readOffset(formatter as Intl.DateTimeFormat, step * STEP_MS);
    known.set(step, offset);
    return offset;
  }

  const local = (ms: number) => new Date(ms + offsetAt(ms)).toISOString();
  const dateOf = (ms: number) => local(ms).slice(0, 10);

  return {
    name: formatter.resolvedOptions().timeZone,
    dateOf: (at) => dateOf(at.getTime()),
    startOfDay(date) {
      const midnight = Date.parse(`${date}T00:00:00Z`);
      let [before, after] = [midnight - FURTHEST_MS, midnight + FURTHEST_MS];
      while (after - before > 1) {
        const middle = Math.floor((before + after) / 2);
        if (dateOf(middle) < date) before = middle;
        else after = middle;
      }
      return new Date(after);
    },
    format(at) {
      const ms = at.getTime();
      return local(ms).slice(0, -1) + written(offsetAt(ms));
    },
  };
}

function formatterOf(name: string): Intl.DateTimeFormat | undefined {
  if (!NAME.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch {
    return undefined;
  }
}

function readOffset(formatter: Intl.DateTimeFormat, ms: number): number {
  const text = formatter.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const match = OFFSET.exec(text);
  if (match === null) throw new Error(`the runtime writes an offset as ${text}`);
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = match;
  const size = (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1_000;
  return sign === '-' ? -size : size;
}

function written(offset: number): string {
  const minutes = Math.abs(Math.trunc(offset / 60_000));
  const two = (value: number) => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}
