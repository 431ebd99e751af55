import { CausewayError, OrderFundsSchema, Uuid } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { partnerScope } from '../../db/database.ts';
import { partnerRoute } from '../../http/route.ts';
import { type FundsTools, readOrderFunds } from './order-funds.ts';
import { readOrder } from './read-order.ts';

/** The support agent's question, answered from the books and from the chain. */
export function registerFundsRoute(app: FastifyInstance, tools: FundsTools): void {
  partnerRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/partner/orders/:order_id/funds',
      operationId: 'getOrderFunds',
      tag: 'Orders',
      summary: 'Where the money of an order is, and who must act next',
      params: Type.Object({ order_id: Uuid }),
      data: OrderFundsSchema,
      errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID'],
    },
    async ({ params }, partner) => {
      const scope = partnerScope(partner.partnerId);
      const order = await readOrder(tools.db, scope, params.order_id);
      if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
      return readOrderFunds(tools, scope, order);
    },
  );
}
