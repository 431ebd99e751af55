import { formatFixed, type VendorOrderSchema, type VendorSigningSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { refundParameters } from '../../chain/refund-authorization.ts';
import { depositOf, type PayoutPurpose, payoutOf } from '../orders/order.escrow.ts';
import type { OrderRow } from '../orders/order.types.ts';

export function vendorOrderView(order: OrderRow): Static<typeof VendorOrderSchema> {
  return {
    order_id: order.order_id,
    direction: order.direction,
    payment_request: order.facts.paymentRequest,
    status: order.status,
    crypto_currency: order.crypto_currency,
    crypto_amount: formatFixed(BigInt(order.crypto_amount), order.crypto_decimals),
    platform_fee: formatFixed(BigInt(order.platform_fee), order.crypto_decimals),
    fiat_currency: order.fiat_currency,
    fiat_amount: formatFixed(BigInt(order.fiat_amount), order.fiat_decimals),
    rate: order.rate,
    payment_method_slug: order.payment_method_slug,
    payment_network_slug: order.payment_network_slug,
    chain: order.chain,
    escrow_address: order.escrow?.address ?? null,
    held_for_review: order.facts.held,
    deadline_at: order.deadline_at?.toISOString() ?? null,
    created_at: order.created_at.toISOString(),
  };
}

/** Refund and release are the same kind of transaction, so they are shown the same way. */
export function signingView(
  chains: Chains,
  order: OrderRow,
  purpose: PayoutPurpose,
): Static<typeof VendorSigningSchema> {
  const chain = chains.get(order.chain);
  const { escrow, transaction } = payoutOf(chain, order, purpose);
  const token = tokenByCode(chain.settings, order.crypto_currency);
  const { safe_tx_hash, typed_data } = refundParameters(chain.settings, token, {
    orderId: order.order_id,
    escrow,
    transaction,
    deposit: depositOf(order),
  });
  return { order_id: order.order_id, purpose, escrow_address: escrow.address, safe_tx_hash, typed_data };
}
