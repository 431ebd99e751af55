import {
  CompactOrderSchema,
  DisputeStatementInput,
  DisputeStatementRecordSchema,
  OrderParams,
  PaymentProofInput,
  RefundSignatureInput,
  ReleaseSignatureInput,
  VENDOR_TRIGGERS,
  VendorAcceptanceInput,
  VendorDeclineInput,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { UnitDeps, UnitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import type { RouteSpec } from '../../http/route-declaration.ts';
import { DOCUMENT_BODY_BYTES, readDocumentContent } from '../kyc/documents/documents.ts';
import { stateInDispute } from '../orders/disputes/vendor-answers.ts';
import { loadOrderForAction, moveOrder, type PaymentProof } from '../orders/lifecycle/act-on-order.ts';
import type { OrderRow } from '../orders/lifecycle/order.ts';
import type { paymentInstructions } from '../orders/lifecycle/payment-request.ts';
import {
  acceptOrder,
  callingVendor,
  confirmFiatReceived,
  declineOrder,
  signRefund,
  signRelease,
  submitProof,
  type VendorDeps,
  type VendorSignature,
} from './serve-order.ts';
import { findVendor, type VendorRow } from './vendor.store.ts';

/** Building blocks of the vendors' routes. */

type InstructionDeps = Parameters<typeof paymentInstructions>[0];

export interface VendorRouteDeps extends UnitDeps, VendorDeps, InstructionDeps {
  /** Null where vendors may take as long as the order waits. */
  readonly vendorResponseSeconds: number | null;
}

export const TAG = 'Vendor';
export const ORDER = '/api/v1/vendor/orders/:order_id';

export const ORDER_ERRORS = [
  'ORDER_NOT_FOUND',
  'INVALID_ORDER_ID',
  'INVALID_STATUS',
  'OPERATION_NOT_ALLOWED',
] as const;

const SIGNING_ERRORS = [...ORDER_ERRORS, 'INVALID_SIGNATURE'] as const;

const given =
  (signature: string): VendorSignature =>
  async () =>
    signature as `0x${string}`;

/** What a vendor does with an order. */
export function registerVendorOrderRoutes(app: FastifyInstance, deps: VendorRouteDeps): void {
  registerTaking(app, deps);
  registerFiatConfirmed(app, deps);
  registerReports(app, deps);
  registerDisputeStatements(app, deps);
  app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.bodyLimit = DOCUMENT_BODY_BYTES;
    });
    registerProof(scope, deps);
  });
}

type Work<B> = (unit: UnitOfWork, vendor: VendorRow, orderId: string, body: B) => Promise<OrderRow>;

/** One endpoint of an order: the work in one unit, answered with where the order then stands. */
function addAction<B extends TSchema>(
  app: FastifyInstance,
  deps: VendorRouteDeps,
  spec: Pick<
    RouteSpec<TSchema, TSchema, B, TSchema>,
    'operationId' | 'summary' | 'description' | 'body' | 'errors'
  >,
  action: string,
  work: Work<Static<B>>,
): void {
  route(app, {
    access: 'vendor',
    transaction: 'unit',
    deps,
    ...spec,
    method: 'POST',
    url: `${ORDER}/${action}`,
    tag: TAG,
    params: OrderParams,
    data: CompactOrderSchema,
    handle: async ({ params, body }, principal, unit) => {
      const vendor = await callingVendor(unit, principal);
      const { order_id, status } = await work(unit, vendor, params.order_id, body);
      return { order_id, status };
    },
  });
}

function registerTaking(app: FastifyInstance, deps: VendorRouteDeps): void {
  addAction(
    app,
    deps,
    {
      operationId: 'acceptVendorOrder',
      summary: 'Accept an order',
      description:
        'On-ramp, payment_details say where the end user pays: what the order’s rail requires, and what else helps, a reference say. payment_request orders need none.',
      body: VendorAcceptanceInput,
      errors: [...SIGNING_ERRORS, 'WALLET_NOT_CLEARED', 'SERVICE_UNAVAILABLE'],
    },
    'accept',
    async (unit, vendor, orderId, body) => {
      const order = await loadOrderForAction(unit, orderId);
      const needsDetails = order.direction === 'onramp' && !order.facts.paymentRequest;
      if (needsDetails && Object.keys(body.payment_details ?? {}).length === 0) {
        throw invalidRequest('payment_details', 'is required: the end user must know where to pay');
      }
      const details = needsDetails ? body.payment_details : undefined;
      return acceptOrder(deps, unit, vendor, orderId, given(body.refund_signature), details);
    },
  );

  addAction(
    app,
    deps,
    {
      operationId: 'signVendorRefund',
      summary: 'Submit the refund signature of an assigned order',
      description: 'Of one that is offered it is part of accept, and refused here with 409.',
      body: RefundSignatureInput,
      errors: SIGNING_ERRORS,
    },
    'sign-refund',
    (unit, vendor, orderId, body) => signRefund(deps, unit, vendor, orderId, given(body.refund_signature)),
  );

  addAction(
    app,
    deps,
    {
      operationId: 'declineVendorOrder',
      summary: 'Decline an order',
      description: 'Possible until it is accepted. The next vendor is asked, and the order answers 404 here.',
      body: VendorDeclineInput,
      errors: ORDER_ERRORS,
    },
    'decline',
    (unit, { vendor_id: vendorId }, orderId, body) => {
      const reason = body?.reason;
      return declineOrder(deps, unit, orderId, reason === undefined ? undefined : { vendorId, reason });
    },
  );
}

function registerFiatConfirmed(app: FastifyInstance, deps: VendorRouteDeps): void {
  addAction(
    app,
    deps,
    {
      operationId: 'confirmVendorFiat',
      summary: 'Confirm the end user’s fiat payment and sign the release',
      body: ReleaseSignatureInput,
      errors: SIGNING_ERRORS,
    },
    'fiat-confirmed',
    (unit, vendor, orderId, body) =>
      confirmFiatReceived(deps, unit, vendor, orderId, given(body.release_signature)),
  );
}

function registerProof(app: FastifyInstance, deps: VendorRouteDeps): void {
  addAction(
    app,
    deps,
    {
      operationId: 'submitVendorProof',
      summary: 'Submit a payment proof and sign the release',
      description: 'JPEG, PNG, WebP or PDF. It is stored encrypted and shown to the operator who reviews it.',
      body: PaymentProofInput,
      errors: [...SIGNING_ERRORS, 'PAYLOAD_TOO_LARGE'],
    },
    'payment-proof',
    (unit, vendor, orderId, body) =>
      submitProof(deps, unit, vendor, orderId, proofOf(body), given(body.release_signature)),
  );
}

/** Only what is what it claims to be is kept: a reviewer opens it. */
function proofOf({
  payment_reference,
  content_type,
  content,
}: Static<typeof PaymentProofInput>): PaymentProof {
  if (content === undefined && content_type === undefined) return { reference: payment_reference };
  if (content === undefined) throw invalidRequest('content', 'is required with content_type');
  if (content_type === undefined) throw invalidRequest('content_type', 'is required with content');
  const bytes = readDocumentContent(content, content_type);
  return { reference: payment_reference, content_type, content: bytes.toString('base64') };
}

function registerReports(app: FastifyInstance, deps: VendorRouteDeps): void {
  for (const [action, operationId, summary] of [
    ['dispute', 'openVendorDispute', 'Open a dispute; the operator decides it'],
    ['fiat-settled', 'confirmVendorSettlement', 'Notify that the recipient has received the fiat'],
  ] as const) {
    const { trigger, actor } = VENDOR_TRIGGERS[action];
    addAction(
      app,
      deps,
      { operationId, summary, errors: ORDER_ERRORS },
      action,
      async (unit, _vendor, orderId) => {
        const order = await loadOrderForAction(unit, orderId);
        return moveOrder(unit, deps.orderAdapters, order, trigger, actor);
      },
    );
  }
}

function registerDisputeStatements(app: FastifyInstance, deps: VendorRouteDeps): void {
  route(app, {
    access: 'vendor',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${ORDER}/dispute-statements`,
    operationId: 'submitDisputeStatement',
    tag: TAG,
    summary: 'Say what happened in a dispute',
    description:
      'For the operator who decides; possible until then, as often as needed. GET /vendor/orders/{order_id} lists them.',
    params: OrderParams,
    body: DisputeStatementInput,
    data: DisputeStatementRecordSchema,
    errors: ORDER_ERRORS,
    handle: async ({ params, body }, principal, unit) => {
      const vendor = await callingVendor(unit, principal);
      const order = await loadOrderForAction(unit, params.order_id);
      return stateInDispute(unit, deps.sealer, order, vendor.vendor_id, body);
    },
  });
}

export function registerVendorReleaseRoute(app: FastifyInstance, deps: UnitDeps & VendorDeps): void {
  route(app, {
    access: 'vendor',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/vendor/orders/:order_id/sign-release',
    operationId: 'signVendorRelease',
    tag: 'Vendor',
    summary: 'Submit the release signature after a dispute decided for the buyer',
    description:
      'Off-ramp the vendor is the buyer and is paid by it; on-ramp the vendor agrees to it. After a failed release it is tried again when the review is over.',
    params: OrderParams,
    body: ReleaseSignatureInput,
    data: CompactOrderSchema,
    errors: [
      'ORDER_NOT_FOUND',
      'INVALID_ORDER_ID',
      'INVALID_STATUS',
      'OPERATION_NOT_ALLOWED',
      'KYC_NOT_CLEARED',
      'WALLET_NOT_CLEARED',
      'INVALID_SIGNATURE',
    ],
    handle: async ({ params, body }, { vendorId }, unit) => {
      const [vendor] = await unit.tx.query(findVendor, [vendorId]);
      if (vendor === undefined) throw new Error(`there is no vendor ${vendorId}`);
      const given = async () => body.release_signature as `0x${string}`;
      const { order_id, status } = await signRelease(deps, unit, vendor, params.order_id, given);
      return { order_id, status };
    },
  });
}
