import { CausewayError, isCausewayError } from './errors.ts';
import type { CausewayEvent } from './events.ts';
import { FINAL_ORDER_STATUSES } from './generated/constants.ts';
import type { Order, OrderStatus } from './generated/types.ts';
import type { Streamed, StreamOptions } from './stream.ts';
import { timeoutSignal } from './transport.ts';

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

const TIMEOUT_MS = 10 * 60_000;
const POLL_MS = 2_000;
/** Beside a stream that works: statuses that pass within moments have no event. */
const POLL_BESIDE_STREAM_MS = 10_000;

/**
 * The order as soon as it is, or has been, in one of these statuses. Events say when to look, reading the order says what is
 * true; without the stream it is read at intervals. Throws `ORDER_ENDED` where it can no longer get there, `TIMED_OUT` after
 * the time.
 */
export async function waitForOrder(
  deps: WaitDeps,
  orderId: string,
  wanted: OrderStatus | readonly OrderStatus[] | ((order: Order) => boolean),
  options: WaitOptions = {},
): Promise<Order> {
  const { timeout = TIMEOUT_MS, pollInterval = POLL_MS, onStatus } = options;
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
      if (FINAL_ORDER_STATUSES.includes(seen.status)) throw ended(seen);
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

function isReached(
  order: Order,
  wanted: OrderStatus | readonly OrderStatus[] | ((order: Order) => boolean),
): boolean {
  if (typeof wanted === 'function') return wanted(order);
  const words: readonly string[] = typeof wanted === 'string' ? [wanted] : wanted;
  return [order, ...order.timeline].some(({ status }) => words.includes(status));
}

function ended(order: Order): CausewayError {
  return new CausewayError('ORDER_ENDED', {
    message: `the order ended as ${order.status}`,
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
