import {
  actionRequired,
  allowedActions,
  formatFixed,
  nextAction,
  ORDER_MACHINES,
  type OrderSchema,
  revealsPaymentDetails,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { feeBreakdown } from '../../quotes/quote.view.ts';
import { factsOf } from './order.adapter.ts';
import {
  type OrderRow,
  type OrderSecrets,
  reasonsView,
  recipientContextOf,
  vendorDetailsOf,
} from './order.ts';

export function orderView(secrets: OrderSecrets, order: OrderRow): Static<typeof OrderSchema> {
  const machine = ORDER_MACHINES[order.direction];
  const facts = factsOf(order);
  return {
    order_id: order.order_id,
    status: order.status,
    quote_id: order.quote_id,
    user_id: order.user_id,
    reference_id: order.reference_id,
    order_type: order.order_type,
    payment_request: facts.paymentRequest,
    has_fiat_settlement_notification: facts.settlementNotification,
    ...(order.direction === 'onramp'
      ? { fiat_funding_source: facts.fundingSource }
      : { anchor_type: facts.anchor }),
    amounts: {
      crypto_amount: formatFixed(BigInt(order.crypto_amount), order.crypto_decimals),
      fiat_amount: formatFixed(BigInt(order.fiat_amount), order.fiat_decimals),
      crypto_currency: order.crypto_currency,
      fiat_currency: order.fiat_currency,
      rate: order.rate,
    },
    fee_breakdown: feeBreakdown(
      BigInt(order.platform_fee),
      order.platform_fee_pct,
      BigInt(order.partner_fee),
      order.partner_fee_pct,
      order.crypto_decimals,
    ),
    payment_method_slug: order.payment_method_slug,
    payment_network_slug: order.payment_network_slug,
    timeline: order.timeline.map(({ status, at }) => ({ status, at })),
    allowed_actions: allowedActions(machine, order.status, facts),
    next_action: nextAction(machine, order.status, facts),
    action_required: actionRequired(order.order_id, machine, order.status, facts),
    ...partiesView(secrets, order),
    ...reasonsView(order),
    tx_hash: order.tx_hash,
    ...(order.direction === 'onramp' ? { send_out_tx_hash: order.send_out_tx_hash } : {}),
    created_at: order.created_at.toISOString(),
    updated_at: order.updated_at.toISOString(),
  };
}

/** Whether the end user may read where to pay. */
export function isToldWhereToPay(order: OrderRow): boolean {
  const passed = order.timeline.map(({ status }) => status);
  const { kycCleared } = factsOf(order);
  return revealsPaymentDetails(ORDER_MACHINES[order.direction], { status: order.status, passed, kycCleared });
}

function partiesView(secrets: OrderSecrets, order: OrderRow) {
  // Paid from the customer's own account, the vendor's is no business of the customer's.
  const paysVendor = order.facts.fundingSource === 'vendor_details';
  const vendorDetails = paysVendor && isToldWhereToPay(order) ? vendorDetailsOf(secrets, order) : null;
  return {
    ...(vendorDetails === null ? {} : { vendor_payment_details: vendorDetails }),
    ...(order.payment_details_id === null ? {} : { payment_details_id: Number(order.payment_details_id) }),
    ...(order.recipient_id === null ? {} : { recipient_context: recipientContextOf(secrets, order) }),
  };
}
