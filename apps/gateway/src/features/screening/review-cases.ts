import type { ScreeningStatus } from '@causeway/protocol';
import { SYSTEM } from '../../db/database.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import type { ScreeningHit } from '../recipients/screening/screening.port.ts';
import type { HolderReader } from './screen-case.effect.ts';
import {
  type CaseSubject,
  casesOfSubject,
  countCases,
  listCases,
  type ScreeningCaseRow,
} from './screening-case.store.ts';
import { openHits } from './screening-case.ts';

export interface CaseReviewTools extends UnitTools {
  readonly holders: Readonly<Record<'destination' | 'payment_details', HolderReader>>;
}

export interface CaseToReview {
  readonly row: ScreeningCaseRow;
  readonly hits: readonly ScreeningHit[];
}

/** Cases that are not clear, with what was found. Of somebody who is forgotten nothing can be read any more. */
export async function screeningCases(
  tools: CaseReviewTools,
  wanted: {
    readonly statuses: readonly ScreeningStatus[];
    readonly subject_kind?: CaseSubject | undefined;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<{ readonly cases: readonly CaseToReview[]; readonly total: number }> {
  const { statuses, subject_kind: kind = null, limit, offset } = wanted;
  const [rows, [count]] = await tools.db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(listCases, [statuses, kind, limit, offset], countCases, [statuses, kind]),
  );
  const cases: CaseToReview[] = [];
  for (const row of rows) cases.push({ row, hits: await hitsOf(tools, row) });
  return { cases, total: Number(count?.total ?? 0) };
}

/** The cases about one subject, clear or not: an operator may know more than a list. */
export async function casesAbout(tools: CaseReviewTools, subject: string): Promise<readonly CaseToReview[]> {
  const rows = await tools.db.query(SYSTEM, casesOfSubject, [subject]);
  return Promise.all(rows.map(async (row) => ({ row, hits: await hitsOf(tools, row) })));
}

async function hitsOf({ holders }: CaseReviewTools, row: ScreeningCaseRow): Promise<ScreeningHit[]> {
  if (row.subject_kind === 'wallet' || row.hits_sealed === null) return [];
  const holder = await holders[row.subject_kind](row.subject_key);
  return holder === undefined ? [] : openHits(holder.vault, row);
}
