import { formatFixed } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { DeskOrderRow } from '../orders/desk-reads.ts';
import type { OperatorOrderSchema } from './operator-order.schemas.ts';

export function operatorOrderView(order: DeskOrderRow): Static<typeof OperatorOrderSchema> {
  const crypto = (amount: string) => formatFixed(BigInt(amount), order.crypto_decimals);
  return {
    order_id: order.order_id,
    partner_id: order.partner_id,
    user_id: order.user_id,
    quote_id: order.quote_id,
    vendor_id: order.vendor_id,
    order_type: order.order_type,
    direction: order.direction,
    origin: order.facts.origin,
    reference_id: order.reference_id,
    status: order.status,
    held_for_review: order.facts.held,
    kyc_status: order.kyc_status,
    crypto_currency: order.crypto_currency,
    crypto_amount: crypto(order.crypto_amount),
    fiat_currency: order.fiat_currency,
    fiat_amount: formatFixed(BigInt(order.fiat_amount), order.fiat_decimals),
    rate: order.rate,
    platform_fee: crypto(order.platform_fee),
    partner_fee: crypto(order.partner_fee),
    payment_method_slug: order.payment_method_slug,
    payment_network_slug: order.payment_network_slug,
    chain: order.chain,
    escrow_address: order.escrow?.address ?? null,
    escrow_state: order.facts.escrow,
    tx_hash: order.tx_hash,
    send_out_tx_hash: order.send_out_tx_hash,
    deadline_at: order.deadline_at?.toISOString() ?? null,
    created_at: order.created_at.toISOString(),
    updated_at: order.updated_at.toISOString(),
  };
}
