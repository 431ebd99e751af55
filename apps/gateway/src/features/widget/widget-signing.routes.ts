import {
  OrderParams,
  RefundAuthorizationParametersSchema,
  SignatureInput,
  TransferAuthorizationInput,
  TransferAuthorizationParametersSchema,
  WIDGET_TAG,
  WidgetOrderSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { route } from '../../http/route.ts';
import {
  authorizeCryptoTransfer,
  authorizePayout,
  payoutAuthorizationParameters,
  refundDeposit,
  TRANSFER_AUTHORIZATION_ERRORS,
  transferAuthorizationParameters,
} from '../orders/escrow/authorize.ts';
import { requireOrder } from '../orders/lifecycle/act-on-order.ts';
import {
  customerCaller,
  ORDER,
  orderAction,
  readWidgetOrder,
  SESSION,
  type WidgetOrderRouteDeps,
} from './widget-order.routes.ts';

const SIGNING_ERRORS = [
  'EMAIL_NOT_CONFIRMED',
  'ORDER_NOT_FOUND',
  'INVALID_ORDER_ID',
  'INVALID_STATUS',
  'OPERATION_NOT_ALLOWED',
  'WALLET_NOT_CLEARED',
] as const;

const pathOf = (orderId: string, action: string) => `${SESSION}/orders/${orderId}/${action}`;

/** What a customer's wallet signs: the transfer into escrow, a refund, a release after a dispute. */
export function registerWidgetSigningRoutes(app: FastifyInstance, deps: WidgetOrderRouteDeps): void {
  registerTransfer(app, deps);
  for (const purpose of ['refund', 'release'] as const) registerPayoutParameters(app, deps, purpose);
  registerRelease(app, deps);
  registerRefund(app, deps);
}

function registerTransfer(app: FastifyInstance, deps: WidgetOrderRouteDeps): void {
  route(app, {
    access: 'session',
    transaction: 'none',
    method: 'GET',
    url: `${ORDER}/transfer-authorization-parameters`,
    operationId: 'getWidgetTransferAuthorizationParameters',
    tag: WIDGET_TAG,
    summary: 'Get the parameters to sign the transfer into escrow',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    data: TransferAuthorizationParametersSchema,
    errors: [
      ...SIGNING_ERRORS,
      'KYC_NOT_CLEARED',
      'RECIPIENT_NOT_CLEARED',
      'ALLOWANCE_TOO_LOW',
      'BALANCE_TOO_LOW',
      'TRANSACTOR_UNAVAILABLE',
    ],
    handle: async ({ params }, session) => ({
      ...(await transferAuthorizationParameters(deps, customerCaller(session), params.order_id)),
      authorization_path: pathOf(params.order_id, 'authorize-crypto-transfer'),
    }),
  });
  orderAction(app, deps, {
    name: 'authorize-crypto-transfer',
    operationId: 'authorizeCryptoTransferInWidget',
    summary: 'Submit the transfer into escrow, signed by the customer’s wallet',
    body: TransferAuthorizationInput,
    errors: TRANSFER_AUTHORIZATION_ERRORS,
    act: (unit, orderId, body) => authorizeCryptoTransfer(deps, unit, orderId, body, 'customer'),
  });
}

function registerRelease(app: FastifyInstance, deps: WidgetOrderRouteDeps): void {
  orderAction(app, deps, {
    name: 'authorize-release',
    operationId: 'authorizeReleaseInWidget',
    summary: 'Submit the release after a dispute decided for the customer',
    body: SignatureInput,
    errors: ['KYC_NOT_CLEARED', 'WALLET_NOT_CLEARED', 'INVALID_SIGNATURE', 'ESCROW_SIGNER_MISMATCH'],
    act: async (unit, orderId, { signature }) => {
      const given = { purpose: 'release', actor: 'customer', owners: ['buyer'], signature } as const;
      return (await authorizePayout(deps, unit, orderId, given)).after;
    },
  });
}

function registerPayoutParameters(
  app: FastifyInstance,
  deps: WidgetOrderRouteDeps,
  purpose: 'refund' | 'release',
): void {
  const isRefund = purpose === 'refund';
  route(app, {
    access: 'session',
    transaction: 'none',
    method: 'GET',
    url: `${ORDER}/${purpose}-authorization-parameters`,
    operationId: isRefund
      ? 'getWidgetRefundAuthorizationParameters'
      : 'getWidgetReleaseAuthorizationParameters',
    tag: WIDGET_TAG,
    summary: isRefund
      ? 'Get the parameters to sign a refund'
      : 'Get the parameters to sign a release after a dispute decided for the customer',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    data: RefundAuthorizationParametersSchema,
    errors: [...SIGNING_ERRORS, ...(isRefund ? [] : (['KYC_NOT_CLEARED'] as const))],
    handle: async ({ params }, session) => ({
      ...(await payoutAuthorizationParameters(deps, customerCaller(session), params.order_id, purpose)),
      authorization_path: pathOf(params.order_id, `authorize-${purpose}`),
    }),
  });
}

function registerRefund(app: FastifyInstance, deps: WidgetOrderRouteDeps): void {
  route(app, {
    access: 'session',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: `${ORDER}/authorize-refund`,
    operationId: 'authorizeRefundInWidget',
    tag: WIDGET_TAG,
    summary: 'Submit the refund, signed by the customer’s wallet',
    description: 'Waits a few seconds for the refund; without refund_tx_hash it is still in flight.',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    body: SignatureInput,
    data: WidgetOrderSchema,
    errors: [...SIGNING_ERRORS, 'INVALID_SIGNATURE', 'ESCROW_SIGNER_MISMATCH'],
    handle: async ({ params, body }, session, outside) => {
      await refundDeposit(deps, customerCaller(session), params.order_id, body.signature, outside);
      return readWidgetOrder(deps, session, params.order_id);
    },
  });
}
