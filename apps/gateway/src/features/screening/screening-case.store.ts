import { orderStatusesWithOutcome, SCREENING_CLEAR, type ScreeningStatus } from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';

const CLEAR = sqlWords(SCREENING_CLEAR);
const ENDED = sqlWords(orderStatusesWithOutcome('settled', 'stopped'));

export type CaseSubject = 'destination' | 'payment_details' | 'wallet';

export interface ScreeningCaseRow {
  case_id: string;
  partner_id: string | null;
  subject_kind: CaseSubject;
  subject_key: string;
  screening_status: ScreeningStatus;
  screening_round: number;
  decided_by_person: boolean;
  list_version: string | null;
  hits_sealed: string | null;
  listed: string[];
  screened_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = `case_id, partner_id, subject_kind, subject_key, screening_status, screening_round, decided_by_person,
  list_version, hits_sealed, listed, screened_at, created_at, updated_at`;

/** Two that take the same wallet at once write one case. */
export const insertCase = statement<
  [
    caseId: string,
    partnerId: string | null,
    subjectKind: string,
    subjectKey: string,
    status: string,
    round: number,
    listVersion: string | null,
    hitsSealed: string | null,
    listed: readonly string[],
    screenedAt: Date | null,
    at: Date,
  ]
>(
  'screening.insert_case',
  `INSERT INTO screening_cases (case_id, partner_id, subject_kind, subject_key, screening_status, screening_round,
     list_version, hits_sealed, listed, screened_at, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) ON CONFLICT DO NOTHING`,
);

export const setCase = statement<
  [caseId: string, status: string, round: number, decidedByPerson: boolean, at: Date]
>(
  'screening.set_case',
  `UPDATE screening_cases SET screening_status = $2, screening_round = $3, decided_by_person = $4, updated_at = $5
    WHERE case_id = $1`,
);

export const recordScreening = statement<
  [caseId: string, listVersion: string, hitsSealed: string | null, listed: readonly string[], at: Date]
>(
  'screening.record',
  `UPDATE screening_cases SET list_version = $2, hits_sealed = $3, listed = $4, screened_at = $5 WHERE case_id = $1`,
);

export const findCase = statement<[caseId: string], ScreeningCaseRow>(
  'screening.find_case',
  `SELECT ${COLUMNS} FROM screening_cases WHERE case_id = $1`,
);

export const lockCase = statement<[caseId: string], ScreeningCaseRow>(
  'screening.lock_case',
  `SELECT ${COLUMNS} FROM screening_cases WHERE case_id = $1 FOR UPDATE`,
);

export const lockCaseOfWallet = statement<[address: string], ScreeningCaseRow>(
  'screening.lock_case_of_wallet',
  `SELECT ${COLUMNS} FROM screening_cases WHERE subject_kind = 'wallet' AND subject_key = lower($1) FOR UPDATE`,
);

/** Of one address, destination or set of payment details, clear or not. */
export const casesOfSubject = statement<[subjectKey: string], ScreeningCaseRow>(
  'screening.cases_of_subject',
  `SELECT ${COLUMNS} FROM screening_cases
    WHERE subject_kind IN ('destination', 'payment_details', 'wallet') AND subject_key = lower($1)`,
);

export const walletsNotClear = statement<[addresses: readonly string[]], { address: string }>(
  'screening.wallets_not_clear',
  `SELECT subject_key AS address FROM screening_cases
    WHERE screening_status <> ${CLEAR} AND subject_kind = 'wallet' AND subject_key = ANY($1::text[])`,
);

type Filter = [statuses: readonly string[], subjectKind: string | null];
const FILTER = `screening_status = ANY($1::text[]) AND screening_status <> ${CLEAR}
  AND ($2::text IS NULL OR subject_kind = $2)`;

export const listCases = statement<[...Filter, limit: number, offset: number], ScreeningCaseRow>(
  'screening.list_cases',
  `SELECT ${COLUMNS} FROM screening_cases WHERE ${FILTER} ORDER BY updated_at, case_id LIMIT $3 OFFSET $4`,
);

export const countCases = statement<Filter, { total: string }>(
  'screening.count_cases',
  `SELECT count(*) AS total FROM screening_cases WHERE ${FILTER}`,
);

/**
 * Wallets of partners, of vendors that serve, and of customers whose orders may still pay them: never screened, or not for
 * a while. A person's word stands.
 */
export const walletsDue = statement<[screenedBefore: Date, limit: number], { address: string }>(
  'screening.wallets_due',
  `SELECT w.address
     FROM (SELECT lower(wallet_address) AS address FROM partners
           UNION SELECT lower(wallet_address) FROM vendors WHERE active
           UNION SELECT lower(customer_wallet) FROM orders
                  WHERE customer_wallet IS NOT NULL AND facts ->> 'escrow' <> 'emptied'
                    AND (facts ->> 'escrow' <> 'none' OR status NOT IN (${ENDED}))) w
     LEFT JOIN screening_cases c ON c.subject_kind = 'wallet' AND c.subject_key = w.address
    WHERE c.case_id IS NULL
       OR (c.screening_status = ${CLEAR} AND NOT c.decided_by_person AND c.screened_at < $1)
    ORDER BY c.screened_at NULLS FIRST LIMIT $2`,
);
