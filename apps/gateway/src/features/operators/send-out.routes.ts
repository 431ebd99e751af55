import { CompactOrderSchema, literals, Uuid } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Hex } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import { operatorMutationAfter } from '../../http/route.ts';
import { decideSendOut, lookForPayout, type SendOutEnd } from '../orders/decide-send-out.ts';
import type { OrderHosts } from '../orders/order.host.ts';
import { recordAction } from './audit.ts';
import { OPERATOR_TAG, Reason } from './operator.schemas.ts';

interface SendOutRouteTools extends UnitTools {
  readonly chains: Chains;
  readonly orderHosts: OrderHosts;
}

const Body = Type.Object({
  outcome: literals(['settled', 'failed']),
  tx_hash: Type.Optional(
    Type.String({
      pattern: '^0x[0-9a-fA-F]{64}$',
      description: 'The payout on the other chain; with settled, and only with it',
      examples: [`0x${'5c'.repeat(32)}`],
    }),
  ),
  reason: Reason,
});

/** The way out for a send-out whose bridge was paid and never answers. */
export function registerSendOutRoutes(app: FastifyInstance, tools: SendOutRouteTools): void {
  operatorMutationAfter(
    app,
    tools,
    {
      method: 'POST',
      url: '/api/v1/operator/orders/:order_id/send-out',
      operationId: 'decideSendOut',
      tag: OPERATOR_TAG,
      summary: 'Say how a send-out ended whose bridge does not answer',
      description:
        'Only while the order is held and the bridge, which was paid, is overdue. A payout on a chain that is configured here is looked up there and must be final; on another the operator’s word is taken, and the audit log says so. Say failed only when the bridge has given the deposit back or never will: the partner may then send out again.',
      params: Type.Object({ order_id: Uuid }),
      body: Body,
      data: CompactOrderSchema,
      errors: [
        'ORDER_NOT_FOUND',
        'INVALID_ORDER_ID',
        'INVALID_STATUS',
        'OPERATION_NOT_ALLOWED',
        'TRANSACTOR_UNAVAILABLE',
      ],
    },
    async ({ params, body }) => {
      const end = endOf(body);
      return end.outcome === 'settled' ? lookForPayout(tools, params.order_id, end.txHash) : null;
    },
    async ({ params, body }, operator, unit, seen) => {
      const end = endOf(body);
      const { before, after } = await decideSendOut(unit, tools.orderHosts, params.order_id, end, seen);
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
  );
}

function endOf({ outcome, tx_hash: txHash }: Static<typeof Body>): SendOutEnd {
  if (outcome === 'failed') {
    if (txHash !== undefined) throw invalidRequest('tx_hash', 'belongs to settled only');
    return { outcome };
  }
  if (txHash === undefined) throw invalidRequest('tx_hash', 'is required with settled');
  return { outcome, txHash: txHash.toLowerCase() as Hex };
}
