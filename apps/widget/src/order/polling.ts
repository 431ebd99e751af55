import { useEffect, useRef } from 'preact/hooks';
import { ApiError, type Order } from '../session/api.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** What the pace of asking follows from. Times in milliseconds of the service’s clock. */
export interface PollState {
  readonly phase: string;
  readonly now: number;
  /** When the order last changed. */
  readonly changedAt: number;
  readonly expiresAt: number | null;
  readonly failures: number;
}

/**
 * How long until the order is asked for again; null where nothing more comes of it. Quick while something is due at once,
 * slower the longer nothing happens, and at once when a wait is over.
 */
export function nextPoll({ phase, now, changedAt, expiresAt, failures }: PollState): number | null {
  if (phase === 'completed') return null;
  if (failures > 0) return Math.min(30 * SECOND, 2 * SECOND * 2 ** (failures - 1));
  const waited = now - changedAt;
  const isEnd = phase === 'stopped' || phase === 'disputed';
  const usual = isEnd ? 10 * SECOND : 2 * SECOND;
  const pace = waited < 3 * MINUTE ? usual : waited < 15 * MINUTE ? Math.max(usual, 5 * SECOND) : 15 * SECOND;
  const untilExpiry = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt - now + SECOND / 2;
  return untilExpiry > 0 ? Math.max(SECOND / 2, Math.min(pace, untilExpiry)) : pace;
}

export interface Polling {
  readonly orderId: string;
  readonly read: (orderId: string, signal: AbortSignal) => Promise<Order>;
  readonly onOrder: (order: Order) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps the order fresh while it is looked at: nothing is asked while the page is hidden or offline, and it is asked at once
 * when it comes back. Leaving ends it.
 */
export function usePolling({ orderId, read, onOrder, onError }: Polling): void {
  const latest = useRef({ read, onOrder, onError });
  latest.current = { read, onOrder, onError };
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    let failures = 0;
    const isAway = () => document.hidden || !navigator.onLine;
    const ask = async () => {
      clearTimeout(timer);
      if (isAsking || isAway() || signal.aborted) return;
      isAsking = true;
      let pause: number | null = null;
      try {
        const order = await latest.current.read(orderId, signal);
        if (signal.aborted) return;
        failures = 0;
        latest.current.onOrder(order);
        pause = nextPoll(stateOf(order));
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        latest.current.onError(error);
        const isFinal = error instanceof ApiError && [403, 404].includes(error.status);
        pause = isFinal ? null : nextPoll({ phase: '', now: 0, changedAt: 0, expiresAt: null, failures });
      } finally {
        isAsking = false;
      }
      if (pause !== null && !signal.aborted) timer = setTimeout(() => void ask(), pause);
    };
    const back = () => void ask();
    document.addEventListener('visibilitychange', back, { signal });
    addEventListener('online', back, { signal });
    void ask();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [orderId]);
}

function stateOf({ phase, server_time, updated_at, expires_at }: Order): PollState {
  return {
    phase,
    now: Date.parse(server_time),
    changedAt: Date.parse(updated_at),
    expiresAt: expires_at === null ? null : Date.parse(expires_at),
    failures: 0,
  };
}
