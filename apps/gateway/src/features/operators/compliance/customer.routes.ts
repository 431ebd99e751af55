import {
  DocumentParams,
  ErasedUserSchema,
  KYC_DECISION_TRIGGERS,
  KycDecisionInput,
  KycDecisionSchema,
  KycReviewListSchema,
  OPERATOR_TAG,
  PageQuery,
  ReasonInput,
  RevealedDocumentSchema,
  RevealedUserSchema,
  UserParams,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import { type UnitDeps, unitOfWork } from '../../../engine/unit-of-work.ts';
import { invalidRequest } from '../../../http/errors.ts';
import { route } from '../../../http/route.ts';
import type { Sealer } from '../../../lib/crypto.ts';
import { documentsToReview, revealDocument } from '../../kyc/documents/documents.ts';
import { type LoadSubmissionDeps, readIdentity } from '../../kyc/submission.ts';
import { revealPaymentDetails } from '../../payment-details/payment-details.ts';
import { eraseUser } from '../../privacy/erase.ts';
import { changeKycStatus } from '../../users/kyc-status.ts';
import { readUserBy, usersUnderReview } from '../../users/user.ts';

export interface CustomerRouteDeps extends UnitDeps, LoadSubmissionDeps {
  readonly sealer: Sealer;
}

const USER = '/api/v1/operator/users/:user_uuid';

/** What an operator does about customers; everything that changes or shows something is audited. */
export function registerCustomerRoutes(app: FastifyInstance, deps: CustomerRouteDeps): void {
  registerReviews(app, deps);
  registerDecision(app, deps);
  registerReveal(app, deps);
  registerErasure(app, deps);
}

function registerReviews(app: FastifyInstance, deps: CustomerRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/kyc-reviews',
    operationId: 'listKycReviews',
    tag: OPERATOR_TAG,
    summary: 'List customers waiting for a KYC review, longest first',
    query: PageQuery,
    data: KycReviewListSchema,
    handle: async ({ query }) => {
      const { users, total } = await usersUnderReview(deps.db, SYSTEM, query);
      const reviews = [];
      for (const user of users) {
        reviews.push({
          user_id: user.user_id,
          partner_id: user.partner_id,
          kyc_status: user.kyc_status,
          waiting_since: user.kyc_updated_at.toISOString(),
          documents: await documentsToReview(deps.db, user.user_id),
        });
      }
      return { reviews, pagination: { total, ...query } };
    },
  });
}

function registerDecision(app: FastifyInstance, deps: CustomerRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${USER}/kyc-decision`,
    operationId: 'decideKyc',
    tag: OPERATOR_TAG,
    summary: 'Decide a KYC review',
    description: 'A rejection names at least one reason, which the partner reads.',
    params: UserParams,
    body: KycDecisionInput,
    data: KycDecisionSchema,
    errors: ['USER_NOT_FOUND', 'INVALID_STATUS'],
    handle: async ({ params, body }, operator, unit) => {
      const reasons = body.rejection_reasons ?? [];
      if (body.decision !== 'approve' && reasons.length === 0) {
        throw invalidRequest('rejection_reasons', 'is required');
      }
      const before = await readUserBy(unit.tx, params.user_uuid);
      const user = await changeKycStatus(
        unit,
        params.user_uuid,
        KYC_DECISION_TRIGGERS[body.decision],
        'operator',
        body.decision === 'approve' ? [] : reasons,
      );
      recordAction(unit, operator, {
        action: `kyc.${body.decision}`,
        subject: `users/${user.user_id}`,
        reason: body.reason,
        before: { kyc_status: before.kyc_status },
        after: { kyc_status: user.kyc_status, rejection_reasons: [...user.rejection_reasons] },
      });
      return {
        user_id: user.user_id,
        kyc_status: user.kyc_status,
        updated_at: user.kyc_updated_at.toISOString(),
      };
    },
  });
}

function registerReveal(app: FastifyInstance, deps: CustomerRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'POST',
    url: `${USER}/reveal`,
    operationId: 'revealUser',
    tag: OPERATOR_TAG,
    summary: 'Reveal a customer’s data',
    params: UserParams,
    body: ReasonInput,
    data: RevealedUserSchema,
    errors: ['USER_NOT_FOUND'],
    handle: ({ params, body }, operator) =>
      unitOfWork(deps, SYSTEM, async (unit) => {
        const { user, identity } = await readIdentity(unit.tx, deps.vaults, params.user_uuid);
        const details = await revealPaymentDetails(unit, deps.vaults, user);
        recordAction(unit, operator, {
          action: 'user.reveal',
          subject: `users/${user.user_id}`,
          reason: body.reason,
          after: { payment_details: details.length },
        });
        return {
          user_id: user.user_id,
          profile: { ...identity.profile },
          kyc: { ...identity.kyc } as Record<string, string>,
          payment_details: details.map((one) => ({ ...one, details: { ...one.details } })),
        };
      }),
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'POST',
    url: `${USER}/documents/:document_id/reveal`,
    operationId: 'revealDocument',
    tag: OPERATOR_TAG,
    summary: 'Reveal a KYC document',
    params: DocumentParams,
    body: ReasonInput,
    data: RevealedDocumentSchema,
    errors: ['USER_NOT_FOUND'],
    handle: async ({ params, body }, operator) => {
      const { contentType, content } = await revealDocument(deps, params.user_uuid, params.document_id);
      // Nothing is answered before the entry is committed.
      await unitOfWork(deps, SYSTEM, async (unit) =>
        recordAction(unit, operator, {
          action: 'document.reveal',
          subject: `users/${params.user_uuid}`,
          reason: body.reason,
          after: { document_id: params.document_id },
        }),
      );
      return { content_type: contentType, content: Buffer.from(content).toString('base64') };
    },
  });
}

function registerErasure(app: FastifyInstance, deps: CustomerRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${USER}/erase`,
    operationId: 'eraseUser',
    tag: OPERATOR_TAG,
    summary: 'Erase a customer',
    description:
      'Personal data is erased, the books are kept. Open orders have to end first. It cannot be undone.',
    params: UserParams,
    body: ReasonInput,
    data: ErasedUserSchema,
    errors: ['USER_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, operator, unit) => {
      const { documents } = await eraseUser(deps, unit, params.user_uuid);
      recordAction(unit, operator, {
        action: 'user.erase',
        subject: `users/${params.user_uuid}`,
        reason: body.reason,
        after: { documents },
      });
      return { user_id: params.user_uuid, documents };
    },
  });
}
