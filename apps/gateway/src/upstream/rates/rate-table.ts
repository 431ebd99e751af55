import {
  DEFAULT_FRESHNESS,
  type Quote,
  RateBook,
  type RateDecision,
  type RateReading,
  type RateRefusal,
} from '@causeway/currencies';

export type { RateDecision, RateReading } from '@causeway/currencies';

/** The legs of a rate book as they were published at one moment. */
export interface PublishedRates {
  /** Machine time, epoch ms. */
  readonly publishedAt: number;
  readonly legs: readonly RateReading[];
}

const NEVER_STALE = Number.MAX_SAFE_INTEGER;
/** The publisher has screened and guarded already: here its word is taken as it is. */
const TAKEN_AS_IT_IS = {
  outlierPpm: 10n ** 30n,
  jumpPpm: 10n ** 30n,
  confirmations: 2,
  clockSkewMs: NEVER_STALE,
};

/**
 * Published rates as a reader sees them: every pair that follows from the legs, and whether it may be priced on.
 * Immutable. What the publisher held to be fresh stays fresh as long as the publication itself is; `outdated()` is the same
 * table after that, in which nothing may be priced on.
 */
export class RateTable {
  readonly publishedAt: number;
  readonly legs: readonly RateReading[];
  readonly #book: RateBook;
  readonly #isOutdated: boolean;
  #outdated: RateTable | undefined;

  constructor(rates: PublishedRates, isOutdated = false) {
    this.publishedAt = rates.publishedAt;
    this.#isOutdated = isOutdated;
    this.legs = isOutdated ? rates.legs.map(asStale) : rates.legs;
    this.#book = bookOf(rates);
  }

  static readonly empty = new RateTable({ publishedAt: 0, legs: [] });

  outdated(): RateTable {
    if (this.#isOutdated) return this;
    this.#outdated ??= new RateTable(this, true);
    return this.#outdated;
  }

  /** One `base` costs `rate` of `quote`; crossed through dollar or euro where the pair itself is not quoted. */
  rate(base: string, quote: string): RateReading {
    const reading = this.#book.rate(base, quote);
    return this.#isOutdated ? asStale(reading) : reading;
  }

  /** The only way to a rate for pricing: a fresh one, or a refusal that says why there is none. */
  requireRate(base: string, quote: string): RateDecision {
    if (!this.#isOutdated) return this.#book.requireRate(base, quote);
    const { asOf, status } = this.rate(base, quote);
    const code: RateRefusal['code'] = status === 'missing' ? 'RATE_MISSING' : 'RATE_STALE';
    const message = `No usable ${base}/${quote} rate: the last publication is too old`;
    return { ok: false, refusal: { code, base, quote, asOf, message } };
  }
}

function asStale(reading: RateReading): RateReading {
  return reading.status === 'missing' ? reading : { ...reading, status: 'stale' };
}

/**
 * A book that has seen exactly the published legs, so that crossing works here as it does at the publisher. A leg
 * that may not be priced on is restored rather than observed, which gives it a value and no freshness.
 */
function bookOf({ publishedAt, legs }: PublishedRates): RateBook {
  const book = new RateBook({
    clock: { now: () => publishedAt },
    guard: TAKEN_AS_IT_IS,
    freshness: { kinds: { ...DEFAULT_FRESHNESS.kinds, feed: () => NEVER_STALE }, sources: {} },
  });
  const bySource = new Map<string, Quote[]>();
  for (const { base, quote, rate, asOf, sources, status } of legs) {
    if (rate === null || asOf === null) continue;
    if (status !== 'fresh') {
      book.restore([{ base, quote, rate, at: Math.min(asOf, publishedAt - 1) }]);
      continue;
    }
    for (const source of sources.length > 0 ? sources : ['published']) {
      const quotes = bySource.get(source) ?? [];
      quotes.push({ base, quote, rate, observedAt: asOf });
      bySource.set(source, quotes);
    }
  }
  for (const [name, quotes] of bySource) book.observe({ name, kind: 'feed' }, quotes);
  return book;
}
