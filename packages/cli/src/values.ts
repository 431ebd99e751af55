import { type Invocation, text } from './command.ts';
import { CommandError, EXIT } from './exit.ts';

/** A whole number from an option; pages and limits begin with 1. */
export function numberOf(invocation: Pick<Invocation, 'options'>, name: string): number | undefined {
  const given = text(invocation, name);
  if (given === undefined) return undefined;
  if (/^\d{1,9}$/.test(given) && Number(given) > 0) return Number(given);
  throw new CommandError(`--${name} is a whole number from 1.`, { exitCode: EXIT.usage });
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** A time from an option, as the service takes it: a day alone would be another one in another time zone. */
export function timeOf(invocation: Pick<Invocation, 'options'>, name: string): string | undefined {
  const given = text(invocation, name);
  if (given === undefined || (TIME.test(given) && !Number.isNaN(Date.parse(given)))) return given;
  throw new CommandError(`--${name} is a time with its time zone, such as 2026-11-01T00:00:00Z.`, {
    exitCode: EXIT.usage,
  });
}

const UNITS = { d: 86_400, h: 3_600, m: 60, s: 1 } as const;
const DURATION = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;

/** `10m`, `1h30m`, `2d`, or seconds as they are. */
export function secondsOf(duration: string): number {
  const parts = /^\d+$/.test(duration) ? [0, 0, 0, duration] : (DURATION.exec(duration)?.slice(1) ?? []);
  const seconds = Object.values(UNITS).reduce(
    (sum, unit, index) => sum + unit * Number(parts[index] ?? 0),
    0,
  );
  if (Number.isSafeInteger(seconds) && seconds > 0) return seconds;
  throw new CommandError(`“${duration}” is no length of time.`, {
    exitCode: EXIT.usage,
    hint: 'Such as 30s, 10m, 1h30m or 2d.',
  });
}

/** The other way, as people say it. */
export function durationOf(seconds: number): string {
  let rest = Math.round(Math.abs(seconds));
  const parts = Object.entries(UNITS).flatMap(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? [] : [`${count}${unit}`];
  });
  return parts.join('') || '0s';
}
