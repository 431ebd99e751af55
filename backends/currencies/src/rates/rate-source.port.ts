/** What a feed says at one moment: one `base` costs `rate` of `quote`. */
export interface Quote {
  readonly base: string;
  readonly quote: string;
  /** Plain decimal text greater than zero. */
  readonly rate: string;
  /** Epoch milliseconds at which the source observed the market, or at which we received it where it does not say. */
  readonly observedAt: number;
}

/** Decides how long an observation stays fresh: a daily fixing outlives a weekend, a ticker does not outlive two minutes. */
export type SourceKind = 'daily-reference' | 'ticker' | 'feed' | 'simulated';

/**
 * The port every adapter implements. `fetch` rejects (with a `RateFeedError` where it is ours) rather than answer with
 * quotes it is not sure of; it stops when the signal aborts.
 */
export interface RateSource {
  readonly name: string;
  readonly kind: SourceKind;
  fetch(signal: AbortSignal): Promise<Quote[]>;
}

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}
