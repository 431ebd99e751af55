import {
  CompactOrderSchema,
  OPERATOR_TAG,
  OrderDisputeInput,
  OrderHoldInput,
  OrderParams,
  PageQuery,
  ProofParams,
  ProofReviewInput,
  ProofReviewListSchema,
  ReasonInput,
  RevealedDisputeStatementsSchema,
  RevealedProofSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { SYSTEM } from '../../../db/database.ts';
import { KYC_WAIVED, recordAction } from '../../../engine/audit.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../../engine/unit-of-work.ts';
import { invalidRequest } from '../../../http/errors.ts';
import type { OperatorPrincipal } from '../../../http/principals.ts';
import { route } from '../../../http/route.ts';
import type { Sealer } from '../../../lib/crypto.ts';
import { returnUnspentDeposit } from '../../fiat-accounts/payments.ts';
import { openStatements } from '../../orders/disputes/vendor-answers.ts';
import {
  decideProof,
  loadOrderForAction,
  moveOrder,
  openProof,
} from '../../orders/lifecycle/act-on-order.ts';
import { readPendingProofs } from '../../orders/lifecycle/list-orders.ts';
import type { OrderAdapters } from '../../orders/lifecycle/order.adapter.ts';
import type { OrderRow } from '../../orders/lifecycle/order.ts';
import { valueOfLockedOrder } from './moved-value.ts';

export interface OrderReviewDeps extends UnitDeps {
  readonly orderAdapters: OrderAdapters;
  readonly sealer: Sealer;
}

const ORDER = '/api/v1/operator/orders/:order_id';

const ERRORS = ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID', 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED'] as const;

const DISPUTES = {
  open: 'dispute_opened',
  for_buyer: 'dispute_resolved_to_buyer',
  for_seller: 'dispute_resolved_to_seller',
} as const;

const DISPUTE_MEANINGS: Readonly<Record<keyof typeof DISPUTES, string>> = {
  open: 'Open a dispute: nothing moves until it is decided.',
  for_buyer: 'Decide the dispute for the buyer: what is in the escrow goes to the buyer.',
  for_seller: 'Decide the dispute for the seller: what is in the escrow goes back to the seller.',
};

/** What an operator decides about orders; every decision is audited with who and why. */
export function registerOrderReviewRoutes(app: FastifyInstance, deps: OrderReviewDeps): void {
  registerProofs(app, deps);
  registerStatements(app, deps);
  registerHold(app, deps);
  registerDispute(app, deps);
  registerProofReview(app, deps);
}

function registerProofs(app: FastifyInstance, deps: OrderReviewDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/proof-reviews',
    operationId: 'listProofReviews',
    tag: OPERATOR_TAG,
    summary: 'List payment proofs waiting for review, longest first',
    description: 'The content of a proof is shown by reveal.',
    query: PageQuery,
    data: ProofReviewListSchema,
    handle: async ({ query }) => {
      const { proofs, total } = await readPendingProofs(deps.db, query);
      return {
        reviews: proofs.map(({ status, submitted_at, ...row }) => ({
          ...row,
          order_status: status,
          submitted_at: submitted_at.toISOString(),
        })),
        pagination: { total, ...query },
      };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'POST',
    url: '/api/v1/operator/proofs/:proof_id/reveal',
    operationId: 'revealProof',
    tag: OPERATOR_TAG,
    summary: 'Reveal a payment proof',
    description: 'It may name persons, so the access is in the audit log.',
    params: ProofParams,
    body: ReasonInput,
    data: RevealedProofSchema,
    errors: ['PROOF_NOT_FOUND'],
    handle: ({ params, body }, operator) =>
      // Nothing is answered before the entry is committed.
      unitOfWork(deps, SYSTEM, async (unit) => {
        const { orderId, proof } = await openProof(unit, deps.sealer, params.proof_id);
        recordAction(unit, operator, {
          action: 'proof.reveal',
          subject: `orders/${orderId}`,
          reason: body.reason,
          after: { proof_id: params.proof_id },
        });
        return {
          proof_id: params.proof_id,
          order_id: orderId,
          payment_reference: proof.reference,
          content_type: proof.content_type ?? null,
          content: proof.content ?? null,
        };
      }),
  });
}

function registerStatements(app: FastifyInstance, deps: OrderReviewDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'POST',
    url: '/api/v1/operator/orders/:order_id/dispute-statements/reveal',
    operationId: 'revealDisputeStatements',
    tag: OPERATOR_TAG,
    summary: 'Reveal what vendors said in a dispute',
    description: 'It may name persons, so the access is in the audit log.',
    params: OrderParams,
    body: ReasonInput,
    data: RevealedDisputeStatementsSchema,
    errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID'],
    handle: ({ params, body }, operator) =>
      // Nothing is answered before the entry is committed.
      unitOfWork(deps, SYSTEM, async (unit) => {
        const { order_id: orderId } = await loadOrderForAction(unit, params.order_id);
        const statements = await openStatements(unit, deps.sealer, orderId);
        recordAction(unit, operator, {
          action: 'dispute_statements.reveal',
          subject: `orders/${orderId}`,
          reason: body.reason,
          after: { statement_ids: statements.map(({ statement_id }) => statement_id) },
        });
        return { order_id: orderId, statements };
      }),
  });
}

function registerHold(app: FastifyInstance, deps: OrderReviewDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${ORDER}/hold`,
    operationId: 'decideOrderHold',
    tag: OPERATOR_TAG,
    summary: 'Hold an order for review, or release it',
    description:
      'override_kyc lets the payout of this one order go on although its customer is not VERIFIED any more: where the vendor’s part is done (fiat_received_confirmed), or so that a dispute can be decided (dispute_started).',
    params: OrderParams,
    body: OrderHoldInput,
    data: CompactOrderSchema,
    errors: [...ERRORS, 'KYC_NOT_CLEARED', 'WALLET_NOT_CLEARED'],
    secondApproval: {
      // Stopping an order moves nothing, and must not wait.
      amountOf: async ({ params, body }, unit) =>
        body.decision === 'place' ? undefined : valueOfLockedOrder(unit, params.order_id),
      subjectOf: ({ params }) => `orders/${params.order_id}`,
      describe: ({ body }) =>
        body.override_kyc === true
          ? 'Release the hold although the customer is not verified: the order goes on and is paid out.'
          : 'Release the hold: the order goes on.',
    },
    handle: ({ params, body }, operator, unit) => {
      const { decision, override_kyc: isWaived = false, reason } = body;
      if (isWaived && decision !== 'release') throw invalidRequest('override_kyc', 'belongs to release only');
      const trigger = isWaived ? 'kyc_waived' : decision === 'place' ? 'hold_placed' : 'hold_released';
      const action = isWaived ? KYC_WAIVED : `order.hold.${decision}`;
      return decideAudited(unit, operator, params.order_id, action, reason, (order) =>
        moveOrder(unit, deps.orderAdapters, order, trigger, 'operator'),
      );
    },
  });
}

function registerDispute(app: FastifyInstance, deps: OrderReviewDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${ORDER}/dispute`,
    operationId: 'decideOrderDispute',
    tag: OPERATOR_TAG,
    summary: 'Open a dispute, or decide it',
    params: OrderParams,
    body: OrderDisputeInput,
    data: CompactOrderSchema,
    errors: [...ERRORS, 'KYC_NOT_CLEARED', 'WALLET_NOT_CLEARED'],
    secondApproval: {
      amountOf: async ({ params, body }, unit) =>
        body.decision === 'open' ? undefined : valueOfLockedOrder(unit, params.order_id),
      subjectOf: ({ params }) => `orders/${params.order_id}`,
      describe: ({ body }) => DISPUTE_MEANINGS[body.decision],
    },
    handle: ({ params, body }, operator, unit) =>
      decideAudited(unit, operator, params.order_id, `order.dispute.${body.decision}`, body.reason, (order) =>
        decideDispute(unit, deps, order, body.decision),
      ),
  });
}

/** Where the vendor has its crypto again and the bank never paid it, the customer has its deposit again as well. */
async function decideDispute(
  unit: UnitOfWork,
  { orderAdapters }: OrderReviewDeps,
  order: OrderRow,
  decision: keyof typeof DISPUTES,
): Promise<OrderRow> {
  const moved = moveOrder(unit, orderAdapters, order, DISPUTES[decision], 'operator');
  await returnUnspentDeposit(unit, moved);
  return moved;
}

function registerProofReview(app: FastifyInstance, deps: OrderReviewDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${ORDER}/proof-review`,
    operationId: 'reviewProof',
    tag: OPERATOR_TAG,
    summary: 'Review a payment proof: start, accept or reject',
    params: OrderParams,
    body: ProofReviewInput,
    data: CompactOrderSchema,
    errors: ERRORS,
    handle: ({ params, body }, operator, unit) =>
      decideAudited(unit, operator, params.order_id, `order.proof.${body.decision}`, body.reason, (order) =>
        body.decision === 'start'
          ? moveOrder(unit, deps.orderAdapters, order, 'proof_review_started', 'operator')
          : decideProof(unit, deps.orderAdapters, order, body.decision, 'operator'),
      ),
  });
}

async function decideAudited(
  unit: UnitOfWork,
  operator: OperatorPrincipal,
  orderId: string,
  action: string,
  reason: string,
  move: (order: OrderRow) => OrderRow | Promise<OrderRow>,
) {
  const order = await loadOrderForAction(unit, orderId);
  const moved = await move(order);
  recordAction(unit, operator, {
    action,
    subject: `orders/${order.order_id}`,
    reason,
    before: { status: order.status, held: order.facts.held, kyc_status: order.kyc_status },
    after: { status: moved.status, held: moved.facts.held },
  });
  return { order_id: order.order_id, status: moved.status };
}
