import type { Metrics } from '../lib/metrics.ts';
import type { Verdict } from './rate-limit.ts';

/**
 * How much of a process one partner has. While several partners are served, only so many requests of each are in work at a
 * time, and all of its requests together only for a share of the time; the others of the same partner wait in a line of
 * its own. A request that comes then meets little of the others', however much was sent. A burst is let through. A partner
 * that is alone has everything, and pays nothing for this.
 *
 * A turn is had by a route's own work, after the body was read and judged, and not by what waits for an external service.
 */
export interface Turns {
  /** Does the work at once, or when it is this asker's turn; throws what `refuse` makes of it where its line is too long. */
  take<T>(asker: string, work: () => Promise<T> | T, refuse: (full: Verdict) => unknown): Promise<T> | T;
}

export interface TurnsOptions {
  /** Hundredths of the time that one asker's requests may be in work; 0 for no bounds at all. */
  readonly sharePct: number;
  /** Milliseconds, with fractions. */
  readonly now: () => number;
  readonly metrics: Pick<Metrics, 'httpRequests' | 'httpTurnsRefusedTotal'>;
}

/** After this long without another asker, one is taken to be alone. */
const COMPANY_MS = 60_000;
const AT_ONCE = 4;
/** Work that may be done without a pause: dozens of small requests. */
const BURST_MS = 100;
/** What a request costs at most: one that a slow database holds up must not be held against its partner as well. */
const DEAREST_MS = 10;
/** More than any client keeps connections. */
const LONGEST_LINE = 1_000;
const LINE_FULL: Verdict = { allowed: false, limit: LONGEST_LINE, remaining: 0, resetSeconds: 1 };

interface Line {
  inWork: number;
  /** Milliseconds of work that it has left, as of `countedAt`. */
  credit: number;
  countedAt: number;
  readonly waiting: (() => void)[];
  /** Set while it waits for credit. */
  timer: NodeJS.Timeout | undefined;
}

export function createTurns({ sharePct, now, metrics }: TurnsOptions): Turns {
  const share = sharePct / 100;
  const lines = new Map<string, Line>();
  let latest: string | undefined;
  let companyUntil = 0;

  /** Whether another partner called lately. */
  function hasCompany(asker: string): boolean {
    const at = now();
    if (asker !== latest) {
      if (latest !== undefined) companyUntil = at + COMPANY_MS;
      latest = asker;
    }
    return at < companyUntil;
  }

  function lineOf(asker: string): Line {
    const known = lines.get(asker);
    if (known !== undefined) return known;
    const line = { inWork: 0, credit: BURST_MS, countedAt: now(), waiting: [], timer: undefined };
    lines.set(asker, line);
    return line;
  }

  function creditOf(line: Line): number {
    const at = now();
    line.credit = Math.min(BURST_MS, line.credit + (at - line.countedAt) * share);
    line.countedAt = at;
    return line.credit;
  }

  /** What is in work may cost the most; where little credit is left, one follows the other. */
  function isFree(line: Line): boolean {
    return line.inWork < AT_ONCE && creditOf(line) > line.inWork * DEAREST_MS;
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
    const turn = new Promise<void>((resolve) => line.waiting.push(resolve));
    goOn(line);
    return turn;
  }

  function goOn(line: Line): void {
    while (line.waiting.length > 0 && isFree(line)) {
      metrics.httpRequests.waiting--;
      line.inWork++;
      line.waiting.shift()?.();
    }
    if (line.waiting.length === 0 || line.inWork >= AT_ONCE || line.timer !== undefined) return;
    line.timer = setTimeout(
      () => {
        line.timer = undefined;
        goOn(line);
      },
      Math.max(1, -line.credit / share),
    );
  }

  async function inTurn<T>(
    asker: string,
    work: () => Promise<T> | T,
    refuse: (full: Verdict) => unknown,
  ): Promise<T> {
    const line = lineOf(asker);
    const turn = begin(line, refuse);
    if (turn !== undefined) await turn;
    const began = now();
    try {
      return await work();
    } finally {
      line.inWork--;
      line.credit -= Math.min(now() - began, DEAREST_MS);
      goOn(line);
    }
  }

  return {
    take(asker, work, refuse) {
      return share > 0 && hasCompany(asker) ? inTurn(asker, work, refuse) : work();
    },
  };
}
