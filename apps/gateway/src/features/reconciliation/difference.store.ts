import type { DifferenceKind } from '@causeway/protocol/console';
import { statement } from '../../db/statement.ts';

/** SQL of what the reconciliation found, and of how far it has come. */

/** Of several workers one does it: machine time, so that moving a sandbox’s clock neither hurries nor stops it. */
export const beginRun = statement<[at: Date, notSince: Date], { singleton: boolean }>(
  'reconciliation.begin',
  `UPDATE reconciliation_runs SET started_at = $1 WHERE started_at IS NULL OR started_at <= $2 RETURNING singleton`,
);

export const finishRun = statement<[at: Date, checked: number, unreachable: number]>(
  'reconciliation.finish',
  `UPDATE reconciliation_runs SET finished_at = $1, checked = $2, unreachable = $3,
          different = (SELECT count(*) FROM reconciliation_differences)`,
);

export interface RunRow {
  finished_at: Date | null;
  checked: number;
  different: number;
  unreachable: number;
}

export const lastRun = statement<[], RunRow>(
  'reconciliation.last_run',
  'SELECT finished_at, checked, different, unreachable FROM reconciliation_runs',
);

export const readCursors = statement<[], { part: string; cursor: string | null }>(
  'reconciliation.cursors',
  'SELECT part, cursor FROM reconciliation_cursors',
);

export const saveCursor = statement<[part: string, cursor: string | null, at: Date]>(
  'reconciliation.save_cursor',
  `INSERT INTO reconciliation_cursors AS c (part, cursor, rounds, updated_at)
   VALUES ($1, $2, CASE WHEN $2::text IS NULL THEN 1 ELSE 0 END, $3)
   ON CONFLICT (part) DO UPDATE SET cursor = $2, updated_at = $3,
     rounds = c.rounds + CASE WHEN $2::text IS NULL THEN 1 ELSE 0 END`,
);

export interface DifferenceRow {
  difference_id: string;
  kind: DifferenceKind;
  subject: string;
  order_id: string | null;
  about: string | null;
  asset: string | null;
  escrow_address: string | null;
  expected: string;
  found: string;
  difference: string | null;
  first_seen_at: Date;
  last_seen_at: Date;
}

const COLUMNS = `difference_id, kind, subject, order_id, about, asset, escrow_address, expected, found, difference,
  first_seen_at, last_seen_at`;

export const keepDifference = statement<
  [
    differenceId: string,
    kind: DifferenceKind,
    subject: string,
    orderId: string | null,
    about: string | null,
    asset: string | null,
    escrowAddress: string | null,
    expected: string,
    found: string,
    difference: string | null,
    at: Date,
  ]
>(
  'reconciliation.keep',
  `INSERT INTO reconciliation_differences (${COLUMNS})
   VALUES ($1, $2, $2 || ':' || $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
   ON CONFLICT (subject) DO UPDATE SET expected = $8, found = $9, difference = $10, last_seen_at = $11`,
);

export const dropDifference = statement<[differenceId: string]>(
  'reconciliation.drop',
  'DELETE FROM reconciliation_differences WHERE difference_id = $1',
);

export const findDifference = statement<[differenceId: string], DifferenceRow>(
  'reconciliation.find',
  `SELECT ${COLUMNS} FROM reconciliation_differences WHERE difference_id = $1`,
);

/** Those that were looked at longest ago first. */
export const staleDifferences = statement<[limit: number], DifferenceRow>(
  'reconciliation.stale',
  `SELECT ${COLUMNS} FROM reconciliation_differences ORDER BY last_seen_at, difference_id LIMIT $1`,
);

export const listDifferences = statement<[limit: number], DifferenceRow>(
  'reconciliation.list',
  `SELECT ${COLUMNS} FROM reconciliation_differences ORDER BY first_seen_at, difference_id LIMIT $1`,
);

export const countDifferences = statement<[], { kind: DifferenceKind; total: number }>(
  'reconciliation.count',
  'SELECT kind, count(*)::int AS total FROM reconciliation_differences GROUP BY kind',
);
