import {
  CausewayError,
  CompactOrderSchema,
  GivenSignature,
  literals,
  RefundAuthorizationParametersSchema,
  Uuid,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Chains } from '../../chain/chains.ts';
import { SYSTEM } from '../../db/database.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { operatorMutation, operatorRoute } from '../../http/route.ts';
import { authorizePayout, signingParameters } from '../orders/authorize-release.ts';
import type { OrderHosts } from '../orders/order.host.ts';
import { readOrder } from '../orders/read-order.ts';
import { recordAction } from './audit.ts';
import { OPERATOR_TAG, Reason } from './operator.schemas.ts';

interface EscrowSignatureTools extends UnitTools {
  readonly chains: Chains;
  readonly orderHosts: OrderHosts;
}

const ORDER = '/api/v1/operator/orders/:order_id';
const OrderParams = Type.Object({ order_id: Uuid });
const Purpose = literals(['refund', 'release']);
const ERRORS = ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID', 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED'] as const;

/**
 * For whoever owns an escrow and cannot hand in its signature itself: a partner does not act on widget orders, a vendor
 * may have lost its key to the API. The signature says whose it is; the operator only carries it.
 */
export function registerEscrowSignatureRoutes(app: FastifyInstance, tools: EscrowSignatureTools): void {
  operatorRoute(
    app,
    {
      method: 'GET',
      url: `${ORDER}/escrow-signing-parameters`,
      operationId: 'getEscrowSigningParameters',
      tag: OPERATOR_TAG,
      summary: 'What an owner of an order’s escrow signs to pay it out',
      description:
        'signer_address is the partner’s wallet; the vendor’s signature of the same data does as well.',
      params: OrderParams,
      query: Type.Object({
        purpose: Type.Unsafe<'refund' | 'release'>({ ...Purpose, examples: ['release'] }),
      }),
      data: RefundAuthorizationParametersSchema,
      errors: ERRORS,
    },
    async ({ params, query }) => {
      const order = await readOrder(tools.db, SYSTEM, params.order_id);
      if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
      if (order.escrow === null) throw new CausewayError('OPERATION_NOT_ALLOWED');
      const partnerSide = order.direction === 'onramp' ? 'buyer' : 'seller';
      return signingParameters(tools.chains, order, query.purpose, partnerSide);
    },
  );

  operatorMutation(
    app,
    tools,
    {
      method: 'POST',
      url: `${ORDER}/escrow-signature`,
      operationId: 'handInEscrowSignature',
      tag: OPERATOR_TAG,
      summary: 'Hand in the signature of an owner of an order’s escrow',
      description:
        'A release after a dispute decided for the buyer; a refund where the partner would be asked for one.',
      params: OrderParams,
      body: Type.Object({ purpose: Purpose, signature: GivenSignature, reason: Reason }),
      data: CompactOrderSchema,
      errors: [
        ...ERRORS,
        'KYC_NOT_CLEARED',
        'WALLET_NOT_CLEARED',
        'INVALID_SIGNATURE',
        'ESCROW_SIGNER_MISMATCH',
      ],
    },
    async ({ params, body }, operator, unit) => {
      const { before, after } = await authorizePayout(tools, unit, params.order_id, {
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
  );
}
