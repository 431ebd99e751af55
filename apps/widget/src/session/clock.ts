import { effect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { session } from './store.ts';

/** What the service’s clock is ahead of this device’s; quotes end by the service’s, and a device’s may be wrong by hours. */
let aheadMs = 0;

export function aheadOf(serverTime: string, localMs: number): number {
  return Date.parse(serverTime) - localMs;
}

/** Every answer that carries the service’s time sets the clock. */
export function setServerTime(serverTime: string): void {
  const ahead = aheadOf(serverTime, Date.now());
  if (Number.isFinite(ahead)) aheadMs = ahead;
}

effect(() => {
  if (session.value !== null) setServerTime(session.value.server_time);
});

export function serverNow(): number {
  return Date.now() + aheadMs;
}

/** Whole seconds up to a time of the service: rounded down, because the answer that set the clock took its time. */
export function secondsLeft(until: string, localMs: number, ahead: number): number {
  return Math.max(0, Math.floor((Date.parse(until) - (localMs + ahead)) / 1_000));
}

/** Counts down to a time of the service; null where there is none. */
export function useSecondsLeft(until: string | null): number | null {
  const [, tick] = useState(0);
  const left = until === null ? null : secondsLeft(until, Date.now(), aheadMs);
  const isRunning = left !== null && left > 0;
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => tick((count) => count + 1), 250);
    return () => clearInterval(timer);
  }, [until, isRunning]);
  return left;
}
