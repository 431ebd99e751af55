import {
  EscrowPurposeQuery,
  OrderParams,
  PaymentInstructionsSchema,
  VendorOrderDetailSchema,
  VendorOrderListSchema,
  VendorOrderQuery,
  VendorProfileSchema,
  VendorSigningSchema,
  VendorStatementQuery,
  VendorStatementSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { vendorScope } from '../../db/database.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { readVendorAnswers, statementView } from '../orders/disputes/vendor-answers.ts';
import { loadOrderForAction } from '../orders/lifecycle/act-on-order.ts';
import {
  earningView,
  pairLines,
  readEarnings,
  readVendorOrder,
  readVendorOrders,
  totalsOf,
} from '../orders/lifecycle/list-orders.ts';
import { paymentInstructions } from '../orders/lifecycle/payment-request.ts';
import { callingVendor, plannedEscrow } from './serve-order.ts';
import { vendorProfile } from './vendor.store.ts';
import { ORDER, ORDER_ERRORS, TAG, type VendorRouteDeps } from './vendor-order.routes.ts';
import { signingView, vendorOrderDetail, vendorOrderView } from './vendor-order.view.ts';

/** What a vendor reads: itself, its orders, what it signs, where it pays, what it earned. */
export function registerVendorReads(app: FastifyInstance, deps: VendorRouteDeps): void {
  registerProfile(app, deps);
  registerOrders(app, deps);
  registerSigning(app, deps);
  registerStatement(app, deps);
}

function registerProfile(app: FastifyInstance, deps: VendorRouteDeps): void {
  route(app, {
    access: 'vendor',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/vendor/profile',
    operationId: 'getVendorProfile',
    tag: TAG,
    summary: 'Get the vendor’s profile',
    data: VendorProfileSchema,
    handle: (_input, principal) =>
      unitOfWork(deps, vendorScope(principal.vendorId), async (unit) => {
        const { vendor_id } = await callingVendor(unit, principal);
        const [row] = await unit.tx.query(vendorProfile, [vendor_id]);
        if (row === undefined) throw new Error(`there is no vendor ${vendor_id}`);
        return row;
      }),
  });
}

function registerOrders(app: FastifyInstance, deps: VendorRouteDeps): void {
  route(app, {
    access: 'vendor',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/vendor/orders',
    operationId: 'listVendorOrders',
    tag: TAG,
    summary: 'List orders of this vendor, newest first',
    description: 'Offered to it or served by it; GET /vendor/events streams changes.',
    query: VendorOrderQuery,
    data: VendorOrderListSchema,
    handle: async ({ query: { status = null, direction = null, ...page } }, { vendorId }) => {
      const filter = { statuses: status, direction, ...page };
      const { orders, total } = await readVendorOrders(deps.db, vendorId, filter);
      return {
        orders: orders.map((order) => vendorOrderView(order, deps.vendorResponseSeconds)),
        pagination: { total, ...page },
      };
    },
  });

  route(app, {
    access: 'vendor',
    transaction: 'none',
    method: 'GET',
    url: ORDER,
    operationId: 'getVendorOrder',
    tag: TAG,
    summary: 'Get an order with the funding of its escrow',
    params: OrderParams,
    data: VendorOrderDetailSchema,
    errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID'],
    handle: async ({ params }, principal) => {
      const { wallet_address: wallet } = await unitOfWork(deps, vendorScope(principal.vendorId), (unit) =>
        callingVendor(unit, principal),
      );
      const read = await readVendorOrder(deps.db, principal.vendorId, params.order_id);
      const { order_id } = read.order;
      const scope = vendorScope(principal.vendorId);
      const answers = await readVendorAnswers(deps.db, scope, order_id);
      return {
        ...vendorOrderDetail(deps.chains, read, wallet, deps.vendorResponseSeconds),
        proofs: answers.proofs,
        dispute_statements: answers.statements.map((row) => statementView(deps.sealer, row)),
      };
    },
  });
}

function registerSigning(app: FastifyInstance, deps: VendorRouteDeps): void {
  route(app, {
    access: 'vendor',
    transaction: 'none',
    method: 'GET',
    url: `${ORDER}/signing-parameters`,
    operationId: 'getVendorSigningParameters',
    tag: TAG,
    summary: 'Get the parameters to sign a refund or release as vendor',
    description:
      'The refund is signed when the order is accepted, the release when fiat is received or proved.',
    params: OrderParams,
    query: EscrowPurposeQuery,
    data: VendorSigningSchema,
    errors: ORDER_ERRORS,
    handle: ({ params, query }, principal) =>
      unitOfWork(deps, vendorScope(principal.vendorId), async (unit) => {
        const vendor = await callingVendor(unit, principal);
        const order = await loadOrderForAction(unit, params.order_id);
        const escrow = await plannedEscrow(deps, unit, vendor, order);
        return signingView(deps.chains, { ...order, escrow }, query.purpose);
      }),
  });

  route(app, {
    access: 'vendor',
    transaction: 'none',
    method: 'GET',
    url: `${ORDER}/payment-instructions`,
    operationId: 'getVendorPaymentInstructions',
    tag: TAG,
    summary: 'Get the payment instructions of an order',
    params: OrderParams,
    data: PaymentInstructionsSchema,
    errors: [...ORDER_ERRORS, 'KYC_NOT_CLEARED', 'RECIPIENT_NOT_CLEARED', 'WALLET_NOT_CLEARED'],
    handle: ({ params }, principal) =>
      unitOfWork(deps, vendorScope(principal.vendorId), async (unit) => {
        await callingVendor(unit, principal);
        const order = await loadOrderForAction(unit, params.order_id);
        return { order_id: order.order_id, details: await paymentInstructions(deps, unit, order) };
      }),
  });
}

function registerStatement(app: FastifyInstance, deps: VendorRouteDeps): void {
  route(app, {
    access: 'vendor',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/vendor/statement',
    operationId: 'getVendorStatement',
    tag: TAG,
    summary: 'Get the statement of settled orders by asset, pair and order',
    description:
      'An order counts when its escrow has paid out, at the time of the booking. Totals cover the whole period, entries are paged.',
    query: VendorStatementQuery,
    data: VendorStatementSchema,
    handle: async ({ query: { from, to, ...page } }, { vendorId }) => {
      const period = {
        from: from === undefined ? null : new Date(from),
        to: to === undefined ? null : new Date(to),
      };
      if (period.from !== null && period.to !== null && period.from >= period.to) {
        throw invalidRequest('to', 'must be after from');
      }
      const { entries, sums, total } = await readEarnings(deps.db, vendorId, period, page);
      return {
        lines: pairLines(sums),
        totals: totalsOf(sums),
        entries: entries.map(earningView),
        pagination: { total, ...page },
      };
    },
  });
}
