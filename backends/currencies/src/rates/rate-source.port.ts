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

export type RateFeedFault =
  | 'unreachable'
  | 'timeout'
  | 'aborted'
  | 'interrupted'
  | 'status'
  | 'content-type'
  | 'too-large'
  | 'malformed'
  | 'upstream-error'
  | 'empty';

const SENTENCES: Record<RateFeedFault, string> = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  aborted: 'was asked to stop',
  interrupted: 'broke off in the middle of its answer',
  status: 'answered with an HTTP status other than 200',
  'content-type': 'answered with an unexpected content type',
  'too-large': 'answered with more than the allowed size',
  malformed: 'answered with something that is not in its documented format',
  'upstream-error': 'reported an error of its own',
  empty: 'answered without a single usable rate',
};

/**
 * A feed failed. The message is built from our own words only: what an upstream wrote, and addresses that may carry an
 * access key, stay in `cause` at most and never travel further.
 */
export class RateFeedError extends Error {
  readonly source: string;
  readonly fault: RateFeedFault;

  constructor(source: string, fault: RateFeedFault, cause?: unknown) {
    super(`rate source ${source} ${SENTENCES[fault]}`, cause === undefined ? undefined : { cause });
    this.name = 'RateFeedError';
    this.source = source;
    this.fault = fault;
  }
}
