import { CausewayError, isCausewayError } from './errors.ts';
import type { CausewayEvent } from './events.ts';
import { NEXT_ORDER_STATUSES } from './generated/constants.ts';
import type { Order, OrderStatus } from './generated/types.ts';
import { requireNumber } from './numbers.ts';
import type { Streamed, StreamOptions } from './stream.ts';
import { timeoutSignal } from './timing.ts';

export interface WaitOptions {
  /** Milliseconds; 10 minutes by default. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** How often the order is read while the event stream cannot be had; 2 000 ms by default. */
  readonly pollInterval?: number;
  /** Sees the order whenever it was read and its status had changed. */
  readonly onStatus?: (order: Order) => void;
}

export interface WaitDeps {
  readonly read: (orderId: string, signal: AbortSignal) => Promise<Order>;
  readonly stream: (options: StreamOptions) => AsyncIterable<Streamed<CausewayEvent>>;
}

type Predicate = (order: Order) => boolean;
type Wanted = OrderStatus | readonly OrderStatus[] | Predicate;

const TIMEOUT_MS = 10 * 60_000;
const POLL_MS = 2_000;
/** Beside a stream that works: statuses that pass within moments have no event. */
const POLL_BESIDE_STREAM_MS = 10_000;

/**
 * The order as soon as it is, or has been, in one of these statuses. Events say when to look, reading the order says what is
 * true; without the stream it is read at intervals. Throws `ORDER_ENDED` where it can no longer get there, `TIMED_OUT` after
 * the time, and a TypeError for a status that no order has. A function is asked until the time is over while anything of the
 * order may change, which a stopped one still may.
 */
export async function waitForOrder(
  deps: WaitDeps,
  orderId: string,
  wanted: Wanted,
  options: WaitOptions = {},
): Promise<Order> {
  requireKnown(wanted);
  const { timeout = TIMEOUT_MS, pollInterval = POLL_MS, onStatus } = options;
  requireNumber('timeout', timeout);
  // NaN would be read as no pause at all.
  requireNumber('pollInterval', pollInterval, { finite: true });
  const timer = timeoutSignal(timeout, options.signal);
  const { signal } = timer;
  const bell = createBell();
  const state = { isStreaming: false };
  const listening = listen(deps, orderId, signal, bell, state);
  signal.addEventListener('abort', bell.ring, { once: true });
  let order: Order | undefined;
  try {
    for (;;) {
      const seen: Order = await read(deps, orderId, signal, order);
      if (seen.status !== order?.status) onStatus?.(seen);
      order = seen;
      if (isReached(seen, wanted)) return seen;
      if (!canStillReach(seen, wanted)) throw ended(seen);
      await bell.wait(state.isStreaming ? Math.max(pollInterval, POLL_BESIDE_STREAM_MS) : pollInterval);
      signal.throwIfAborted();
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!signal.aborted) throw error;
    throw new CausewayError('TIMED_OUT', {
      message: `the order was ${order?.status ?? 'not read'} after ${timeout} ms`,
      details: { status: order?.status },
      retryable: true,
    });
  } finally {
    timer.clear();
    bell.stop();
    listening.stop();
  }
}

function isReached(order: Order, wanted: Wanted): boolean {
  if (typeof wanted === 'function') return wanted(order);
  return [order, ...order.timeline].some(({ status }) => wordsOf(wanted).includes(status));
}

const wordsOf = (wanted: Exclude<Wanted, Predicate>): readonly string[] => [wanted].flat();

/** A misspelt status would be waited for in vain. */
function requireKnown(wanted: Wanted): void {
  if (typeof wanted === 'function') return;
  const words = wordsOf(wanted);
  const known = Object.values(NEXT_ORDER_STATUSES).flatMap((next) => Object.keys(next));
  const wrong = words.findIndex((word) => !known.includes(word));
  if (words.length > 0 && wrong < 0) return;
  throw new TypeError(
    words.length === 0
      ? 'waitFor needs a status'
      : `no order has the status “${words[wrong]}”; to wait for one that is newer than this client, give a function`,
  );
}

/** Their status is final unless they are held, but a late deposit or a refund may still change the rest of the order. */
const STOPPED: readonly string[] = ['cancelled', 'failed'];

/** A function may ask for anything, but only of an order that still changes. What this client does not know may come. */
function canStillReach(order: Order, wanted: Wanted): boolean {
  const isHeld = (order.hold ?? null) !== null;
  const isStopped = STOPPED.includes(order.status);
  if (typeof wanted !== 'function' && isStopped && !isHeld) return false;
  return tablesOf(order).some((next) => {
    if (next[order.status] === undefined) return true;
    const coming = new Set(next[order.status]);
    // A set is walked to its end, also over what is added on the way.
    for (const status of coming) for (const later of next[status] ?? []) coming.add(later);
    if (typeof wanted !== 'function') return wordsOf(wanted).some((word) => coming.has(word));
    return coming.size > 0 || isStopped || isHeld;
  });
}

function tablesOf({ order_type: type }: Order): readonly Readonly<Record<string, readonly string[]>>[] {
  const { onramp, offramp } = NEXT_ORDER_STATUSES;
  if (type === 'offramp') return [offramp];
  return type === 'onramp' || type === 'payment_request' ? [onramp] : [onramp, offramp];
}

function ended(order: Order): CausewayError {
  return new CausewayError('ORDER_ENDED', {
    message: `the order is ${order.status}, and what is waited for can no longer come`,
    details: { status: order.status, order },
    retryable: false,
  });
}

/** A read that fails for the moment is tried again at the next turn; the client has repeated it already. */
async function read(
  deps: WaitDeps,
  orderId: string,
  signal: AbortSignal,
  last: Order | undefined,
): Promise<Order> {
  try {
    return await deps.read(orderId, signal);
  } catch (error) {
    if (last === undefined || !isCausewayError(error) || !error.retryable) throw error;
    return last;
  }
}

interface Bell {
  ring(): void;
  wait(ms: number): Promise<void>;
  stop(): void;
}

/** What rings while nobody waits is not lost. */
function createBell(): Bell {
  let isRung = false;
  let wake: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    ring() {
      isRung = true;
      wake?.();
    },
    async wait(ms) {
      if (!isRung) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, ms);
        });
      }
      clearTimeout(timer);
      isRung = false;
      wake = undefined;
    },
    stop: () => clearTimeout(timer),
  };
}

function listen(
  deps: WaitDeps,
  orderId: string,
  signal: AbortSignal,
  bell: Bell,
  state: { isStreaming: boolean },
): { stop(): void } {
  const own = new AbortController();
  const stop = () => own.abort();
  signal.addEventListener('abort', stop, { once: true });
  const onOpen = () => {
    state.isStreaming = true;
    // What happened before the stream stood has no event in it.
    bell.ring();
  };
  void (async () => {
    try {
      for await (const { event } of deps.stream({ signal: own.signal, onOpen })) {
        if ((event.data as { order_id?: string }).order_id === orderId) bell.ring();
      }
    } catch {
      // Without a stream the order is read at intervals.
    }
    state.isStreaming = false;
  })();
  return { stop };
}
