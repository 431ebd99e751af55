import {
  BridgeAuthorizationInput,
  BridgeAuthorizationParametersSchema,
  BridgeAuthorizationQuery,
  CompactOrderSchema,
  InitiateInput,
  MessageSchema,
  OrderParams,
  OrderSchema,
  PayerDetailsInput,
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
  TRANSFER_AUTHORIZATION_ERRORS,
  transferAuthorizationParameters,
} from '../escrow/authorize.ts';
import { registerReleaseRoutes } from '../escrow/escrow.routes.ts';
import { authorizeBridge, bridgeAuthorizationParameters, type SendOutDeps } from '../send-out/send-out.ts';
import { actOnOrder, callerOf, requireOrder } from './act-on-order.ts';
import { claimingQuote, type InitiateDeps, initiateOfframp } from './initiate-order.ts';
import { type PayerDeps, screenPayer, submitPayerDetails } from './payment-request.ts';

export interface OnrampRouteDeps extends SendOutDeps, PayerDeps {}

const ONRAMP_TAG = 'On-ramp';

const ACTION_ERRORS = [
  'ORDER_NOT_FOUND',
  'INVALID_ORDER_ID',
  'INVALID_STATUS',
  'OPERATION_NOT_ALLOWED',
] as const;
// Any text: what is wrong with it is told by name.

/** What only on-ramp orders have: a payer to be asked for the money, and a way out to other networks. */
export function registerOnrampRoutes(app: FastifyInstance, deps: OnrampRouteDeps): void {
  registerReleaseRoutes(app, deps);
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/orders/:order_id/submit-payer-details',
    operationId: 'submitPayerDetails',
    tag: ONRAMP_TAG,
    summary: 'Submit payer details',
    description:
      'On payment_request orders only. Give exactly one of the two: details that fit the order’s rail, or the id of payment details of this customer on that rail.',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    body: PayerDetailsInput,
    data: MessageSchema,
    errors: [
      ...ACTION_ERRORS,
      'INVALID_PAYER_DETAILS',
      'PAYMENT_DETAILS_NOT_FOUND',
      'RECIPIENT_NOT_CLEARED',
      'SERVICE_UNAVAILABLE',
    ],
    readFirst: ({ body }) => screenPayer(deps, body),
    handle: async ({ params, body }, _partner, unit, screenings) => {
      await submitPayerDetails(deps, unit, params.order_id, body, screenings);
      return { message: 'Payer details submitted.' };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/orders/:order_id/bridge-authorization-parameters',
    operationId: 'getBridgeAuthorizationParameters',
    tag: ONRAMP_TAG,
    summary: 'Get the parameters to sign a send-out to another network',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    // Left out is as wrong as unknown, and told the same way once the order is found.
    query: BridgeAuthorizationQuery,
    data: BridgeAuthorizationParametersSchema,
    errors: [
      ...ACTION_ERRORS,
      'SEND_OUT_IN_PROGRESS',
      'INVALID_DESTINATION',
      'WALLET_NOT_CLEARED',
      'SERVICE_UNAVAILABLE',
      'ALLOWANCE_TOO_LOW',
      'BALANCE_TOO_LOW',
      'TRANSACTOR_UNAVAILABLE',
    ],
    handle: ({ params, query }, partner) =>
      bridgeAuthorizationParameters(deps, partner.partnerId, params.order_id, {
        destination_chain: query.destination_chain ?? '',
        destination_address: query.destination_address ?? '',
      }),
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/orders/:order_id/authorize-bridge',
    operationId: 'authorizeBridge',
    tag: ONRAMP_TAG,
    summary: 'Submit the signed send-out',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    body: BridgeAuthorizationInput,
    data: CompactOrderSchema,
    errors: [
      ...ACTION_ERRORS,
      'SEND_OUT_IN_PROGRESS',
      'INVALID_DESTINATION',
      'WALLET_NOT_CLEARED',
      'INVALID_FORWARD_REQUEST',
      'INVALID_SIGNATURE',
      'NONCE_ALREADY_USED',
    ],
    handle: async ({ params, body }, _partner, unit) => {
      const order = await authorizeBridge(deps, unit, params.order_id, body);
      return { order_id: order.order_id, status: order.status };
    },
  });
}

export interface OfframpRouteDeps extends UnitDeps, InitiateDeps {
  readonly chains: Chains;
}

const OFFRAMP_TAG = 'Off-ramp';

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
    tag: OFFRAMP_TAG,
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
    tag: OFFRAMP_TAG,
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
      transferAuthorizationParameters(deps, callerOf(partner), params.order_id),
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/orders/:order_id/authorize-crypto-transfer',
    operationId: 'authorizeCryptoTransfer',
    tag: OFFRAMP_TAG,
    summary: 'Submit the signed transfer into escrow',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    body: TransferAuthorizationInput,
    data: CompactOrderSchema,
    errors: [...ACTION_ERRORS, ...TRANSFER_AUTHORIZATION_ERRORS],
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
    tag: OFFRAMP_TAG,
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
    tag: OFFRAMP_TAG,
    summary: 'Get the parameters to sign a refund',
    description: 'Sign with signer_address; recipient_address is always the escrow’s seller.',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    data: RefundAuthorizationParametersSchema,
    errors: [...ACTION_ERRORS, 'WALLET_NOT_CLEARED'],
    handle: ({ params }, partner) =>
      payoutAuthorizationParameters(deps, callerOf(partner), params.order_id, 'refund'),
  });

  route(app, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: '/api/v1/partner/orders/:order_id/authorize-refund',
    operationId: 'authorizeRefund',
    tag: OFFRAMP_TAG,
    summary: 'Submit the signed refund',
    description: 'Waits a few seconds for the refund; without tx_hash it is still in flight: poll the order.',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    body: SignatureInput,
    data: RefundAnswerSchema,
    errors: [...ACTION_ERRORS, 'WALLET_NOT_CLEARED', 'INVALID_SIGNATURE', 'ESCROW_SIGNER_MISMATCH'],
    handle: ({ params, body }, partner, outside) =>
      refundDeposit(deps, callerOf(partner), params.order_id, body.signature, outside),
  });
}
