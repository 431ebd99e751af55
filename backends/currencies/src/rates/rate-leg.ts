import { compare, deviatesBeyond, median, type Ratio } from './ratio.ts';

/** What one source says about one pair, in the pair's own orientation. */
export interface Contribution {
  readonly source: string;
  readonly value: Ratio;
  readonly observedAt: number;
  readonly freshUntil: number;
}

export interface GuardLimits {
  /** A source further than this from the median of all is left out. */
  readonly outlierPpm: bigint;
  /** A median further than this from the last accepted value is held back. */
  readonly jumpPpm: bigint;
  /** So many successive observations must confirm a held value before it is accepted; at least 2. */
  readonly confirmations: number;
  /** How far ahead of our clock an observation may be; beyond it a wrong clock would keep a rate fresh for ever. */
  readonly clockSkewMs: number;
}

export type RateStatus = 'fresh' | 'stale' | 'missing' | 'guarded';

export interface LegReading {
  readonly status: RateStatus;
  readonly value?: Ratio;
  readonly asOf?: number;
  readonly sources: readonly string[];
}

interface Accepted {
  readonly value: Ratio;
  /** The oldest observation that went into the value: it is as old as its oldest part. */
  readonly asOf: number;
  readonly validUntil: number;
  readonly sources: readonly string[];
}

interface Held {
  /** Undefined while the sources contradict each other and none of them is near the last accepted value. */
  readonly value: Ratio | undefined;
  readonly confirmations: number;
}

/** One pair: the latest word of each source, the value we stand by, and the value waiting to be believed. */
export class RateLeg {
  readonly #limits: GuardLimits;
  readonly #contributions = new Map<string, Contribution>();
  #accepted: Accepted | undefined;
  #held: Held | undefined;
  /** Observations that agreed with the accepted value: below `confirmations` it is too young to settle a dispute. */
  #support = 0;

  constructor(limits: GuardLimits) {
    this.#limits = limits;
  }

  /** Returns whether what a reader sees has changed. */
  record(contribution: Contribution, now: number): boolean {
    const previous = this.#contributions.get(contribution.source);
    const replacesFuture = previous !== undefined && this.#isAhead(previous.observedAt, now);
    if (previous !== undefined && !replacesFuture && contribution.observedAt < previous.observedAt)
      return false;
    // The same fixing read twice is one observation: it must not confirm itself.
    const isNews = previous === undefined || replacesFuture || contribution.observedAt > previous.observedAt;
    const before = this.#accepted;
    const heldBefore = this.#held;
    this.#contributions.set(contribution.source, contribution);
    this.#settle(now, isNews ? contribution : undefined);
    const sameValue =
      before !== undefined &&
      this.#accepted !== undefined &&
      compare(before.value, this.#accepted.value) === 0 &&
      now <= before.validUntil;
    return !sameValue || (heldBefore === undefined) !== (this.#held === undefined);
  }

  /** A value known from before a restart: too old to price on, good enough to judge the first observation by. */
  restore(value: Ratio, asOf: number): void {
    if (this.#accepted !== undefined) return;
    this.#accepted = { value, asOf, validUntil: asOf, sources: [] };
    this.#support = this.#limits.confirmations;
  }

  /** An operator vouches for the held value; answers whether there was one. */
  acceptHeld(now: number): boolean {
    if (this.#held?.value === undefined) return false;
    const before = { accepted: this.#accepted, held: this.#held };
    this.#accepted = undefined;
    this.#settle(now, undefined);
    if (this.#accepted === undefined) {
      // Nothing fresh is left to vouch for.
      this.#accepted = before.accepted;
      this.#held = before.held;
      return false;
    }
    this.#support = this.#limits.confirmations;
    return true;
  }

  read(now: number): LegReading {
    // A source that fell silent drops out of the median; the others carry the pair on.
    if (this.#accepted !== undefined && now > this.#accepted.validUntil) this.#settle(now, undefined);
    const accepted = this.#accepted;
    if (accepted === undefined)
      return { status: this.#held === undefined ? 'missing' : 'guarded', sources: [] };
    const expired = now > accepted.validUntil || this.#isAhead(accepted.asOf, now);
    const status = expired ? 'stale' : this.#held === undefined ? 'fresh' : 'guarded';
    return { status, value: accepted.value, asOf: accepted.asOf, sources: accepted.sources };
  }

  #settle(now: number, news: Contribution | undefined): void {
    const fresh = [...this.#contributions.values()].filter(
      ({ freshUntil, observedAt }) => now <= freshUntil && !this.#isAhead(observedAt, now),
    );
    if (fresh.length === 0) return;
    const agreeing = this.#agreeing(fresh);
    if (agreeing.length === 0) {
      this.#held = { value: undefined, confirmations: 0 };
      return;
    }
    const candidate = median(agreeing.map(({ value }) => value));
    const supported = news !== undefined && agreeing.includes(news);
    const { jumpPpm, confirmations } = this.#limits;
    if (this.#accepted === undefined || !deviatesBeyond(candidate, this.#accepted.value, jumpPpm)) {
      if (supported) this.#support += 1;
      this.#accept(candidate, agreeing);
      return;
    }
    this.#hold(candidate, supported);
    if (this.#held !== undefined && this.#held.confirmations >= confirmations) {
      this.#support = confirmations;
      this.#accept(candidate, agreeing);
    }
  }

  #accept(value: Ratio, from: readonly Contribution[]): void {
    this.#held = undefined;
    this.#accepted = {
      value,
      asOf: Math.min(...from.map(({ observedAt }) => observedAt)),
      validUntil: Math.min(...from.map(({ freshUntil }) => freshUntil)),
      sources: from.map(({ source }) => source).sort(),
    };
  }

  #hold(candidate: Ratio, supported: boolean): void {
    const earlier = this.#held;
    const continues =
      earlier?.value !== undefined && !deviatesBeyond(candidate, earlier.value, this.#limits.outlierPpm);
    const counted = continues ? earlier.confirmations : 0;
    this.#held = { value: candidate, confirmations: counted + (supported ? 1 : 0) };
  }

  /**
   * The sources near the median, if they are a majority. Where there is no majority (two that contradict each other), the
   * last accepted value decides, once it has been supported often enough to be trusted with that.
   */
  #agreeing(fresh: readonly Contribution[]): readonly Contribution[] {
    const { outlierPpm, confirmations } = this.#limits;
    const middle = median(fresh.map(({ value }) => value));
    const near = fresh.filter(({ value }) => !deviatesBeyond(value, middle, outlierPpm));
    if (near.length * 2 > fresh.length) return near;
    const reference = this.#accepted?.value;
    if (reference === undefined || this.#support < confirmations) return [];
    return fresh.filter(({ value }) => !deviatesBeyond(value, reference, outlierPpm));
  }

  #isAhead(observedAt: number, now: number): boolean {
    return observedAt > now + this.#limits.clockSkewMs;
  }
}
