import {
  CompactOrderSchema,
  InitiateInput,
  OrderParams,
  OrderSchema,
  RefundAnswerSchema,
  RefundAuthorizationParametersSchema,
  SignatureInput,
  TransferAuthorizationInput,
  TransferAuthorizationParametersSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Chains } from '../../../chain/chains.ts';
import type { UnitDeps } from '../../../engine/unit-of-work.ts';
import { route } from '../../../http/route.ts';
import {
  authorizeCryptoTransfer,
  payoutAuthorizationParameters,
  refundDeposit,
  transferAuthorizationParameters,
} from '../escrow/authorize.ts';
import { actOnOrder, requireOrder } from './act-on-order.ts';
import { claimingQuote, type InitiateDeps, initiateOfframp } from './initiate-order.ts';

export interface OfframpRouteDeps extends UnitDeps, InitiateDeps {
  readonly chains: Chains;
}

const TAG = 'Off-ramp';

const ACTION_ERRORS = [
  'ORDER_NOT_FOUND',
  'INVALID_ORDER_ID',
  'INVALID_STATUS',
  'OPERATION_NOT_ALLOWED',
] as const;

export function registerOfframpRoutes(app: FastifyInstance, deps: OfframpRouteDeps): void {
  registerInitiate(app, deps);
  registerFunding(app, deps);
  registerConfirmation(app, deps);
  registerRefund(app, deps);
}

function registerInitiate(app: FastifyInstance, deps: OfframpRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/offramp/initiate',
    operationId: 'initiateOfframp',
    tag: TAG,
    summary: 'Create an order from a quote',
    body: InitiateInput,
    data: OrderSchema,
    errors: [
      'QUOTE_NOT_FOUND',
      'QUOTE_EXPIRED',
      'QUOTE_ALREADY_USED',
      'KYC_NOT_CLEARED',
      'RECIPIENT_NOT_CLEARED',
      'WALLET_NOT_CLEARED',
      'SENDER_IDENTITY_REQUIRED',
      'OPEN_ORDER_LIMIT',
    ],
    acquire: claimingQuote(deps, 'offramp'),
    handle: ({ body }, _partner, unit, claim) => initiateOfframp(deps, unit, claim, body),
  });
}

function registerFunding(app: FastifyInstance, deps: OfframpRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/orders/:order_id/transfer-authorization-parameters',
    operationId: 'getTransferAuthorizationParameters',
    tag: TAG,
    summary: 'Get the parameters to sign the transfer into escrow',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    data: TransferAuthorizationParametersSchema,
    errors: [
      ...ACTION_ERRORS,
      'KYC_NOT_CLEARED',
      'RECIPIENT_NOT_CLEARED',
      'WALLET_NOT_CLEARED',
      'ALLOWANCE_TOO_LOW',
      'BALANCE_TOO_LOW',
      'TRANSACTOR_UNAVAILABLE',
    ],
    handle: ({ params }, partner) =>
      transferAuthorizationParameters(deps, partner.partnerId, params.order_id),
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/orders/:order_id/authorize-crypto-transfer',
    operationId: 'authorizeCryptoTransfer',
    tag: TAG,
    summary: 'Submit the signed transfer into escrow',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    body: TransferAuthorizationInput,
    data: CompactOrderSchema,
    errors: [
      ...ACTION_ERRORS,
      'KYC_NOT_CLEARED',
      'RECIPIENT_NOT_CLEARED',
      'WALLET_NOT_CLEARED',
      'INVALID_FORWARD_REQUEST',
      'INVALID_SIGNATURE',
      'NONCE_ALREADY_USED',
    ],
    handle: async ({ params, body }, _partner, unit) => {
      const order = await authorizeCryptoTransfer(deps, unit, params.order_id, body);
      return { order_id: order.order_id, status: order.status };
    },
  });
}

function registerConfirmation(app: FastifyInstance, deps: OfframpRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/orders/:order_id/confirm-fiat-received',
    operationId: 'confirmFiatReceived',
    tag: TAG,
    summary: 'Confirm that the recipient received the fiat',
    description: 'On an order that is confirmed already it changes nothing and answers the status.',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    data: CompactOrderSchema,
    errors: ACTION_ERRORS,
    handle: async ({ params }, _partner, unit) => {
      const { order_id, status } = await actOnOrder(
        unit,
        deps.orderAdapters,
        params.order_id,
        'fiat_received_confirmed_by_partner',
        'partner',
      );
      return { order_id, status };
    },
  });
}

function registerRefund(app: FastifyInstance, deps: OfframpRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/orders/:order_id/refund-authorization-parameters',
    operationId: 'getRefundAuthorizationParameters',
    tag: TAG,
    summary: 'Get the parameters to sign a refund',
    description: 'Sign with signer_address; recipient_address is always the escrow’s seller.',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    data: RefundAuthorizationParametersSchema,
    errors: [...ACTION_ERRORS, 'WALLET_NOT_CLEARED'],
    handle: ({ params }, partner) =>
      payoutAuthorizationParameters(deps, partner.partnerId, params.order_id, 'refund'),
  });

  route(app, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: '/api/v1/partner/orders/:order_id/authorize-refund',
    operationId: 'authorizeRefund',
    tag: TAG,
    summary: 'Submit the signed refund',
    description: 'Waits a few seconds for the refund; without tx_hash it is still in flight: poll the order.',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    body: SignatureInput,
    data: RefundAnswerSchema,
    errors: [...ACTION_ERRORS, 'WALLET_NOT_CLEARED', 'INVALID_SIGNATURE', 'ESCROW_SIGNER_MISMATCH'],
    handle: ({ params, body }, partner) =>
      refundDeposit(deps, partner.partnerId, params.order_id, body.signature),
  });
}
