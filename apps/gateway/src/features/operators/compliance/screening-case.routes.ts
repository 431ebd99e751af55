import {
  OPEN_SCREENING_STATUSES,
  OPERATOR_TAG,
  SCREENING_DECISION_TRIGGERS,
  ScreeningCaseDecisionInput,
  ScreeningCaseDecisionSchema,
  ScreeningCaseListSchema,
  ScreeningCaseParams,
  ScreeningCaseQuery,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { recordAction } from '../../../engine/audit.ts';
import { route } from '../../../http/route.ts';
import {
  type CaseReviewDeps,
  type CaseToReview,
  casesAbout,
  screeningCases,
} from '../../screening/screen-wallet.ts';
import { decideCase } from '../../screening/screening-case.ts';

const CASES = '/api/v1/operator/screening-cases';

export function screeningCaseView({ row, hits }: CaseToReview) {
  return {
    case_id: row.case_id,
    partner_id: row.partner_id,
    subject_kind: row.subject_kind,
    subject: row.subject_key,
    screening_status: row.screening_status,
    decided_by_person: row.decided_by_person,
    list_version: row.list_version,
    listed: row.listed,
    hits: hits.map(({ entryId, listedName, score }) => ({
      entry_id: entryId,
      listed_name: listedName,
      score,
    })),
    waiting_since: row.updated_at.toISOString(),
  };
}

/** What an operator does about account holders and wallets that a screening found. */
export function registerScreeningCaseRoutes(app: FastifyInstance, deps: CaseReviewDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: CASES,
    operationId: 'listScreeningCases',
    tag: OPERATOR_TAG,
    summary: 'List screening cases of account holders and wallets, longest first',
    description: 'Recipients’ own names are in GET /operator/screening-reviews.',
    query: ScreeningCaseQuery,
    data: ScreeningCaseListSchema,
    handle: async ({ query: { limit, offset, status, subject_kind, subject } }) => {
      const statuses = status === undefined ? OPEN_SCREENING_STATUSES : [status];
      const known = subject === undefined ? undefined : await casesAbout(deps, subject);
      const { cases, total } =
        known === undefined
          ? await screeningCases(deps, { statuses, subject_kind, limit, offset })
          : { cases: known, total: known.length };
      return {
        cases: cases.map(screeningCaseView),
        pagination: { total, limit, offset },
      };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${CASES}/:case_id/decision`,
    operationId: 'decideScreeningCase',
    tag: OPERATOR_TAG,
    summary: 'Decide a screening case',
    description:
      'A decision stands against later screenings until `rescreen`. `block` and `review` hold the funded orders that the subject is part of; after `clear`, release their holds.',
    params: ScreeningCaseParams,
    body: ScreeningCaseDecisionInput,
    data: ScreeningCaseDecisionSchema,
    errors: ['SCREENING_CASE_NOT_FOUND', 'INVALID_STATUS'],
    handle: async ({ params, body }, operator, unit) => {
      const { before, after } = await decideCase(
        unit,
        params.case_id,
        SCREENING_DECISION_TRIGGERS[body.decision],
      );
      recordAction(unit, operator, {
        action: `screening_case.${body.decision}`,
        subject: `screening_cases/${params.case_id}`,
        reason: body.reason,
        before: { screening_status: before.screening_status },
        after: { screening_status: after.screening_status },
      });
      return { case_id: after.case_id, screening_status: after.screening_status };
    },
  });
}
