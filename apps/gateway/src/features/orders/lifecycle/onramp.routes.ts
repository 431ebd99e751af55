import {
  BridgeAuthorizationInput,
  BridgeAuthorizationParametersSchema,
  BridgeAuthorizationQuery,
  CompactOrderSchema,
  MessageSchema,
  OrderParams,
  PayerDetailsInput,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { route } from '../../../http/route.ts';
import { registerReleaseRoutes } from '../escrow/escrow.routes.ts';
import { authorizeBridge, bridgeAuthorizationParameters, type SendOutDeps } from '../send-out/send-out.ts';
import { requireOrder } from './act-on-order.ts';
import { type PayerDeps, screenPayer, submitPayerDetails } from './payment-request.ts';

export interface OnrampRouteDeps extends SendOutDeps, PayerDeps {}

const TAG = 'On-ramp';

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
    tag: TAG,
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
    tag: TAG,
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
    tag: TAG,
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
