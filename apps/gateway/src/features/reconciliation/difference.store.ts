import { statement } from '../../../db/statement.ts';

/** SQL of what the last reconciliation found. */

/** Of several workers one does it: machine time, so that moving a sandbox’s clock neither hurries nor stops it. */
export const beginRun = statement<[at: Date, notSince: Date], { singleton: boolean }>(
  'reconciliation.begin',
  `UPDATE reconciliation_runs SET started_at = $1 WHERE started_at IS NULL OR started_at <= $2 RETURNING singleton`,
);

export const finishRun = statement<[at: Date, checked: number, different: number, unreachable: number]>(
  'reconciliation.finish',
  'UPDATE reconciliation_runs SET finished_at = $1, checked = $2, different = $3, unreachable = $4',
);

export interface DifferenceRow {
  difference_id: string;
  subject: string;
  order_id: string | null;
  asset: string;
  escrow_address: string | null;
  booked: string;
  found: string;
  difference: string;
  first_seen_at: Date;
  last_seen_at: Date;
}

const COLUMNS = `difference_id, subject, order_id, asset, escrow_address, booked, found, difference, first_seen_at,
  last_seen_at`;

export const keepDifference = statement<
  [
    differenceId: string,
    subject: string,
    orderId: string | null,
    asset: string,
    escrowAddress: string | null,
    booked: string,
    found: string,
    difference: string,
    at: Date,
  ]
>(
  'reconciliation.keep',
  `INSERT INTO reconciliation_differences (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
   ON CONFLICT (subject) DO UPDATE SET booked = $6, found = $7, difference = $8, last_seen_at = $9`,
);

/** All that was not found again, but for what could not be looked at. */
export const dropOtherDifferences = statement<[kept: readonly string[]]>(
  'reconciliation.drop_others',
  'DELETE FROM reconciliation_differences WHERE subject <> ALL($1::text[])',
);

export const dropDifference = statement<[subject: string]>(
  'reconciliation.drop',
  'DELETE FROM reconciliation_differences WHERE subject = $1',
);

export const findDifference = statement<[differenceId: string], DifferenceRow>(
  'reconciliation.find',
  `SELECT ${COLUMNS} FROM reconciliation_differences WHERE difference_id = $1`,
);

export const countDifferences = statement<[], { total: number }>(
  'reconciliation.count',
  'SELECT count(*)::int AS total FROM reconciliation_differences',
);
