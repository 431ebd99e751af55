import {
  KycStatusSchema,
  OffsetPage,
  OPERATOR_TAG,
  PageQuery,
  Reason,
  TextMap,
  Timestamp,
  Uuid,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
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
const UserParams = Type.Object({ user_uuid: Uuid });
const DECISIONS = {
  approve: 'verification_passed',
  reject: 'verification_refused',
  request_resubmission: 'resubmission_requested',
} as const;

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
    summary: 'Customers who wait for a manual review, longest first',
    query: PageQuery,
    data: Type.Object({
      reviews: Type.Array(
        Type.Object({
          user_id: Uuid,
          partner_id: Uuid,
          kyc_status: KycStatusSchema,
          waiting_since: Timestamp,
          documents: Type.Array(
            Type.Object({ document_id: Uuid, document_type: Type.String(), content_type: Type.String() }),
          ),
        }),
      ),
      pagination: OffsetPage,
    }),
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
    summary: 'Decide a customer’s KYC by hand',
    description: 'A rejection names at least one reason, which the partner reads.',
    params: UserParams,
    body: Type.Object({
      decision: Type.Union(
        Object.keys(DECISIONS).map((name) => Type.Literal(name as keyof typeof DECISIONS)),
      ),
      rejection_reasons: Type.Optional(
        Type.Array(Type.String({ pattern: '^[A-Z0-9_]{1,64}$' }), { minItems: 1, maxItems: 20 }),
      ),
      reason: Reason,
    }),
    data: Type.Object({ user_id: Uuid, kyc_status: KycStatusSchema, updated_at: Timestamp }),
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
        DECISIONS[body.decision],
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
    summary: 'A customer’s data in clear, with a reason',
    params: UserParams,
    body: Type.Object({ reason: Reason }),
    data: Type.Object({
      user_id: Uuid,
      profile: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()])),
      kyc: TextMap,
      payment_details: Type.Array(Type.Object({ id: Type.Integer(), rail: Type.String(), details: TextMap })),
    }),
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
    summary: 'A customer’s document in clear, with a reason',
    params: Type.Object({ user_uuid: Uuid, document_id: Uuid }),
    body: Type.Object({ reason: Reason }),
    data: Type.Object({
      content_type: Type.String({ examples: ['image/png'] }),
      content: Type.String({ description: 'Base64' }),
    }),
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
    description: 'The person goes, the books stay. Open orders have to end first. It cannot be undone.',
    params: UserParams,
    body: Type.Object({ reason: Reason }),
    data: Type.Object({ user_id: Uuid, documents: Type.Integer() }),
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
