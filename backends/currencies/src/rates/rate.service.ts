import type { RejectedQuote } from './quote-screen.ts';
import type { RateBook, RatePoint, RateReading, RateSnapshot } from './rate-book.ts';
import type { RateHistory } from './rate-history.ts';
import { type Clock, RateFeedError, type RateFeedFault, type RateSource } from './rate-source.port.ts';

export interface PolledSource {
  readonly source: RateSource;
  readonly intervalMs: number;
  /** First wait after a failure; doubles with each further one, up to the interval. */
  readonly retryMs?: number;
  /** For one fetch as a whole, whatever limits the adapter has of its own. */
  readonly timeoutMs?: number;
}

export interface SourceHealth {
  readonly name: string;
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
  readonly lastFault: RateFeedFault | 'unexpected' | null;
  readonly consecutiveFailures: number;
  readonly rejected: readonly RejectedQuote[];
}

export interface RateServiceOptions {
  readonly clock: Clock;
  readonly book: RateBook;
  readonly sources: readonly PolledSource[];
  readonly history?: RateHistory;
  /** At most one point per pair and interval is recorded, at the interval's start, so that all processes record the same times. */
  readonly historyIntervalMs?: number;
  readonly onChange?: (changed: readonly RateReading[]) => void;
  /** For the log; `source` is a source's name, or `history`. */
  readonly onFailure?: (source: string, error: unknown) => void;
  /** From 0 to below 1: spreads the polls of many processes. */
  readonly random?: () => number;
}

interface SourceState {
  readonly polled: PolledSource;
  inFlight: Promise<void> | undefined;
  /** A fetch that ignored its abort: no second one is started beside it. */
  hung: boolean;
  timer: NodeJS.Timeout | undefined;
  health: SourceHealth;
}

const DEFAULT_TIMEOUT_MS = 15_000;
const DEFAULT_RETRY_MS = 5_000;
const DEFAULT_HISTORY_INTERVAL_MS = 60_000;
/** Up to a tenth of the wait is added, so that restarted processes do not stay in step. */
const JITTER_SHARE = 0.1;
const MAX_BACKOFF_DOUBLINGS = 10;

/** Keeps the book current. Nothing here throws: a failing source shows in `health()` and, in time, as a stale rate. */
export class RateService {
  readonly #options: RateServiceOptions;
  readonly #states: readonly SourceState[];
  readonly #stopping = new AbortController();
  /** The history interval under way and the pairs that already have their point in it. */
  #recorded = { at: Number.NEGATIVE_INFINITY, pairs: new Set<string>() };
  #recording: Promise<void> = Promise.resolve();
  #started = false;

  constructor(options: RateServiceOptions) {
    this.#options = options;
    const names = new Set(options.sources.map(({ source }) => source.name));
    if (names.size !== options.sources.length)
      throw new RangeError('every rate source needs a name of its own');
    this.#states = options.sources.map((polled) => ({
      polled,
      inFlight: undefined,
      hung: false,
      timer: undefined,
      health: {
        name: polled.source.name,
        lastSuccessAt: null,
        lastFailureAt: null,
        lastFault: null,
        consecutiveFailures: 0,
        rejected: [],
      },
    }));
  }

  /** Polls every source once, then each on its own interval. Resolves after the first round, whatever came of it. */
  async start(): Promise<void> {
    if (this.#started || this.#stopping.signal.aborted) return;
    this.#started = true;
    await Promise.all(this.#states.map((state) => this.#cycle(state)));
  }

  /** Polls every source now, joining polls under way: for a clock that was moved, or an operator's button. */
  async pollNow(): Promise<void> {
    await Promise.all(this.#states.map((state) => this.#poll(state)));
  }

  snapshot(): RateSnapshot {
    return this.#options.book.snapshot();
  }

  health(): SourceHealth[] {
    return this.#states.map(({ health }) => health);
  }

  /** No poll starts after this; resolves when those under way and the history have come to an end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const state of this.#states) clearTimeout(state.timer);
    await Promise.all(this.#states.map(({ inFlight }) => inFlight));
    await this.#recording;
  }

  async #cycle(state: SourceState): Promise<void> {
    await this.#poll(state);
    if (this.#stopping.signal.aborted) return;
    state.timer = setTimeout(() => void this.#cycle(state), this.#waitOf(state));
    // Polling alone is no reason to keep a process alive.
    state.timer.unref();
  }

  #waitOf({ polled, health }: SourceState): number {
    const doublings = Math.min(health.consecutiveFailures - 1, MAX_BACKOFF_DOUBLINGS);
    const backoffMs = (polled.retryMs ?? DEFAULT_RETRY_MS) * 2 ** Math.max(0, doublings);
    const waitMs =
      health.consecutiveFailures > 0 ? Math.min(polled.intervalMs, backoffMs) : polled.intervalMs;
    return Math.round(waitMs * (1 + JITTER_SHARE * (this.#options.random ?? Math.random)()));
  }

  #poll(state: SourceState): Promise<void> {
    if (state.hung || this.#stopping.signal.aborted) return Promise.resolve();
    state.inFlight ??= this.#fetchOnce(state).finally(() => {
      state.inFlight = undefined;
    });
    return state.inFlight;
  }

  async #fetchOnce(state: SourceState): Promise<void> {
    const { source, timeoutMs = DEFAULT_TIMEOUT_MS } = state.polled;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new RateFeedError(source.name, 'timeout')), timeoutMs);
    const signal = AbortSignal.any([this.#stopping.signal, deadline.signal]);
    try {
      const quotes = await this.#withinDeadline(state, signal);
      const { changed, rejected } = this.#options.book.observe(source, quotes);
      const { clock } = this.#options;
      const healthy = { lastSuccessAt: clock.now(), consecutiveFailures: 0, lastFault: null, rejected };
      state.health = { ...state.health, ...healthy };
      if (changed.length > 0) this.#notify(source.name, () => this.#options.onChange?.(changed));
      this.#record();
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#fail(state, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A source that does not listen to its signal is left behind at the deadline; its late answer is not used. */
  #withinDeadline(
    state: SourceState,
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<RateSource['fetch']>>> {
    const { source } = state.polled;
    return new Promise((resolve, reject) => {
      const abandon = (): void => {
        state.hung = true;
        reject(signal.reason);
      };
      signal.addEventListener('abort', abandon, { once: true });
      const settle = (conclude: () => void): void => {
        state.hung = false;
        signal.removeEventListener('abort', abandon);
        conclude();
      };
      // The call itself may throw: a promise chain catches that as well.
      Promise.resolve()
        .then(() => source.fetch(signal))
        .then(
          (quotes) => settle(() => resolve(quotes)),
          (error: unknown) => settle(() => reject(error)),
        );
    });
  }

  #fail(state: SourceState, error: unknown): void {
    const { health } = state;
    state.health = {
      ...health,
      lastFailureAt: this.#options.clock.now(),
      lastFault: error instanceof RateFeedError ? error.fault : 'unexpected',
      consecutiveFailures: health.consecutiveFailures + 1,
    };
    this.#notify(health.name, () => this.#options.onFailure?.(health.name, error));
  }

  #record(): void {
    const { history, clock, historyIntervalMs = DEFAULT_HISTORY_INTERVAL_MS } = this.#options;
    if (history === undefined) return;
    const at = Math.floor(clock.now() / historyIntervalMs) * historyIntervalMs;
    if (at !== this.#recorded.at) this.#recorded = { at, pairs: new Set() };
    const points: RatePoint[] = [];
    for (const { base, quote, rate, status } of this.snapshot().rates) {
      const pair = `${base}/${quote}`;
      if (status !== 'fresh' || rate === null || this.#recorded.pairs.has(pair)) continue;
      this.#recorded.pairs.add(pair);
      points.push({ base, quote, rate, at });
    }
    if (points.length === 0) return;
    // One append after the other, so that a slow store sees the points in order.
    this.#recording = this.#recording
      .then(() => history.append(points))
      .catch((error: unknown) => this.#notify('history', () => this.#options.onFailure?.('history', error)));
  }

  /** A listener that throws is its own problem, not the poll's. */
  #notify(source: string, listener: () => void): void {
    try {
      listener();
    } catch (error) {
      if (this.#options.onFailure === undefined) return;
      try {
        this.#options.onFailure(source, error);
      } catch {
        // Both listeners failed: there is no other way to report it.
      }
    }
  }
}
