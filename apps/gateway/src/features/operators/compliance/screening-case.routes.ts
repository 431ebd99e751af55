import {
  literals,
  OffsetPage,
  OPERATOR_TAG,
  PageQuery,
  Reason,
  SCREENING_CLEAR,
  SCREENING_STATUSES,
  ScreeningStatusSchema,
  Timestamp,
  Uuid,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { recordAction } from '../../../engine/audit.ts';
import { route } from '../../../http/route.ts';
import { type CaseReviewDeps, casesAbout, screeningCases } from '../../screening/screen-wallet.ts';
import { decideCase } from '../../screening/screening-case.ts';

const CASES = '/api/v1/operator/screening-cases';
const SUBJECTS = ['destination', 'payment_details', 'wallet'] as const;
const SubjectKind = literals(SUBJECTS);
const OPEN = SCREENING_STATUSES.filter((status) => status !== SCREENING_CLEAR);
const DECISIONS = {
  clear: 'screening_cleared',
  block: 'screening_blocked',
  review: 'screening_matched',
  rescreen: 'screening_requested',
} as const;

const CaseSchema = Type.Object({
  case_id: Uuid,
  partner_id: Type.Union([Uuid, Type.Null()], { description: 'Null for a wallet' }),
  subject_kind: SubjectKind,
  subject: Type.String({
    description: 'The wallet’s address, or the id of the destination or payment details',
  }),
  screening_status: ScreeningStatusSchema,
  decided_by_person: Type.Boolean(),
  list_version: Type.Union([Type.String(), Type.Null()]),
  listed: Type.Array(Type.String(), { description: 'The lists or categories that name a wallet' }),
  hits: Type.Array(
    Type.Object({
      entry_id: Type.String(),
      listed_name: Type.String(),
      score: Type.Number({ description: 'Likeness from 0 to 100' }),
    }),
    { description: 'Whom an account holder resembles' },
  ),
  waiting_since: Timestamp,
});

/** What an operator does about account holders and wallets that a screening found. */
export function registerScreeningCaseRoutes(app: FastifyInstance, deps: CaseReviewDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: CASES,
    operationId: 'listScreeningCases',
    tag: OPERATOR_TAG,
    summary: 'Account holders and wallets that are not clear, longest first',
    description: 'Recipients’ own names are in GET /operator/screening-reviews.',
    query: Type.Object({
      ...PageQuery.properties,
      status: Type.Optional(
        Type.Unsafe<(typeof OPEN)[number]>({ type: 'string', enum: [...OPEN], examples: ['review'] }),
      ),
      subject_kind: Type.Optional(
        Type.Unsafe<(typeof SUBJECTS)[number]>({
          type: 'string',
          enum: [...SUBJECTS],
          examples: ['wallet'],
        }),
      ),
      subject: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 80,
          examples: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
          description:
            'A wallet’s address or an id: its case, even a clear one; the other filters do not count then',
        }),
      ),
    }),
    data: Type.Object({ cases: Type.Array(CaseSchema), pagination: OffsetPage }),
    handle: async ({ query: { limit, offset, status, subject_kind, subject } }) => {
      const statuses = status === undefined ? OPEN : [status];
      const known = subject === undefined ? undefined : await casesAbout(deps, subject);
      const { cases, total } =
        known === undefined
          ? await screeningCases(deps, { statuses, subject_kind, limit, offset })
          : { cases: known, total: known.length };
      return {
        cases: cases.map(({ row, hits }) => ({
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
        })),
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
    summary: 'Decide about an account holder or a wallet',
    description:
      'A decision stands against later screenings until `rescreen`. `block` and `review` hold the funded orders that the subject is part of; after `clear`, release their holds.',
    params: Type.Object({ case_id: Uuid }),
    body: Type.Object({ decision: literals(['clear', 'block', 'review', 'rescreen']), reason: Reason }),
    data: Type.Object({ case_id: Uuid, screening_status: ScreeningStatusSchema }),
    errors: ['SCREENING_CASE_NOT_FOUND', 'INVALID_STATUS'],
    handle: async ({ params, body }, operator, unit) => {
      const { before, after } = await decideCase(unit, params.case_id, DECISIONS[body.decision]);
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
