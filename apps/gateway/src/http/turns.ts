import type { Metrics } from '../lib/metrics.ts';
import type { Verdict } from './rate-limit.ts';

/**
 * How much of a process one partner has at a time. While several partners are served, only so many requests of each are
 * in work; the others of the same partner wait in a line of its own, so that whoever comes meets at most that many of
 * anybody else's, however many were sent. A partner that is alone has everything, and pays nothing for this.
 *
 * A turn is had by a route's own work, after the body was read and judged, and not by what waits for somebody outside.
 */
export interface Turns {
  /** Does the work at once, or when it is this asker's turn; throws what `refuse` makes of it where its line is too long. */
  take<T>(asker: string, work: () => Promise<T> | T, refuse: (full: Verdict) => unknown): Promise<T> | T;
}

export interface TurnsOptions {
  /** Requests of one asker in work at a time; 0 for any number. */
  readonly atOnce: number;
  readonly wall: () => number;
  readonly metrics: Pick<Metrics, 'httpRequests' | 'httpTurnsRefusedTotal'>;
}

/** After this long without another asker, one is taken to be alone. */
const COMPANY_MS = 60_000;
/** More than any client keeps connections. */
const LONGEST_LINE = 1_000;
const LINE_FULL: Verdict = { allowed: false, limit: LONGEST_LINE, remaining: 0, resetSeconds: 1 };

interface Line {
  inWork: number;
  readonly waiting: (() => void)[];
}

export function createTurns({ atOnce, wall, metrics }: TurnsOptions): Turns {
  const lines = new Map<string, Line>();
  let latest: string | undefined;
  let companyUntil = 0;

  /** Whether anybody but this asker was here lately. */
  function hasCompany(asker: string): boolean {
    const now = wall();
    if (asker !== latest) {
      if (latest !== undefined) companyUntil = now + COMPANY_MS;
      latest = asker;
    }
    return now < companyUntil;
  }

  /** The longest line, once it is longer than a burst makes it, is served one at a time. */
  function isFree(line: Line): boolean {
    if (line.inWork === 0) return true;
    if (line.inWork >= atOnce) return false;
    if (line.waiting.length < 2 * atOnce) return true;
    for (const other of lines.values()) if (other.waiting.length > line.waiting.length) return true;
    return false;
  }

  /** Takes a place in work, at once or in turn. */
  function begin(line: Line, refuse: (full: Verdict) => unknown): Promise<void> | undefined {
    if (line.waiting.length === 0 && isFree(line)) {
      line.inWork++;
      return undefined;
    }
    if (line.waiting.length >= LONGEST_LINE) {
      metrics.httpTurnsRefusedTotal.inc();
      throw refuse(LINE_FULL);
    }
    metrics.httpRequests.waiting++;
    return new Promise((resolve) => line.waiting.push(resolve));
  }

  function end(asker: string, line: Line): void {
    line.inWork--;
    while (line.waiting.length > 0 && isFree(line)) {
      metrics.httpRequests.waiting--;
      line.inWork++;
      line.waiting.shift()?.();
    }
    if (line.inWork === 0) lines.delete(asker);
  }

  async function inTurn<T>(
    asker: string,
    work: () => Promise<T> | T,
    refuse: (full: Verdict) => unknown,
  ): Promise<T> {
    const line = lines.get(asker) ?? { inWork: 0, waiting: [] };
    lines.set(asker, line);
    const turn = begin(line, refuse);
    if (turn !== undefined) await turn;
    try {
      return await work();
    } finally {
      end(asker, line);
    }
  }

  return {
    take(asker, work, refuse) {
      return atOnce > 0 && hasCompany(asker) ? inTurn(asker, work, refuse) : work();
    },
  };
}
