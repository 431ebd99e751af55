import { type Actor, INITIAL_ORDER_FACTS, type OrderFacts } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { ClaimedQuote } from '../quotes/claim-quote.ts';
import { storedFacts } from './order.host.ts';
import type { OrderRow } from './order.types.ts';

export interface InitiateRequest {
  readonly quote_id: string;
  readonly reference_id?: string;
}

/** Who opens the order: the partner's own call, or an end user in the embedded widget. */
export type OrderOrigin = 'api' | 'widget';

export function openerOf(origin: OrderOrigin): Actor {
  return origin === 'api' ? 'partner' : 'customer';
}

/** While nobody serves it, an order names the kind of vendor that it waits for. */
function expectedKind(quote: ClaimedQuote): OrderRow['vendor_kind'] {
  const wantsDirect = quote.provider_scope === 'direct' || quote.has_fiat_settlement_notification;
  return wantsDirect ? 'direct' : 'p2p';
}

/** An order that is about to be written: everything that its quote fixed, and nothing that has happened yet. */
export function draftOrder(
  unit: UnitOfWork,
  quote: ClaimedQuote,
  orderType: OrderRow['order_type'],
  referenceId: string | undefined,
  facts: Partial<OrderFacts>,
): OrderRow {
  return {
    ...quote,
    is_new: true,
    order_type: orderType,
    reference_id: referenceId ?? null,
    status: 'created',
    facts: storedFacts({
      ...INITIAL_ORDER_FACTS,
      anchor: quote.anchor,
      settlementNotification: quote.has_fiat_settlement_notification,
      ...facts,
    }),
    timeline: [],
    revision: 0,
    deadline_at: null,
    escrow: null,
    deposit_shortfall: '0',
    tx_hash: null,
    send_out_tx_hash: null,
    vendor_payment_details_sealed: null,
    payer_details_sealed: null,
    vendor_kind: quote.provider ?? expectedKind(quote),
    // The vendor's wallet counts from the moment the escrow is fixed.
    seller_cleared: quote.direction === 'onramp' || quote.partner_wallet_cleared,
    buyer_cleared: quote.direction === 'offramp' || quote.partner_wallet_cleared,
    created_at: unit.at,
    updated_at: unit.at,
  };
}
