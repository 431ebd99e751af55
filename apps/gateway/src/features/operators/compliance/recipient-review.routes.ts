import {
  ErasedRecipientSchema,
  OPERATOR_TAG,
  PageQuery,
  ReasonInput,
  RecipientDecisionInput,
  RecipientDecisionSchema,
  RecipientParams,
  RevealedRecipientSchema,
  SCREENING_DECISION_TRIGGERS,
  ScreeningReviewListSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import { type UnitDeps, unitOfWork } from '../../../engine/unit-of-work.ts';
import { route } from '../../../http/route.ts';
import type { Sealer } from '../../../lib/crypto.ts';
import type { Vaults } from '../../../vault/vault.ts';
import { maskValue } from '../../payment-details/validation/mask-details.ts';
import { eraseRecipient } from '../../privacy/erase.ts';
import { openCurrent } from '../../recipients/recipient.ts';
import { decideScreening } from '../../recipients/recipient-screening.ts';
import {
  type RecipientToReview,
  recipientsToReview,
  revealRecipient,
} from '../../recipients/review-recipients.ts';

export interface RecipientReviewDeps extends UnitDeps {
  readonly vaults: Vaults;
  readonly sealer: Sealer;
}

const RECIPIENT = '/api/v1/operator/recipients/:recipient_id';

/** What an operator does about recipients. */
export function registerRecipientReviewRoutes(app: FastifyInstance, deps: RecipientReviewDeps): void {
  registerScreenings(app, deps);
  registerDecision(app, deps);
  registerReveal(app, deps);
}

/** Its name is masked: reveal shows it, and is audited. */
export function recipientReviewView(vaults: Vaults, { recipient, listVersion, hits }: RecipientToReview) {
  return {
    recipient_id: recipient.recipient_id,
    partner_id: recipient.partner_id,
    recipient_kind: recipient.recipient_kind,
    recipient_name_masked: maskValue(openCurrent(vaults, recipient).recipient_name),
    recipient_country: recipient.recipient_country,
    version: recipient.current_version,
    screening_status: recipient.screening_status,
    waiting_since: recipient.updated_at.toISOString(),
    list_version: listVersion,
    hits: hits.map(({ entryId, listedName, score }) => ({
      entry_id: entryId,
      listed_name: listedName,
      score,
    })),
  };
}

function registerScreenings(app: FastifyInstance, deps: RecipientReviewDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/screening-reviews',
    operationId: 'listScreeningReviews',
    tag: OPERATOR_TAG,
    summary: 'List recipients waiting for a screening review, longest first',
    query: PageQuery,
    data: ScreeningReviewListSchema,
    handle: async ({ query }) => {
      const { reviews, total } = await recipientsToReview(deps, query);
      return {
        reviews: reviews.map((review) => recipientReviewView(deps.vaults, review)),
        pagination: { total, ...query },
      };
    },
  });
}

function registerDecision(app: FastifyInstance, deps: RecipientReviewDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${RECIPIENT}/screening-decision`,
    operationId: 'decideScreening',
    tag: OPERATOR_TAG,
    summary: 'Decide a screening review',
    params: RecipientParams,
    body: RecipientDecisionInput,
    data: RecipientDecisionSchema,
    errors: ['RECIPIENT_NOT_FOUND', 'INVALID_STATUS'],
    handle: async ({ params, body }, operator, unit) => {
      const trigger = SCREENING_DECISION_TRIGGERS[body.decision];
      const row = await decideScreening(unit, params.recipient_id, trigger, 'operator');
      recordAction(unit, operator, {
        action: `screening.${body.decision}`,
        subject: `recipients/${row.recipient_id}`,
        reason: body.reason,
        after: { screening_status: row.screening_status, version: row.current_version },
      });
      return { recipient_id: row.recipient_id, screening_status: row.screening_status };
    },
  });
}

function registerReveal(app: FastifyInstance, deps: RecipientReviewDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'POST',
    url: `${RECIPIENT}/reveal`,
    operationId: 'revealRecipient',
    tag: OPERATOR_TAG,
    summary: 'Reveal a recipient’s data',
    params: RecipientParams,
    body: ReasonInput,
    data: RevealedRecipientSchema,
    errors: ['RECIPIENT_NOT_FOUND'],
    handle: ({ params, body }, operator) =>
      unitOfWork(deps, SYSTEM, async (unit) => {
        const { data, destinations } = await revealRecipient(unit, deps.vaults, params.recipient_id);
        recordAction(unit, operator, {
          action: 'recipient.reveal',
          subject: `recipients/${params.recipient_id}`,
          reason: body.reason,
          after: { destinations: destinations.length },
        });
        return {
          recipient_id: params.recipient_id,
          recipient: { ...data },
          destinations: destinations.map((one) => ({ ...one, details: { ...one.details } })),
        };
      }),
  });

  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${RECIPIENT}/erase`,
    operationId: 'eraseRecipient',
    tag: OPERATOR_TAG,
    summary: 'Erase a recipient',
    description:
      'Personal data is erased, the books are kept. Orders that pay it have to end first. It cannot be undone.',
    params: RecipientParams,
    body: ReasonInput,
    data: ErasedRecipientSchema,
    errors: ['RECIPIENT_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, operator, unit) => {
      await eraseRecipient(deps, unit, params.recipient_id);
      recordAction(unit, operator, {
        action: 'recipient.erase',
        subject: `recipients/${params.recipient_id}`,
        reason: body.reason,
      });
      return { recipient_id: params.recipient_id };
    },
  });
}
