import {
  CausewayError,
  DifferenceCheckSchema,
  DifferenceParams,
  OPERATOR_TAG,
  QueueCaseDetailSchema,
  QueueCaseParams,
  QueueCaseSchema,
  QueueCountsQuery,
  QueueCountsSchema,
  QueueListSchema,
  QueueQuery,
  QueueSnoozeInput,
} from '@causeway/protocol';
import { QUEUE_KINDS } from '@causeway/protocol/console';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { SYSTEM } from '../../../db/database.ts';
import { findIntent } from '../../../engine/stuck-intents.store.ts';
import { route } from '../../../http/route.ts';
import type { Vaults } from '../../../vault/vault.ts';
import { paymentToReview } from '../../fiat-accounts/payments.ts';
import { documentsToReview } from '../../kyc/documents/documents.ts';
import { readReviewedOffer } from '../../offers/offer.view.ts';
import type { DepositDeps } from '../../orders/deposits/decide-deposit.ts';
import { readDeposits } from '../../orders/deposits/deposit.view.ts';
import { recipientToReview } from '../../recipients/review-recipients.ts';
import {
  checkDifference,
  differenceView,
  type ReconciliationDeps,
  readDifference,
} from '../../reconciliation/reconcile.ts';
import { type CaseReviewDeps, screeningCase } from '../../screening/screen-wallet.ts';
import { readUser } from '../../users/user.ts';
import { recipientReviewView } from '../compliance/recipient-review.routes.ts';
import { screeningCaseView } from '../compliance/screening-case.routes.ts';
import { paymentView } from '../orders/fiat-payment.routes.ts';
import { effectView, lateBefore } from '../system/stuck-effects.ts';
import {
  claim,
  countWaiting,
  type QueueCase,
  type QueueDeps,
  readCase,
  readQueue,
  release,
  snooze,
} from './queue.ts';

export type QueueRouteDeps = QueueDeps &
  CaseReviewDeps &
  DepositDeps &
  ReconciliationDeps & { readonly vaults: Vaults };

const QUEUE = '/api/v1/operator/queue';
const CASE = `${QUEUE}/:kind/:subject_id`;

/** One list of what waits for a person, and who works on what. */
export function registerQueueRoutes(app: FastifyInstance, deps: QueueRouteDeps): void {
  registerReads(app, deps);
  registerAssignments(app, deps);
  registerDifferenceCheck(app, deps);
}

function registerReads(app: FastifyInstance, deps: QueueRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: QUEUE,
    operationId: 'listQueue',
    tag: OPERATOR_TAG,
    summary: 'List what waits for a person, what is due first at the top',
    description:
      'KYC reviews, payment proofs, holds, disputes, confirmations that do not come, screening hits, odd deposits, fiat payments to match, offers to authorize, stuck effects and reconciliation differences. A case leaves the list with its decision. due_at is created_at and the target time of its kind (QUEUE_TARGETS).',
    query: QueueQuery,
    data: QueueListSchema,
    handle: async ({ query }, operator) => {
      const { cases, at, nextCursor } = await readQueue(deps, operator.keyId, {
        kinds: query.kind ?? null,
        partnerId: query.partner_id ?? null,
        assignee: query.assignee ?? null,
        overdue: query.overdue ?? false,
        snoozed: query.snoozed ?? false,
        cursor: query.cursor ?? null,
        limit: query.limit,
      });
      const pagination = { limit: query.limit, next_cursor: nextCursor };
      return { cases: [...cases], as_of: at.toISOString(), pagination };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: `${QUEUE}/counts`,
    operationId: 'getQueueCounts',
    tag: OPERATOR_TAG,
    summary: 'Count what waits for a person',
    description: 'Without what is put off, which is counted by itself.',
    query: QueueCountsQuery,
    data: QueueCountsSchema,
    handle: async ({ query }, operator) => {
      const rows = await countWaiting(deps, operator.keyId, query.partner_id ?? null);
      const sum = (of: (row: (typeof rows)[number]) => number) =>
        rows.reduce((total, row) => total + of(row), 0);
      return {
        waiting: sum((row) => row.waiting),
        overdue: sum((row) => row.overdue),
        mine: sum((row) => row.mine),
        unassigned: sum((row) => row.unassigned),
        snoozed: sum((row) => row.snoozed),
        kinds: QUEUE_KINDS.map((kind) => {
          const { waiting = 0, overdue = 0 } = rows.find((row) => row.kind === kind) ?? {};
          return { kind, waiting, overdue };
        }),
      };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: CASE,
    operationId: 'getQueueCase',
    tag: OPERATOR_TAG,
    summary: 'Get a case with what its decision needs',
    description:
      'Nothing personal: reveal shows that, and is audited. Of an order, its audit trail has the rest. Answers 404 once the case is decided.',
    params: QueueCaseParams,
    data: QueueCaseDetailSchema,
    errors: ['QUEUE_CASE_NOT_FOUND'],
    handle: async ({ params }) => detailOf(deps, await readCase(deps, params.kind, params.subject_id)),
  });
}

function registerAssignments(app: FastifyInstance, deps: QueueRouteDeps): void {
  const common = {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    tag: OPERATOR_TAG,
    params: QueueCaseParams,
    data: QueueCaseSchema,
  } as const;
  const subjectOf = ({ kind, subject_id }: Static<typeof QueueCaseParams>) => ({
    kind,
    subjectId: subject_id,
  });
  route(app, {
    ...common,
    url: `${CASE}/claim`,
    operationId: 'claimQueueCase',
    summary: 'Claim a case',
    description:
      'So that no other operator works on it meanwhile: of two who claim at once one gets it. It ends by itself after 30 minutes without a decision; claiming again makes it last longer. A claim is a word between operators: it does not keep others from deciding.',
    errors: ['QUEUE_CASE_NOT_FOUND', 'QUEUE_CASE_CLAIMED'],
    handle: ({ params }, operator, unit) => claim(deps, unit, operator, subjectOf(params)),
  });
  route(app, {
    ...common,
    url: `${CASE}/release`,
    operationId: 'releaseQueueCase',
    summary: 'Release a case that one has claimed',
    errors: ['QUEUE_CASE_NOT_FOUND', 'QUEUE_CASE_CLAIMED'],
    handle: ({ params }, operator, unit) => release(deps, unit, operator, subjectOf(params)),
  });
  route(app, {
    ...common,
    url: `${CASE}/snooze`,
    operationId: 'snoozeQueueCase',
    summary: 'Put a case off, with a reason',
    description: 'It is left out of the list until then. Its target time does not change.',
    body: QueueSnoozeInput,
    errors: ['QUEUE_CASE_NOT_FOUND'],
    handle: ({ params, body }, operator, unit) => snooze(deps, unit, operator, subjectOf(params), body),
  });
}

function registerDifferenceCheck(app: FastifyInstance, deps: QueueRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: '/api/v1/operator/reconciliation/differences/:difference_id/check',
    operationId: 'checkReconciliationDifference',
    tag: OPERATOR_TAG,
    summary: 'Compare again where two records differed',
    description:
      'A worker does so every RECONCILIATION_SECONDS. Where they agree now, the difference leaves the queue.',
    params: DifferenceParams,
    data: DifferenceCheckSchema,
    errors: ['QUEUE_CASE_NOT_FOUND'],
    handle: async ({ params: { difference_id } }, _operator, outside) => {
      const verdict = await checkDifference(deps, difference_id, outside);
      if (verdict === null) throw new CausewayError('QUEUE_CASE_NOT_FOUND');
      return { difference_id, verdict };
    },
  });
}

type Detail = Static<typeof QueueCaseDetailSchema>;
type OfKind = Pick<Detail, Exclude<keyof Detail, keyof QueueCase>>;

const NOTHING: OfKind = {
  kyc: null,
  recipient: null,
  screening_case: null,
  deposit: null,
  fiat_payment: null,
  offer: null,
  effect: null,
  difference: null,
};

async function detailOf(deps: QueueRouteDeps, found: QueueCase): Promise<Detail> {
  return { ...found, ...NOTHING, ...(await partOf(deps, found)) };
}

const MANY = 100;

async function partOf(
  deps: QueueRouteDeps,
  { kind, subject_id: id, order_id: orderId }: QueueCase,
): Promise<Partial<OfKind>> {
  switch (kind) {
    case 'kyc': {
      const user = await readUser(deps.db, SYSTEM, id);
      const documents = await documentsToReview(deps.db, id);
      const waiting_since = user.kyc_updated_at.toISOString();
      return {
        kyc: {
          user_id: id,
          partner_id: user.partner_id,
          kyc_status: user.kyc_status,
          waiting_since,
          documents,
        },
      };
    }
    case 'recipient_screening': {
      const review = await recipientToReview(deps, id);
      return { recipient: review && recipientReviewView(deps.vaults, review) };
    }
    case 'screening_case': {
      const hit = await screeningCase(deps, id);
      return { screening_case: hit && screeningCaseView(hit) };
    }
    case 'deposit': {
      const { deposits } = await readDeposits(deps, {
        orderId: orderId ?? undefined,
        limit: MANY,
        offset: 0,
      });
      return { deposit: deposits.find(({ deposit_id }) => deposit_id === id) ?? null };
    }
    case 'fiat_payment': {
      const payment = await paymentToReview(deps.db, id);
      return { fiat_payment: payment === undefined ? null : paymentView(payment) };
    }
    case 'offer':
      return { offer: await readReviewedOffer(deps.db, id) };
    case 'effect': {
      const [intent] = await deps.db.query(SYSTEM, findIntent, [lateBefore(deps.clock.date()), id]);
      return { effect: intent === undefined ? null : effectView(intent) };
    }
    case 'reconciliation': {
      const row = await readDifference(deps, id);
      return row === undefined ? {} : { difference: differenceView(row) };
    }
    default:
      return {};
  }
}
