import type { RateHistory, RatePoint } from '@causeway/currencies';
import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

export { type RateHistory, readRateHistory } from '@causeway/currencies';

/** All SQL of the rates. */
export interface BookRow {
  legs: unknown;
  published_at: Date | null;
}

export const readBook = statement<[], BookRow>('rates.book', 'SELECT legs, published_at FROM rate_book');

/** Answers a row to the process that holds the book from now on. Times are the database's own, so no two machines disagree. */
export const holdBook = statement<[holder: string, leaseMs: number], { holder: string }>(
  'rates.hold',
  `UPDATE rate_book SET holder = $1, held_until = clock_timestamp() + $2::int * interval '1 millisecond'
    WHERE holder = $1 OR holder IS NULL OR held_until < clock_timestamp()
   RETURNING holder`,
);

export const releaseBook = statement<[holder: string]>(
  'rates.release',
  'UPDATE rate_book SET holder = NULL, held_until = NULL WHERE holder = $1',
);

/** Only the holder may publish: one that was away too long finds itself replaced and writes nothing. */
export const publishBook = statement<[holder: string, legs: string, publishedAt: Date], { holder: string }>(
  'rates.publish',
  'UPDATE rate_book SET legs = $2::jsonb, published_at = $3 WHERE holder = $1 RETURNING holder',
);

const appendPoints = statement<
  [bases: readonly string[], quotes: readonly string[], rates: readonly string[], times: readonly Date[]]
>(
  'rates.append',
  `INSERT INTO rate_points (base, quote, rate, at)
   SELECT * FROM unnest($1::text[], $2::text[], $3::numeric[], $4::timestamptz[])
   ON CONFLICT (base, quote, at) DO NOTHING`,
);

interface PointRow {
  base: string;
  quote: string;
  rate: string;
  at: Date;
}

const pointsBetween = statement<[base: string, quote: string, from: Date, to: Date, limit: number], PointRow>(
  'rates.between',
  `SELECT base, quote, trim_scale(rate)::text AS rate, at FROM rate_points
    WHERE base = $1 AND quote = $2 AND at BETWEEN $3 AND $4
    ORDER BY at DESC LIMIT $5`,
);

const newestPoints = statement<[since: Date], PointRow>(
  'rates.newest',
  `SELECT DISTINCT ON (base, quote) base, quote, trim_scale(rate)::text AS rate, at FROM rate_points
    WHERE at >= $1 ORDER BY base, quote, at DESC`,
);

const purgePoints = statement<[before: Date]>('rates.purge', 'DELETE FROM rate_points WHERE at < $1');

export interface StoredRateHistory extends RateHistory {
  newest(since: number): Promise<RatePoint[]>;
  purge(before: number): Promise<void>;
}

export function createRateHistory(db: Database): StoredRateHistory {
  return {
    async append(points) {
      await db.query(SYSTEM, appendPoints, [
        points.map(({ base }) => base),
        points.map(({ quote }) => quote),
        points.map(({ rate }) => rate),
        points.map(({ at }) => new Date(at)),
      ]);
    },
    async range(base, quote, from, to, limit) {
      const rows = await db.query(SYSTEM, pointsBetween, [base, quote, new Date(from), new Date(to), limit]);
      return rows.map(pointOf).reverse();
    },
    async newest(since) {
      return (await db.query(SYSTEM, newestPoints, [new Date(since)])).map(pointOf);
    },
    async purge(before) {
      await db.query(SYSTEM, purgePoints, [new Date(before)]);
    },
  };
}

function pointOf({ base, quote, rate, at }: PointRow): RatePoint {
  return { base, quote, rate, at: at.getTime() };
}
