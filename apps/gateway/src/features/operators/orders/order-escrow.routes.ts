import {
  CausewayError,
  CompactOrderSchema,
  EscrowPurposeQuery,
  OPERATOR_TAG,
  OrderParams,
  OwnerSignatureInput,
  ReasonInput,
  RefundAuthorizationParametersSchema,
  SendOutDecisionInput,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { Hex } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import { SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import type { UnitDeps } from '../../../engine/unit-of-work.ts';
import { invalidRequest } from '../../../http/errors.ts';
import { route } from '../../../http/route.ts';
import { authorizePayout, signingParameters } from '../../orders/escrow/authorize.ts';
import { lookForSettlement, settleElsewhere } from '../../orders/escrow/settled-elsewhere.ts';
import { readOrder } from '../../orders/lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../../orders/lifecycle/order.adapter.ts';
import { decideSendOut, lookForPayout, type SendOutEnd } from '../../orders/send-out/send-out.ts';
import { valueOfLockedOrder } from './moved-value.ts';

interface EscrowSignatureDeps extends UnitDeps {
  readonly chains: Chains;
  readonly orderAdapters: OrderAdapters;
}

const ORDER = '/api/v1/operator/orders/:order_id';

const ERRORS = ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID', 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED'] as const;

/**
 * For an escrow owner that cannot submit its signature itself: a partner does not act on widget orders, a vendor
 * may have lost its key to the API. The signature says whose it is; the operator only carries it.
 */
export function registerEscrowSignatureRoutes(app: FastifyInstance, deps: EscrowSignatureDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: `${ORDER}/escrow-signing-parameters`,
    operationId: 'getEscrowSigningParameters',
    tag: OPERATOR_TAG,
    summary: 'Get the parameters to sign a refund or release',
    description:
      'signer_address is the partner’s wallet; the vendor’s signature of the same data is accepted too.',
    params: OrderParams,
    query: EscrowPurposeQuery,
    data: RefundAuthorizationParametersSchema,
    errors: ERRORS,
    handle: async ({ params, query }) => {
      const order = await readOrder(deps.db, SYSTEM, params.order_id);
      if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
      if (order.escrow === null) throw new CausewayError('OPERATION_NOT_ALLOWED');
      const partnerSide = order.direction === 'onramp' ? 'buyer' : 'seller';
      return signingParameters(deps.chains, order, query.purpose, partnerSide);
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${ORDER}/escrow-signature`,
    operationId: 'submitEscrowSignature',
    tag: OPERATOR_TAG,
    summary: 'Submit an escrow owner’s signature',
    description:
      'A release after a dispute decided for the buyer; a refund where the partner would be asked for one.',
    params: OrderParams,
    body: OwnerSignatureInput,
    data: CompactOrderSchema,
    errors: [
      ...ERRORS,
      'KYC_NOT_CLEARED',
      'WALLET_NOT_CLEARED',
      'INVALID_SIGNATURE',
      'ESCROW_SIGNER_MISMATCH',
    ],
    secondApproval: {
      amountOf: ({ params }, unit) => valueOfLockedOrder(unit, params.order_id),
      subjectOf: ({ params }) => `orders/${params.order_id}`,
      describe: ({ body }) =>
        body.purpose === 'release'
          ? 'Hand in an owner’s signature: the escrow is released to the buyer.'
          : 'Hand in an owner’s signature: the escrow is refunded to the seller.',
    },
    handle: async ({ params, body }, operator, unit) => {
      const { before, after } = await authorizePayout(deps, unit, params.order_id, {
        purpose: body.purpose,
        actor: 'operator',
        owners: ['seller', 'buyer'],
        signature: body.signature,
      });
      recordAction(unit, operator, {
        action: `order.escrow-signature.${body.purpose}`,
        subject: `orders/${params.order_id}`,
        reason: body.reason,
        before: { status: before.status, escrow: before.facts.escrow },
        after: { status: after.status, escrow: after.facts.escrow },
      });
      return { order_id: after.order_id, status: after.status };
    },
  });
}

/** The way out for an escrow that its owners have emptied in a transaction of their own. */
export function registerSettledElsewhereRoutes(app: FastifyInstance, deps: EscrowSignatureDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${ORDER}/escrow-settled-elsewhere`,
    operationId: 'settleEscrowElsewhere',
    tag: OPERATOR_TAG,
    summary: 'End an order whose escrow its owners have emptied themselves',
    description:
      'Only while the order is held and its payout can never happen: in a final block the escrow has executed something else and holds nothing. An order under way becomes failed with ESCROW_SETTLED_ELSEWHERE; a stopped one owes no refund any more. The books then say that the owners moved it. Find out first what they agreed on: nothing more is paid out.',
    params: OrderParams,
    body: ReasonInput,
    data: CompactOrderSchema,
    errors: [...ERRORS, 'TRANSACTOR_UNAVAILABLE'],
    secondApproval: {
      amountOf: ({ params }, unit) => valueOfLockedOrder(unit, params.order_id),
      subjectOf: ({ params }) => `orders/${params.order_id}`,
      describe: () => 'Take the escrow for emptied by its owners: the order ends, and nothing is paid out.',
    },
    readFirst: ({ params }) => lookForSettlement(deps, params.order_id),
    handle: async ({ params, body }, operator, unit, seen) => {
      const { before, after, txHashes } = await settleElsewhere(
        unit,
        deps.orderAdapters,
        params.order_id,
        seen,
      );
      recordAction(unit, operator, {
        action: 'order.escrow.settled-elsewhere',
        subject: `orders/${after.order_id}`,
        reason: body.reason,
        before: { status: before.status, escrow: before.facts.escrow },
        after: { status: after.status, escrow: after.facts.escrow, tx_hashes: [...txHashes] },
      });
      return { order_id: after.order_id, status: after.status };
    },
  });
}

interface SendOutRouteDeps extends UnitDeps {
  readonly chains: Chains;
  readonly orderAdapters: OrderAdapters;
}

/** The way out for a send-out whose bridge was paid and never answers. */
export function registerSendOutRoutes(app: FastifyInstance, deps: SendOutRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/operator/orders/:order_id/send-out',
    operationId: 'decideSendOut',
    tag: OPERATOR_TAG,
    summary: 'Decide a send-out whose bridge does not answer',
    description:
      'Only while the order is held and the bridge, which was paid, is overdue. A payout on a chain that is configured here is looked up there and must be final; on another chain the operator’s statement is accepted, and the audit log says so. Use failed only when the bridge has given the deposit back or never will: the partner may then send out again.',
    params: OrderParams,
    body: SendOutDecisionInput,
    data: CompactOrderSchema,
    errors: [
      'ORDER_NOT_FOUND',
      'INVALID_ORDER_ID',
      'INVALID_STATUS',
      'OPERATION_NOT_ALLOWED',
      'TRANSACTOR_UNAVAILABLE',
    ],
    secondApproval: {
      amountOf: ({ params }, unit) => valueOfLockedOrder(unit, params.order_id),
      subjectOf: ({ params }) => `orders/${params.order_id}`,
      describe: ({ body }) =>
        body.outcome === 'settled'
          ? `Take the send-out for paid by transaction ${body.tx_hash ?? ''}: the order ends.`
          : 'Take the send-out for failed: the partner may send the same money out again.',
    },
    readFirst: async ({ params, body }) => {
      const end = endOf(body);
      return end.outcome === 'settled' ? lookForPayout(deps, params.order_id, end.txHash) : null;
    },
    handle: async ({ params, body }, operator, unit, seen) => {
      const end = endOf(body);
      const { before, after } = await decideSendOut(unit, deps.orderAdapters, params.order_id, end, seen);
      recordAction(unit, operator, {
        action: `order.send-out.${end.outcome}`,
        subject: `orders/${after.order_id}`,
        reason: body.reason,
        before: { status: before.status, held: before.facts.held },
        after: {
          status: after.status,
          held: after.facts.held,
          ...(end.outcome === 'settled' ? { tx_hash: end.txHash, verified: seen?.sight === 'arrived' } : {}),
        },
      });
      return { order_id: after.order_id, status: after.status };
    },
  });
}

function endOf({ outcome, tx_hash: txHash }: Static<typeof SendOutDecisionInput>): SendOutEnd {
  if (outcome === 'failed') {
    if (txHash !== undefined) throw invalidRequest('tx_hash', 'belongs to settled only');
    return { outcome };
  }
  if (txHash === undefined) throw invalidRequest('tx_hash', 'is required with settled');
  return { outcome, txHash: txHash.toLowerCase() as Hex };
}
