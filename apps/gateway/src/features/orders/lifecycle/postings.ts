import { costExceedsBound, type PostingKind } from '@causeway/protocol';
import { type EntryDraft, moveFunds, type Posting } from '../../../engine/ledger.ts';
import type { Currencies } from '../../../ports/currencies.ts';
import { depositOf, receiptOf } from '../escrow/escrow.ts';
import type { OrderRow } from './order.ts';

/** The accounts an order's money passes through. What lies outside our books is `outside:` a party. */
const account = {
  escrow: (order: OrderRow) => `escrow:${order.order_id}`,
  vendor: (order: OrderRow) => `outside:vendor:${order.vendor_id}`,
  partner: (order: OrderRow) => `outside:partner:${order.partner_id}`,
  opener: openerAccount,
  treasury: (order: OrderRow) => `treasury:${order.chain}`,
  owners: (order: OrderRow) => `outside:escrow-owners:${order.order_id}`,
  bridge: (order: OrderRow) => `outside:bridge:${order.partner_id}`,
};

/** Whose wallet pays and is paid on the partner's side: the customer's that opened the order, or else the partner's. */
export function openerAccount(order: Pick<OrderRow, 'customer_wallet' | 'user_id' | 'partner_id'>): string {
  return order.customer_wallet === null
    ? `outside:partner:${order.partner_id}`
    : `outside:customer:${order.user_id}`;
}

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
  switch (posting) {
    case 'vendor_escrow_funded':
      return moveFunds(account.vendor(order), account.escrow(order), asset, amount);
    case 'partner_escrow_funded':
      return moveFunds(account.opener(order), account.escrow(order), asset, depositOf(order));
    case 'customer_deposit_applied':
      return depositPostings(order);
    case 'escrow_released':
      return releasePostings(order, asset);
    case 'escrow_returned_to_vendor':
      return moveFunds(account.escrow(order), account.vendor(order), asset, amount);
    case 'escrow_refunded':
      return moveFunds(account.escrow(order), account.opener(order), asset, depositOf(order));
    case 'escrow_settled_elsewhere':
      return moveFunds(account.escrow(order), account.owners(order), asset, depositOf(order));
    case 'send_out_settled':
      return moveFunds(account.partner(order), account.bridge(order), asset, receiptOf(order));
    default:
      throw new Error(`an order does not book ${posting}`);
  }
}

/** The customer's own fiat, from its account to the vendor. */
function depositPostings(order: OrderRow): readonly Posting[] {
  if (order.deposit_account === undefined) throw new Error('the account that pays the order is not set');
  const { fiat_currency: currency, fiat_amount: amount } = order;
  return moveFunds(order.deposit_account, account.vendor(order), currency, BigInt(amount));
}

function releasePostings(order: OrderRow, asset: string): readonly Posting[] {
  const platformFee = BigInt(order.platform_fee);
  const withoutFee = BigInt(order.crypto_amount) - platformFee;
  const received = platformFee - BigInt(order.deposit_shortfall);
  const fee = moveFunds(account.escrow(order), account.treasury(order), asset, received);
  const markup = moveFunds(account.escrow(order), account.partner(order), asset, BigInt(order.partner_fee));
  if (order.direction === 'onramp') {
    // A partner that is the buyer itself has its fee in what it is paid.
    const [paid, kept] = order.customer_wallet === null ? [withoutFee, []] : [receiptOf(order), markup];
    return [...moveFunds(account.escrow(order), account.opener(order), asset, paid), ...fee, ...kept];
  }
  return [...moveFunds(account.escrow(order), account.vendor(order), asset, withoutFee), ...fee, ...markup];
}

/** `unknown`: there is a market, but its last rate is too old to judge by. */
export type CostVerdict = 'within' | 'beyond' | 'unknown';

/**
 * What the payout costs at the market's rate of this moment, by what was expected when the order was quoted. Only a
 * fiat-anchored order has a bound; a pair that no market quotes cannot move.
 */
export function settlementCost(
  currencies: Currencies,
  order: Pick<OrderRow, 'rate' | 'facts' | 'crypto_currency' | 'fiat_currency'>,
): CostVerdict {
  if (order.facts.anchor !== 'fiat') return 'within';
  const decision = currencies.current().rates.requireRate(order.crypto_currency, order.fiat_currency);
  if (decision.ok) return isBeyondBound(order.rate, decision.rate.rate) ? 'beyond' : 'within';
  return decision.refusal.code === 'RATE_MISSING' ? 'within' : 'unknown';
}

/**
 * The expected amount bought the payout at the order's rate; at the market's rate the same payout costs that much more
 * as the rates differ. Both rates are decimals, brought to whole numbers.
 */
export function isBeyondBound(orderRate: string, marketRate: string): boolean {
  const decimals = Math.max(decimalsOf(orderRate), decimalsOf(marketRate));
  return costExceedsBound(wholeOf(orderRate, decimals), wholeOf(marketRate, decimals));
}

function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}

function wholeOf(text: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
