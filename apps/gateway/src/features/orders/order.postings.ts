import type { PostingKind } from '@causeway/protocol';
import { type EntryDraft, moveFunds, type Posting } from '../../engine/ledger.ts';
import type { OrderRow } from './order.types.ts';

/** The accounts an order's crypto passes through. What lies outside our books is `outside:` somebody. */
const account = {
  escrow: (order: OrderRow) => `escrow:${order.order_id}`,
  vendor: (order: OrderRow) => `outside:vendor:${order.vendor_id}`,
  partner: (order: OrderRow) => `outside:partner:${order.partner_id}`,
  treasury: (order: OrderRow) => `treasury:${order.chain}`,
};

export function assetOf(order: Pick<OrderRow, 'crypto_currency' | 'chain'>): string {
  return `${order.crypto_currency}@${order.chain}`;
}

export function entryForOrder(order: OrderRow, posting: PostingKind): EntryDraft {
  return {
    kind: posting,
    dedupeKey: `${order.order_id}:${posting}`,
    partnerId: order.partner_id,
    orderId: order.order_id,
    postings: postingsOf(order, posting),
  };
}

function postingsOf(order: OrderRow, posting: PostingKind): readonly Posting[] {
  const asset = assetOf(order);
  const amount = BigInt(order.crypto_amount);
  const platformFee = BigInt(order.platform_fee);
  switch (posting) {
    case 'vendor_escrow_funded':
      return moveFunds(account.vendor(order), account.escrow(order), asset, amount);
    case 'escrow_released':
      return [
        ...moveFunds(account.escrow(order), account.partner(order), asset, amount - platformFee),
        ...moveFunds(account.escrow(order), account.treasury(order), asset, platformFee),
      ];
    case 'escrow_returned_to_vendor':
      return moveFunds(account.escrow(order), account.vendor(order), asset, amount);
    default:
      throw new Error(`an on-ramp order does not book ${posting}`);
  }
}
