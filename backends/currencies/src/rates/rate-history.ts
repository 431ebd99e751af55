import type { RatePoint } from './rate-book.ts';
import { formatRate, invert, multiply, parseRate, type Ratio } from './ratio.ts';

/**
 * Where past rates are kept. Points of one pair are identified by their time: appending the same time again replaces
 * nothing and adds nothing, so several processes may record the same minute.
 */
export interface RateHistory {
  append(points: readonly RatePoint[]): Promise<void>;
  /** The newest `limit` points with `from <= at <= to`, oldest first, exactly for the pair as it was appended. */
  range(base: string, quote: string, from: number, to: number, limit: number): Promise<RatePoint[]>;
}

export interface MemoryHistoryOptions {
  readonly pointsPerPair?: number;
  readonly pairs?: number;
}

interface Ring {
  readonly points: (RatePoint | undefined)[];
  /** Slot of the oldest point once the ring is full, and of the next point before. */
  next: number;
  size: number;
}

/** For the stand-alone server: bounded in points and in pairs, gone with the process. */
export class MemoryRateHistory implements RateHistory {
  readonly #pointsPerPair: number;
  readonly #maxPairs: number;
  readonly #rings = new Map<string, Ring>();

  constructor(options: MemoryHistoryOptions = {}) {
    this.#pointsPerPair = options.pointsPerPair ?? 2_880;
    this.#maxPairs = options.pairs ?? 500;
    if (this.#pointsPerPair < 1 || this.#maxPairs < 1)
      throw new RangeError('a history keeps at least one point');
  }

  async append(points: readonly RatePoint[]): Promise<void> {
    for (const point of points) this.#push(point);
  }

  async range(base: string, quote: string, from: number, to: number, limit: number): Promise<RatePoint[]> {
    const ring = this.#rings.get(`${base}/${quote}`);
    if (ring === undefined || limit < 1) return [];
    const found: RatePoint[] = [];
    for (let back = 1; back <= ring.size && found.length < limit; back += 1) {
      const point = ring.points[(ring.next - back + this.#pointsPerPair) % this.#pointsPerPair];
      if (point !== undefined && point.at >= from && point.at <= to) found.push(point);
    }
    return found.reverse();
  }

  #push(point: RatePoint): void {
    const key = `${point.base}/${point.quote}`;
    let ring = this.#rings.get(key);
    if (ring === undefined) {
      // A pair beyond the limit is left out rather than another one dropped: which pairs exist is configuration.
      if (this.#rings.size >= this.#maxPairs) return;
      ring = { points: [], next: 0, size: 0 };
      this.#rings.set(key, ring);
    }
    const last = ring.points[(ring.next - 1 + this.#pointsPerPair) % this.#pointsPerPair];
    // Time runs forward in a ring: a clock that was set back adds nothing until it has caught up.
    if (ring.size > 0 && last !== undefined && point.at <= last.at) return;
    ring.points[ring.next] = point;
    ring.next = (ring.next + 1) % this.#pointsPerPair;
    ring.size = Math.min(ring.size + 1, this.#pointsPerPair);
  }
}

/**
 * History of any pair: as recorded, or turned round, or crossed through the dollar where both halves have a point of the same time
 * (the recorder aligns times, so they do).
 */
export async function readRateHistory(
  history: RateHistory,
  base: string,
  quote: string,
  from: number,
  to: number,
  limit: number,
): Promise<RatePoint[]> {
  const direct = await eitherWay(history, base, quote, from, to, limit);
  if (direct.length > 0 || base === 'USD' || quote === 'USD' || base === quote)
    return direct.map(publish(base, quote));
  const [first, second] = await Promise.all([
    eitherWay(history, base, 'USD', from, to, limit),
    eitherWay(history, 'USD', quote, from, to, limit),
  ]);
  const secondByTime = new Map(second.map(({ at, value }) => [at, value]));
  const crossed: ExactPoint[] = [];
  for (const { at, value } of first) {
    const other = secondByTime.get(at);
    if (other !== undefined) crossed.push({ at, value: multiply(value, other) });
  }
  return crossed.map(publish(base, quote));
}

interface ExactPoint {
  readonly at: number;
  readonly value: Ratio;
}

async function eitherWay(
  history: RateHistory,
  base: string,
  quote: string,
  from: number,
  to: number,
  limit: number,
): Promise<ExactPoint[]> {
  const exact = (points: readonly RatePoint[], turn: (value: Ratio) => Ratio): ExactPoint[] =>
    points.flatMap(({ at, rate }) => {
      const value = parseRate(rate);
      return value === undefined ? [] : [{ at, value: turn(value) }];
    });
  const asAsked = await history.range(base, quote, from, to, limit);
  if (asAsked.length > 0) return exact(asAsked, (value) => value);
  return exact(await history.range(quote, base, from, to, limit), invert);
}

function publish(base: string, quote: string): (point: ExactPoint) => RatePoint {
  return ({ at, value }) => ({ base, quote, rate: formatRate(value), at });
}
