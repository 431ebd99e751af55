import {
  CausewayError,
  CompactOrderSchema,
  GivenSignature,
  literals,
  Uuid,
  VendorOrderSchema,
  VendorSigningSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { SYSTEM } from '../../db/database.ts';
import { type UnitOfWork, type UnitTools, unitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import type { VendorPrincipal } from '../../http/principals.ts';
import { vendorRoute } from '../../http/route.ts';
import { moveOrder } from '../orders/act-on-order.ts';
import { readVendorOrders, readVendorStatement } from '../orders/desk-reads.ts';
import type { OrderSecrets } from '../orders/order.secrets.ts';
import type { OrderRow } from '../orders/order.types.ts';
import { paymentInstructions } from '../orders/pay-instructions.ts';
import {
  acceptOrder,
  confirmFiatReceived,
  declineOrder,
  offeredOrder,
  plannedEscrow,
  signRefund,
  submitProof,
  type VendorSignature,
  type VendorTools,
} from './serve-order.ts';
import { findVendor, type VendorRow } from './vendor.store.ts';
import { signingView, vendorOrderView } from './vendor-order.view.ts';

export interface VendorRouteTools extends UnitTools, VendorTools, OrderSecrets {}

const TAG = 'Vendor';
const ORDER = '/api/v1/vendor/orders/:order_id';
const OrderParams = Type.Object({ order_id: Uuid });
const ERRORS = ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID', 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED'] as const;
const TextMap = Type.Record(Type.String({ maxLength: 100 }), Type.String({ minLength: 1, maxLength: 500 }));

type VendorWork = (unit: UnitOfWork, vendor: VendorRow) => Promise<OrderRow>;

const given =
  (signature: string): VendorSignature =>
  async () =>
    signature as `0x${string}`;

export function registerVendorOrderRoutes(app: FastifyInstance, tools: VendorRouteTools): void {
  registerReads(app, tools);
  registerTaking(app, tools);
  registerSettling(app, tools);
}

async function asVendor(tools: VendorRouteTools, principal: VendorPrincipal, work: VendorWork) {
  return unitOfWork(tools, SYSTEM, async (unit) => {
    const { order_id, status } = await work(unit, await vendorRow(unit, principal));
    return { order_id, status };
  });
}

async function vendorRow(unit: UnitOfWork, { vendorId }: VendorPrincipal): Promise<VendorRow> {
  const [vendor] = await unit.tx.query(findVendor, [vendorId]);
  if (vendor === undefined) throw new Error(`there is no vendor ${vendorId}`);
  return vendor;
}

/** A marketplace vendor cannot confirm its own payment; only a provider's notification counts as one. */
function requireNotifier(order: OrderRow, actor: 'vendor' | 'provider'): void {
  if (actor === 'provider' && !order.facts.settlementNotification) {
    throw new CausewayError('OPERATION_NOT_ALLOWED');
  }
}

function registerReads(app: FastifyInstance, tools: VendorRouteTools): void {
  vendorRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/vendor/orders',
      operationId: 'listVendorOrders',
      tag: TAG,
      summary: 'Orders offered to or served by this vendor, newest first',
      query: Type.Object({
        status: Type.Optional(Type.Array(Type.String({ maxLength: 60 }), { maxItems: 30 })),
        limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
        offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
      }),
      data: Type.Object({ orders: Type.Array(VendorOrderSchema) }),
    },
    async ({ query }, { vendorId }) => {
      const filter = { statuses: query.status ?? null, limit: query.limit, offset: query.offset };
      return { orders: (await readVendorOrders(tools.db, vendorId, filter)).map(vendorOrderView) };
    },
  );

  vendorRoute(
    app,
    {
      method: 'GET',
      url: `${ORDER}/signing-parameters`,
      operationId: 'getVendorSigningParameters',
      tag: TAG,
      summary: 'What the vendor’s wallet signs for this order’s escrow',
      description:
        'The refund is signed when the order is accepted, the release when fiat is received or proved.',
      params: OrderParams,
      query: Type.Object({ purpose: literals(['refund', 'release']) }),
      data: VendorSigningSchema,
      errors: ERRORS,
    },
    ({ params, query }, principal) =>
      unitOfWork(tools, SYSTEM, async (unit) => {
        const vendor = await vendorRow(unit, principal);
        const order = await offeredOrder(unit, vendor, params.order_id);
        const escrow = await plannedEscrow(tools, unit, vendor, order);
        return signingView(tools.chains, { ...order, escrow }, query.purpose);
      }),
  );

  vendorRoute(
    app,
    {
      method: 'GET',
      url: `${ORDER}/payment-instructions`,
      operationId: 'getVendorPaymentInstructions',
      tag: TAG,
      summary: 'Where to pay fiat, or whom to ask for it',
      params: OrderParams,
      data: Type.Object({ order_id: Uuid, details: Type.Record(Type.String(), Type.String()) }),
      errors: ERRORS,
    },
    ({ params }, principal) =>
      unitOfWork(tools, SYSTEM, async (unit) => {
        const order = await offeredOrder(unit, await vendorRow(unit, principal), params.order_id);
        return { order_id: order.order_id, details: await paymentInstructions(tools, unit, order) };
      }),
  );

  vendorRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/vendor/statement',
      operationId: 'getVendorStatement',
      tag: TAG,
      summary: 'What completed orders brought, by pair',
      data: Type.Object({
        lines: Type.Array(
          Type.Object({
            direction: literals(['onramp', 'offramp']),
            crypto_currency: Type.String(),
            fiat_currency: Type.String(),
            orders: Type.Integer(),
            crypto_amount: Type.String({ description: 'Sold on-ramp, bought off-ramp' }),
            fiat_amount: Type.String({ description: 'Received on-ramp, paid off-ramp' }),
          }),
        ),
      }),
    },
    async (_input, { vendorId }) => ({
      lines: (await readVendorStatement(tools.db, vendorId)).map((row) => ({
        direction: row.direction === 'onramp' ? ('onramp' as const) : ('offramp' as const),
        crypto_currency: row.crypto_currency,
        fiat_currency: row.fiat_currency,
        orders: Number(row.orders),
        crypto_amount: row.crypto,
        fiat_amount: row.fiat,
      })),
    }),
  );
}

function registerTaking(app: FastifyInstance, tools: VendorRouteTools): void {
  vendorRoute(
    app,
    {
      method: 'POST',
      url: `${ORDER}/accept`,
      operationId: 'acceptVendorOrder',
      tag: TAG,
      summary: 'Take an order',
      description: 'On-ramp, payment_details say where the end user pays; payment_request orders need none.',
      params: OrderParams,
      body: Type.Object({ refund_signature: GivenSignature, payment_details: Type.Optional(TextMap) }),
      data: CompactOrderSchema,
      errors: [...ERRORS, 'INVALID_SIGNATURE'],
    },
    ({ params, body }, principal) =>
      asVendor(tools, principal, async (unit, vendor) => {
        const order = await offeredOrder(unit, vendor, params.order_id);
        const needsDetails = order.direction === 'onramp' && !order.facts.paymentRequest;
        if (needsDetails && body.payment_details === undefined) {
          throw invalidRequest('payment_details', 'is required: the end user must know where to pay');
        }
        const details = needsDetails ? body.payment_details : undefined;
        return acceptOrder(tools, unit, vendor, params.order_id, given(body.refund_signature), details);
      }),
  );

  vendorRoute(
    app,
    {
      method: 'POST',
      url: `${ORDER}/sign-refund`,
      operationId: 'signVendorRefund',
      tag: TAG,
      summary: 'Sign the refund of an order that this vendor’s quote already serves',
      params: OrderParams,
      body: Type.Object({ refund_signature: GivenSignature }),
      data: CompactOrderSchema,
      errors: [...ERRORS, 'INVALID_SIGNATURE'],
    },
    ({ params, body }, principal) =>
      asVendor(tools, principal, async (unit, vendor) => {
        await offeredOrder(unit, vendor, params.order_id);
        return signRefund(tools, unit, vendor, params.order_id, given(body.refund_signature));
      }),
  );

  vendorRoute(
    app,
    {
      method: 'POST',
      url: `${ORDER}/decline`,
      operationId: 'declineVendorOrder',
      tag: TAG,
      summary: 'Leave an order to the next vendor',
      params: OrderParams,
      data: CompactOrderSchema,
      errors: ERRORS,
    },
    ({ params }, principal) =>
      asVendor(tools, principal, (unit, vendor) => declineOrder(tools, unit, vendor, params.order_id)),
  );
}

function registerSettling(app: FastifyInstance, tools: VendorRouteTools): void {
  vendorRoute(
    app,
    {
      method: 'POST',
      url: `${ORDER}/fiat-confirmed`,
      operationId: 'confirmVendorFiat',
      tag: TAG,
      summary: 'Say that the end user’s fiat has arrived, and sign the release',
      params: OrderParams,
      body: Type.Object({ release_signature: GivenSignature }),
      data: CompactOrderSchema,
      errors: [...ERRORS, 'INVALID_SIGNATURE'],
    },
    ({ params, body }, principal) =>
      asVendor(tools, principal, (unit, vendor) =>
        confirmFiatReceived(tools, unit, vendor, params.order_id, given(body.release_signature)),
      ),
  );

  vendorRoute(
    app,
    {
      method: 'POST',
      url: `${ORDER}/payment-proof`,
      operationId: 'submitVendorProof',
      tag: TAG,
      summary: 'Prove a payment to the recipient, and sign the release',
      params: OrderParams,
      body: Type.Object({
        payment_reference: Type.String({ minLength: 1, maxLength: 200 }),
        content_type: Type.Optional(literals(['image/jpeg', 'image/png', 'application/pdf'])),
        content: Type.Optional(Type.String({ maxLength: 1_000_000, description: 'Base64' })),
        release_signature: GivenSignature,
      }),
      data: CompactOrderSchema,
      errors: [...ERRORS, 'INVALID_SIGNATURE'],
    },
    ({ params, body }, principal) =>
      asVendor(tools, principal, (unit, vendor) => {
        const { payment_reference: reference, content_type, content } = body;
        const sign = given(body.release_signature);
        return submitProof(tools, unit, vendor, params.order_id, { reference, content_type, content }, sign);
      }),
  );

  for (const [action, operationId, trigger, actor, summary] of [
    ['dispute', 'openVendorDispute', 'dispute_opened', 'vendor', 'Open a dispute'],
    [
      'fiat-settled',
      'confirmVendorSettlement',
      'fiat_received_confirmed_by_provider',
      'provider',
      'Notify that the recipient has the fiat; for providers that promised to',
    ],
  ] as const) {
    vendorRoute(
      app,
      {
        method: 'POST',
        url: `${ORDER}/${action}`,
        operationId,
        tag: TAG,
        summary,
        params: OrderParams,
        data: CompactOrderSchema,
        errors: ERRORS,
      },
      ({ params }, principal) =>
        asVendor(tools, principal, async (unit, vendor) => {
          const order = await offeredOrder(unit, vendor, params.order_id);
          requireNotifier(order, actor);
          return moveOrder(unit, tools.orderHosts, order, trigger, actor);
        }),
    );
  }
}
