import { CausewayError } from '@causeway/protocol';
import type { Chains } from '../../chain/chains.ts';
import { recoverOwner } from '../../chain/safe-transaction.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { loadOrderForAction, moveOrder } from '../orders/act-on-order.ts';
import { type PayoutPurpose, payoutOf, planEscrow } from '../orders/order.escrow.ts';
import type { OrderHosts } from '../orders/order.host.ts';
import type { OrderRow } from '../orders/order.types.ts';
import { recordEscrow, recordSignature } from '../orders/record-escrow.ts';
import { partnerWallet, type VendorRow } from './vendor.store.ts';

/** What a vendor does with an order it was offered. Simulated vendors call the same functions as real ones. */
export interface VendorTools {
  readonly chains: Chains;
  readonly orderHosts: OrderHosts;
}

/** Signs the hash of an escrow transaction with the vendor's key. */
export type VendorSignature = (hash: `0x${string}`) => Promise<`0x${string}`>;

/**
 * Accepting fixes the escrow. The vendor signs its refund at once, so that its crypto can come back even if it is never
 * heard of again.
 */
export async function acceptOrder(
  tools: VendorTools,
  unit: UnitOfWork,
  vendor: VendorRow,
  orderId: string,
  sign: VendorSignature,
): Promise<OrderRow> {
  const order = await offeredOrder(unit, vendor, orderId);
  const [partner] = await unit.tx.query(partnerWallet, [order.partner_id]);
  if (partner === undefined) throw new Error(`partner ${order.partner_id} is gone`);
  const escrow = planEscrow(tools.chains, order, vendor.wallet_address, partner.wallet_address);
  const accepted = moveOrder(unit, tools.orderHosts, { ...order, escrow }, 'vendor_accepted', 'vendor');
  recordEscrow(unit, order.order_id, escrow);
  await giveSignature(tools, unit, vendor, accepted, 'refund', sign);
  return accepted;
}

export async function confirmFiatReceived(
  tools: VendorTools,
  unit: UnitOfWork,
  vendor: VendorRow,
  orderId: string,
  sign: VendorSignature,
): Promise<OrderRow> {
  const order = await offeredOrder(unit, vendor, orderId);
  const confirmed = moveOrder(unit, tools.orderHosts, order, 'fiat_confirmed_by_vendor', 'vendor');
  await giveSignature(tools, unit, vendor, confirmed, 'release', sign);
  return confirmed;
}

async function offeredOrder(unit: UnitOfWork, vendor: VendorRow, orderId: string): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  if (order.vendor_id !== vendor.vendor_id) throw new CausewayError('ORDER_NOT_FOUND');
  return order;
}

async function giveSignature(
  { chains }: VendorTools,
  unit: UnitOfWork,
  vendor: VendorRow,
  order: OrderRow,
  purpose: PayoutPurpose,
  sign: VendorSignature,
): Promise<void> {
  const payout = payoutOf(chains.get(order.chain), order, purpose);
  const signature = await sign(payout.hash);
  const signer = await recoverOwner(payout.escrow, payout.hash, signature);
  if (signer.toLowerCase() !== vendor.wallet_address.toLowerCase()) {
    throw new CausewayError('INVALID_SIGNATURE');
  }
  recordSignature(unit, order, purpose, signer, signature);
}
