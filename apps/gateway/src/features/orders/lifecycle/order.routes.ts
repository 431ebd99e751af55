import {
  CancelOrderInput,
  CausewayError,
  CompactOrderSchema,
  InitiateInput,
  OrderListSchema,
  OrderParams,
  OrderQuery,
  OrderSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { partnerScope } from '../../../db/database.ts';
import { route } from '../../../http/route.ts';
import { registerDepositReturnRoutes, registerFundsRoute } from '../escrow/escrow.routes.ts';
import { keepStopReason } from '../privacy/order-privacy.ts';
import { actOnOrder, requireOrder } from './act-on-order.ts';
import { claimingQuote, initiateOnramp } from './initiate-order.ts';
import { listOrders } from './list-orders.ts';
import { findOrder } from './order.store.ts';
import { orderView } from './order.view.ts';
import {
  type OfframpRouteDeps,
  type OnrampRouteDeps,
  registerOfframpRoutes,
  registerOnrampRoutes,
} from './ramp.routes.ts';

export interface OrderRouteDeps extends OfframpRouteDeps, OnrampRouteDeps {}

export function registerOrderRoutes(app: FastifyInstance, deps: OrderRouteDeps): void {
  registerOnrampRoutes(app, deps);
  registerOfframpRoutes(app, deps);
  registerFundsRoute(app, deps);
  registerDepositReturnRoutes(app, deps);
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/onramp/initiate',
    operationId: 'initiateOnramp',
    tag: 'On-ramp',
    summary: 'Create an order from a quote',
    body: InitiateInput,
    data: OrderSchema,
    errors: [
      'QUOTE_NOT_FOUND',
      'QUOTE_EXPIRED',
      'QUOTE_ALREADY_USED',
      'KYC_NOT_CLEARED',
      'WALLET_NOT_CLEARED',
      'NO_OFFERS_AVAILABLE',
      'OPEN_ORDER_LIMIT',
    ],
    acquire: claimingQuote(deps, 'onramp'),
    handle: ({ body }, _partner, unit, claim) => initiateOnramp(deps, unit, claim, body),
  });

  registerReads(app, deps);
  registerActions(app, deps);
}

function registerReads(app: FastifyInstance, deps: OrderRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/orders',
    operationId: 'listOrders',
    tag: 'Orders',
    summary: 'List orders, newest first',
    query: OrderQuery,
    data: OrderListSchema,
    handle: async ({ query }, partner) => {
      const { page, limit } = query;
      const { orders, total } = await listOrders(deps.db, partner.partnerId, query);
      return { orders: orders.map((order) => orderView(deps, order)), pagination: { page, limit, total } };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/orders/:order_id',
    operationId: 'getOrder',
    tag: 'Orders',
    summary: 'Get an order',
    params: OrderParams,
    data: OrderSchema,
    errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID'],
    handle: async ({ params }, partner) => {
      const [order] = await deps.db.query(partnerScope(partner.partnerId), findOrder, [params.order_id]);
      if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
      return orderView(deps, order);
    },
  });
}

function registerActions(app: FastifyInstance, deps: OrderRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/orders/:order_id/confirm-payment-sent',
    operationId: 'confirmPaymentSent',
    tag: 'On-ramp',
    summary: 'Confirm that the end user has sent the fiat',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    data: CompactOrderSchema,
    errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID', 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params }, _partner, unit) => {
      const order = await actOnOrder(
        unit,
        deps.orderAdapters,
        params.order_id,
        'payment_sent_confirmed',
        'partner',
      );
      return { order_id: order.order_id, status: order.status };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/orders/:order_id/cancel',
    operationId: 'cancelOrder',
    tag: 'Orders',
    summary: 'Cancel an order',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    body: CancelOrderInput,
    data: CompactOrderSchema,
    errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID', 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, _partner, unit) => {
      const order = await actOnOrder(
        unit,
        deps.orderAdapters,
        params.order_id,
        'cancelled_by_partner',
        'partner',
      );
      if (body?.reason !== undefined) keepStopReason(unit, deps.sealer, order, body.reason);
      return { order_id: order.order_id, status: order.status };
    },
  });
}
