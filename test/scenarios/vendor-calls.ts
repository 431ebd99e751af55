import type { RequestOptions } from '@causeway/sdk';
import type { Answer } from '../harness/gateway.ts';
import type { SdkAnswers } from '../harness/sdk.ts';

export type Purpose = 'refund' | 'release';
type VendorOrders = SdkAnswers['vendor']['orders'];

/** A vendor's calls about an order, by the names that `allowed_actions` has for them. */
const ACTIONS = {
  accept: (orders, orderId, body, options) => orders.accept(orderId, body as never, options),
  decline: (orders, orderId, body, options) => orders.decline(orderId, body as never, options),
  'fiat-confirmed': (orders, orderId, body, options) => orders.confirmFiat(orderId, body as never, options),
  'fiat-settled': (orders, orderId, _body, options) => orders.confirmSettlement(orderId, options),
  'payment-proof': (orders, orderId, body, options) => orders.submitProof(orderId, body as never, options),
  dispute: (orders, orderId, _body, options) => orders.openDispute(orderId, options),
  'dispute-statements': (orders, orderId, body, options) =>
    orders.stateInDispute(orderId, body as never, options),
  'sign-refund': (orders, orderId, body, options) => orders.signRefund(orderId, body as never, options),
  'sign-release': (orders, orderId, body, options) => orders.signRelease(orderId, body as never, options),
} as const satisfies Record<
  string,
  (orders: VendorOrders, orderId: string, body?: object, options?: RequestOptions) => Promise<Answer>
>;
export type VendorAction = keyof typeof ACTIONS;

export function vendorAct(
  orders: VendorOrders,
  orderId: string,
  action: VendorAction,
  body?: object,
  options?: RequestOptions,
): Promise<Answer> {
  return ACTIONS[action](orders, orderId, body, options);
}

export type VendorRead = 'order' | 'payment-instructions';

export function readVendorOrder(orders: VendorOrders, orderId: string, what: VendorRead): Promise<Answer> {
  return what === 'order' ? orders.get(orderId) : orders.paymentInstructions(orderId);
}
