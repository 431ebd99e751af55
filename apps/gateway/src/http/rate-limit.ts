import { type Database, SYSTEM } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { Logger } from '../lib/logger.ts';

/**
 * Requests per minute and bucket, shared by all processes through one counter in the database.
 *
 * Far from the limit a request is counted in memory and the count is pushed in the background, so the hot
 * path waits for nothing. Near the limit, or where the limit is small, every request is counted in the
 * database first, so the limit is exact where it matters. What several processes may let through on
 * credit is at most CREDIT_SHARE of the limit each.
 */
export interface RateLimit {
  take(bucket: string, limit: number): Verdict | Promise<Verdict>;
  /** As far as this process knows, whether the bucket is used up; takes nothing and makes no query. */
  isUsedUp(bucket: string, limit: number): Verdict | null;
  /** Purges windows that are over, here and in the database. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

const WINDOW_SECONDS = 60;
const CREDIT_SHARE = 0.02;
const SCARCE_SHARE = 0.8;
const PUSH_INTERVAL_MS = 200;
const MAX_BUCKETS = 100_000;

interface Window {
  readonly start: number;
  /** Requests counted in the database when we last looked, ours included. */
  shared: number;
  /** Ours that are not counted there yet. */
  unpushed: number;
}

const addToWindow = statement<[bucket: string, windowStart: number, used: number], { used: string }>(
  'rate_limit.add',
  `INSERT INTO rate_limit_windows AS w (bucket, window_start, used) VALUES ($1, $2, $3)
   ON CONFLICT (bucket, window_start) DO UPDATE SET used = w.used + excluded.used
   RETURNING used::text`,
);
const addToWindows = statement<
  [buckets: readonly string[], windowStarts: readonly number[], used: readonly number[]],
  { bucket: string; window_start: string; used: string }
>(
  'rate_limit.add_many',
  `INSERT INTO rate_limit_windows AS w (bucket, window_start, used)
   SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS counted (bucket, window_start, used) ORDER BY bucket
   ON CONFLICT (bucket, window_start) DO UPDATE SET used = w.used + excluded.used
   RETURNING bucket, window_start::text, used::text`,
);
const purgeWindows = statement<[before: number]>(
  'rate_limit.purge',
  'DELETE FROM rate_limit_windows WHERE window_start < $1',
);

export function createRateLimit(db: Database, wall: () => number, logger: Logger): RateLimit {
  const windows = new Map<string, Window>();
  let pushing: Promise<void> | undefined;
  const timer = setInterval(() => {
    pushing ??= push().finally(() => {
      pushing = undefined;
    });
  }, PUSH_INTERVAL_MS);
  timer.unref();

  async function push(): Promise<void> {
    const dirty = [...windows].filter(([, window]) => window.unpushed > 0);
    if (dirty.length === 0) return;
    const counts = dirty.map(([, window]) => window.unpushed);
    for (const [, window] of dirty) window.unpushed = 0;
    try {
      const rows = await db.query(SYSTEM, addToWindows, [
        dirty.map(([bucket]) => bucket),
        dirty.map(([, window]) => window.start),
        counts,
      ]);
      for (const row of rows) {
        const window = windows.get(row.bucket);
        // Answers may overtake each other; a count only grows.
        if (window?.start === Number(row.window_start))
          window.shared = Math.max(window.shared, Number(row.used));
      }
    } catch (error) {
      dirty.forEach(([, window], index) => {
        window.unpushed += counts[index] ?? 0;
      });
      logger.warn({ err: error }, 'sharing request counts failed');
    }
  }

  function windowOf(bucket: string, start: number): Window {
    const known = windows.get(bucket);
    if (known?.start === start) return known;
    // An attacker with many addresses must not fill the memory; dropping counts only errs on the kind side.
    if (windows.size >= MAX_BUCKETS) windows.clear();
    const fresh: Window = { start, shared: 0, unpushed: 0 };
    windows.set(bucket, fresh);
    return fresh;
  }

  async function takeShared(bucket: string, window: Window, limit: number, reset: number): Promise<Verdict> {
    const counted = window.unpushed + 1;
    window.unpushed = 0;
    try {
      const rows = await db.query(SYSTEM, addToWindow, [bucket, window.start, counted]);
      const used = Number(rows[0]?.used ?? counted);
      window.shared = Math.max(window.shared, used);
      return verdict(used <= limit, limit, used, reset);
    } catch (error) {
      // Without the shared count, each process still holds its own line.
      window.shared += counted;
      logger.warn({ err: error }, 'counting a request failed');
    }
    return verdict(window.shared <= limit, limit, window.shared, reset);
  }

  return {
    take(bucket, limit) {
      const { start, reset } = windowAt(wall());
      const window = windowOf(bucket, start);
      const used = window.shared + window.unpushed;
      // Counts only grow within a window: once over, there is nothing to ask.
      if (window.shared >= limit) return verdict(false, limit, used, reset);
      if (
        window.unpushed < limit * CREDIT_SHARE &&
        used < limit * SCARCE_SHARE &&
        limit * CREDIT_SHARE >= 1
      ) {
        window.unpushed++;
        return verdict(true, limit, used + 1, reset);
      }
      return takeShared(bucket, window, limit, reset);
    },
    isUsedUp(bucket, limit) {
      const { start, reset } = windowAt(wall());
      const window = windows.get(bucket);
      const used = window?.start === start ? window.shared + window.unpushed : 0;
      return used >= limit ? verdict(false, limit, used, reset) : null;
    },
    async sweep() {
      const before = Math.floor(wall() / 1_000) - 2 * WINDOW_SECONDS;
      for (const [bucket, window] of windows) if (window.start < before) windows.delete(bucket);
      await db.query(SYSTEM, purgeWindows, [before]);
    },
    async stop() {
      clearInterval(timer);
      await pushing;
      await push();
    },
  };
}

function windowAt(now: number): { readonly start: number; readonly reset: number } {
  const seconds = Math.floor(now / 1_000);
  const start = seconds - (seconds % WINDOW_SECONDS);
  return { start, reset: start + WINDOW_SECONDS - seconds };
}

function verdict(allowed: boolean, limit: number, used: number, resetSeconds: number): Verdict {
  return { allowed, limit, remaining: Math.max(0, limit - used), resetSeconds };
}
