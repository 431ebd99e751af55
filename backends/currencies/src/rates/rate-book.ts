import { DEFAULT_FRESHNESS, type FreshnessRules, freshUntil } from './freshness.ts';
import { isCurrencyCode, type RejectedQuote, screenQuotes } from './quote-screen.ts';
import {
  type Contribution,
  type GuardLimits,
  type LegReading,
  RateLeg,
  type RateStatus,
} from './rate-leg.ts';
import type { Clock, Quote, RateSource } from './rate-source.port.ts';
import { formatRate, invert, multiply, ONE, parseRate, type Ratio } from './ratio.ts';

/** One `base` costs `rate` of `quote`. `rate` is null only where nothing was ever accepted. */
export interface RateReading {
  readonly base: string;
  readonly quote: string;
  readonly rate: string | null;
  /** The oldest observation behind the rate, epoch ms. */
  readonly asOf: number | null;
  readonly sources: readonly string[];
  readonly status: RateStatus;
}

/** A reading that may be priced on. */
export interface UsableRate extends RateReading {
  readonly rate: string;
  readonly asOf: number;
}

export interface RateRefusal {
  readonly code: 'RATE_STALE' | 'RATE_MISSING' | 'RATE_GUARDED';
  readonly base: string;
  readonly quote: string;
  readonly asOf: number | null;
  readonly message: string;
}

export type RateDecision =
  | { readonly ok: true; readonly rate: UsableRate }
  | { readonly ok: false; readonly refusal: RateRefusal };

/** A value kept over time; `at` is epoch ms. */
export interface RatePoint {
  readonly base: string;
  readonly quote: string;
  readonly rate: string;
  readonly at: number;
}

export interface RateSnapshot {
  readonly at: number;
  readonly rates: readonly RateReading[];
}

export interface ObservationOutcome {
  /** Pairs whose value or status a reader now sees differently, as they read now. */
  readonly changed: readonly RateReading[];
  readonly rejected: readonly RejectedQuote[];
}

export interface RateBookOptions {
  readonly clock: Clock;
  readonly freshness?: Partial<FreshnessRules>;
  readonly guard?: Partial<GuardLimits>;
  /**
   * Whether the last accepted rate may be priced on while a jump awaits its confirmation. Refused unless allowed: if the
   * jump is real, every quote in between is sold at the old price.
   */
  readonly guardedPricing?: 'refuse' | 'allow';
}

const DEFAULT_GUARD: GuardLimits = {
  outlierPpm: 30_000n,
  jumpPpm: 50_000n,
  confirmations: 3,
  clockSkewMs: 120_000,
};

/** Legs that may stand between two currencies, in order of preference. The first route whose legs are all known governs. */
const ROUTES: readonly (readonly string[])[] = [[], ['USD'], ['EUR'], ['USD', 'EUR'], ['EUR', 'USD']];

const SEVERITY: Record<RateStatus, number> = { fresh: 0, guarded: 1, stale: 2, missing: 3 };

const REFUSALS: Record<Exclude<RateStatus, 'fresh'>, { code: RateRefusal['code']; because: string }> = {
  stale: { code: 'RATE_STALE', because: 'its last observation is too old' },
  missing: { code: 'RATE_MISSING', because: 'no source has quoted it' },
  guarded: { code: 'RATE_GUARDED', because: 'an unusual movement awaits confirmation' },
};

/**
 * Merges what the sources say. Every source speaks about the dollar where it can (a euro-based source through its own
 * euro-dollar rate), so the sources can be compared pair by pair and every cross rate follows from the same legs. A pair
 * quoted directly by a source without dollar or euro is kept as its own leg and governs that pair: a local market price is
 * not replaced by an official cross when it falls silent.
 */
export class RateBook {
  readonly #clock: Clock;
  readonly #freshness: FreshnessRules;
  readonly #guard: GuardLimits;
  readonly #guardedPricing: 'refuse' | 'allow';
  readonly #legs = new Map<string, { base: string; quote: string; leg: RateLeg }>();

  constructor(options: RateBookOptions) {
    this.#clock = options.clock;
    this.#freshness = {
      kinds: { ...DEFAULT_FRESHNESS.kinds, ...options.freshness?.kinds },
      sources: { ...options.freshness?.sources },
    };
    this.#guard = { ...DEFAULT_GUARD, ...options.guard };
    if (this.#guard.confirmations < 2)
      throw new RangeError('a guard with fewer than 2 confirmations guards nothing');
    this.#guardedPricing = options.guardedPricing ?? 'refuse';
  }

  /** Takes in one answer of one source. Quotes are screened again: a source may be third-party code. */
  observe(source: Pick<RateSource, 'name' | 'kind'>, quotes: readonly Quote[]): ObservationOutcome {
    const now = this.#clock.now();
    const { accepted, rejected } = screenQuotes(quotes);
    const timely: Quote[] = [];
    const early: RejectedQuote[] = [];
    for (const quote of accepted) {
      if (quote.observedAt <= now + this.#guard.clockSkewMs) timely.push(quote);
      else early.push({ base: quote.base, quote: quote.quote, fault: 'bad-time' });
    }
    const changed: RateReading[] = [];
    for (const { base, quote, value, observedAt } of expressLegs(timely)) {
      const contribution: Contribution = {
        source: source.name,
        value,
        observedAt,
        freshUntil: freshUntil(this.#freshness, source, observedAt),
      };
      const { leg } = this.#legOf(base, quote);
      if (leg.record(contribution, now)) changed.push(describe(base, quote, leg.read(now)));
    }
    return { changed, rejected: [...rejected, ...early] };
  }

  /** Last known values, e.g. from history at start: the first observation after a restart is judged by them. */
  restore(points: readonly RatePoint[]): void {
    const newest = points.toSorted((a, b) => b.at - a.at);
    for (const point of newest) {
      const value = parseRate(point.rate);
      if (value === undefined || !isCurrencyCode(point.base) || !isCurrencyCode(point.quote)) continue;
      const [base, quote] = orient(point.base, point.quote);
      this.#legOf(base, quote).leg.restore(base === point.base ? value : invert(value), point.at);
    }
  }

  /** Lets an operator vouch for a held movement of one leg (as listed by `snapshot`), in either orientation. */
  acceptHeld(base: string, quote: string): boolean {
    return this.#known(base, quote)?.acceptHeld(this.#clock.now()) ?? false;
  }

  rate(base: string, quote: string): RateReading {
    const now = this.#clock.now();
    if (base === quote) {
      if (!this.#isQuoted(base)) return describe(base, quote, { status: 'missing', sources: [] });
      return { base, quote, rate: '1', asOf: now, sources: [], status: 'fresh' };
    }
    for (const between of ROUTES) {
      if (between.includes(base) || between.includes(quote)) continue;
      const reading = this.#follow([base, ...between, quote], now);
      if (reading !== undefined) return describe(base, quote, reading);
    }
    return describe(base, quote, { status: 'missing', sources: [] });
  }

  /** The only way to a rate for pricing: a fresh one, or a refusal that says why there is none. */
  requireRate(base: string, quote: string): RateDecision {
    const reading = this.rate(base, quote);
    const { rate, asOf, status } = reading;
    const allowed = status === 'fresh' || (status === 'guarded' && this.#guardedPricing === 'allow');
    if (allowed && rate !== null && asOf !== null) return { ok: true, rate: { ...reading, rate, asOf } };
    const { code, because } = REFUSALS[status === 'fresh' ? 'missing' : status];
    const message = `No usable ${base}/${quote} rate: ${because}`;
    return { ok: false, refusal: { code, base, quote, asOf, message } };
  }

  /** Every leg as it reads now, in a stable order. */
  snapshot(): RateSnapshot {
    const at = this.#clock.now();
    const legs = [...this.#legs.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
    return { at, rates: legs.map(([, { base, quote, leg }]) => describe(base, quote, leg.read(at))) };
  }

  #legOf(base: string, quote: string): { base: string; quote: string; leg: RateLeg } {
    const key = `${base}/${quote}`;
    let entry = this.#legs.get(key);
    if (entry === undefined) {
      entry = { base, quote, leg: new RateLeg(this.#guard) };
      this.#legs.set(key, entry);
    }
    return entry;
  }

  #known(from: string, to: string): RateLeg | undefined {
    const [base, quote] = orient(from, to);
    return this.#legs.get(`${base}/${quote}`)?.leg;
  }

  #isQuoted(code: string): boolean {
    for (const { base, quote } of this.#legs.values()) if (base === code || quote === code) return true;
    return false;
  }

  /** The product along a path, as weak as its weakest leg; undefined where a leg is unknown. */
  #follow(path: readonly string[], now: number): LegReading | undefined {
    let value: Ratio | undefined = ONE;
    let asOf = now;
    let status: RateStatus = 'fresh';
    const sources = new Set<string>();
    for (const [index, to] of path.entries()) {
      const from = path[index - 1];
      if (from === undefined) continue;
      const reading = this.#known(from, to)?.read(now);
      if (reading === undefined) return undefined;
      const step: Ratio | undefined =
        reading.value === undefined || orient(from, to)[0] === from ? reading.value : invert(reading.value);
      value = value === undefined || step === undefined ? undefined : multiply(value, step);
      asOf = Math.min(asOf, reading.asOf ?? asOf);
      if (SEVERITY[reading.status] > SEVERITY[status]) status = reading.status;
      for (const source of reading.sources) sources.add(source);
    }
    const names = [...sources].sort();
    return value === undefined ? { status, sources: names } : { status, value, asOf, sources: names };
  }
}

interface ExpressedLeg {
  readonly base: string;
  readonly quote: string;
  readonly value: Ratio;
  readonly observedAt: number;
}

/** Turns the quotes of one source into oriented legs, euro quotes into dollar legs where the source itself tells how. */
function expressLegs(quotes: readonly Quote[]): ExpressedLeg[] {
  const legs = new Map<string, ExpressedLeg>();
  const add = (from: string, to: string, value: Ratio, observedAt: number, isInverse: boolean): void => {
    const [base, quote] = orient(from, to);
    const key = `${base}/${quote}`;
    // A source that quotes both ways round: the orientation we keep wins over its inverse.
    if (legs.has(key) && isInverse) return;
    legs.set(key, { base, quote, value: base === from ? value : invert(value), observedAt });
  };
  for (const { base, quote, rate, observedAt } of quotes) {
    const value = parseRate(rate);
    if (value !== undefined) add(base, quote, value, observedAt, orient(base, quote)[0] !== base);
  }
  const dollarInEuro = legs.get('USD/EUR');
  if (dollarInEuro === undefined) return [...legs.values()];
  for (const [key, leg] of [...legs]) {
    const { base, quote, value } = leg;
    if ((base !== 'EUR' && quote !== 'EUR') || key === 'USD/EUR') continue;
    legs.delete(key);
    const other = base === 'EUR' ? quote : base;
    const [dollarBase, dollarQuote] = orient('USD', other);
    if (legs.has(`${dollarBase}/${dollarQuote}`)) continue;
    const dollarInOther = multiply(dollarInEuro.value, base === 'EUR' ? value : invert(value));
    add('USD', other, dollarInOther, Math.min(leg.observedAt, dollarInEuro.observedAt), false);
  }
  return [...legs.values()];
}

/**
 * Which way round a pair is kept: a token (its code is longer than the three letters of ISO 4217) before money, then the
 * dollar, then the euro, then by name. So pairs read as people quote them: USDC/USD, USD/NGN.
 */
function orient(a: string, b: string): readonly [string, string] {
  const rank = (code: string): number => (code.length > 3 ? 0 : code === 'USD' ? 1 : code === 'EUR' ? 2 : 3);
  const difference = rank(a) - rank(b);
  return difference < 0 || (difference === 0 && a < b) ? [a, b] : [b, a];
}

function describe(base: string, quote: string, reading: LegReading): RateReading {
  return {
    base,
    quote,
    rate: reading.value === undefined ? null : formatRate(reading.value),
    asOf: reading.asOf ?? null,
    sources: reading.sources,
    status: reading.status,
  };
}
