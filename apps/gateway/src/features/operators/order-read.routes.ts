import { OrderStatusSchema, TimestampInput, Uuid } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { operatorRoute } from '../../http/route.ts';
import { readOrdersForOperator } from '../orders/desk-reads.ts';
import { CursorPage, CursorQuery, OPERATOR_TAG, oneOf, pageOf } from './operator.schemas.ts';
import { OperatorOrderSchema, OrderStorySchema } from './operator-order.schemas.ts';
import { operatorOrderView } from './operator-order.view.ts';
import { readOrderStory, type StoryTools } from './order-story.ts';
import { lateBefore } from './stuck-effects.ts';

const OrderSearch = Type.Object({
  status: Type.Optional(
    Type.Array(OrderStatusSchema, {
      maxItems: 30,
      description: 'May be repeated; any of them matches',
      examples: [['dispute_started']],
    }),
  ),
  partner_id: Type.Optional(Uuid),
  vendor_id: Type.Optional(Uuid),
  user_uuid: Type.Optional(Uuid),
  reference_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'The partner’s own', examples: ['payout-1'] }),
  ),
  direction: Type.Optional(oneOf(['onramp', 'offramp'])),
  held: Type.Optional(Type.Boolean({ description: 'Held for review', examples: [true] })),
  stuck: Type.Optional(
    Type.Boolean({
      description: 'Has an effect that failed, is unknown or late, or a payment that fits nothing',
      examples: [true],
    }),
  ),
  created_from: Type.Optional(TimestampInput('Inclusive')),
  created_to: Type.Optional(TimestampInput('Exclusive')),
  ...CursorQuery.properties,
});

/** Orders of all partners: finding one, and reading all there is about it. */
export function registerOrderReadRoutes(app: FastifyInstance, tools: StoryTools): void {
  operatorRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/operator/orders',
      operationId: 'searchOrders',
      tag: OPERATOR_TAG,
      summary: 'Orders of all partners, newest first',
      query: OrderSearch,
      data: Type.Object({ orders: Type.Array(OperatorOrderSchema), pagination: CursorPage }),
    },
    async ({ query }) => {
      const rows = await readOrdersForOperator(tools.db, {
        statuses: query.status ?? null,
        partnerId: query.partner_id ?? null,
        vendorId: query.vendor_id ?? null,
        userId: query.user_uuid ?? null,
        referenceId: query.reference_id ?? null,
        direction: query.direction ?? null,
        held: query.held ?? null,
        stuck: query.stuck ?? null,
        createdFrom: query.created_from === undefined ? null : new Date(query.created_from),
        createdTo: query.created_to === undefined ? null : new Date(query.created_to),
        lateBefore: lateBefore(tools.clock.date()),
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      const { page, pagination } = pageOf(rows, query.limit, (row) => row.order_id);
      return { orders: page.map(operatorOrderView), pagination };
    },
  );

  operatorRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/operator/orders/:order_id',
      operationId: 'getOrderStory',
      tag: OPERATOR_TAG,
      summary: 'The whole story of an order',
      description:
        'Timeline, where the money is, signatures, payments found on chain, effects with their transactions, webhooks sent, proofs, and what operators did. People are named by their ids only.',
      params: Type.Object({ order_id: Uuid }),
      data: OrderStorySchema,
      errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID'],
    },
    ({ params }) => readOrderStory(tools, params.order_id),
  );
}
