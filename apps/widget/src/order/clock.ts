import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { serverNow } from '../session/clock.ts';

/** The service’s time, anew every so many milliseconds while it is shown. */
export function useServerNow(everyMs = 1_000): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** `7:05`, or `1:07:05`: what is left until then, nothing below zero. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number) => `${value}`.padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

export type Duration = {
  readonly unit: 'seconds' | 'minutes' | 'hours' | 'days';
  readonly count: number;
};

/** Rounded up to what a person would say. */
export function durationOf(seconds: number): Duration {
  if (seconds < 60) return { unit: 'seconds', count: Math.max(1, Math.ceil(seconds)) };
  if (seconds < 90 * 60) return { unit: 'minutes', count: Math.ceil(seconds / 60) };
  if (seconds < 36 * 3_600) return { unit: 'hours', count: Math.ceil(seconds / 3_600) };
  return { unit: 'days', count: Math.ceil(seconds / 86_400) };
}

export function durationText(seconds: number): string {
  const { unit, count } = durationOf(seconds);
  return t(`order.duration_${unit}`, { count });
}
