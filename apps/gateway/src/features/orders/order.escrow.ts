import { type ChainSettings, type TokenTransfer, tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains, ConnectedChain } from '../../chain/chains.ts';
import { describeEscrow, type Escrow } from '../../chain/escrow.ts';
import { onrampRelease, refund } from '../../chain/escrow-payouts.ts';
import {
  hashSafeTransaction,
  payoutTransaction,
  type SafeTransaction,
} from '../../chain/safe-transaction.ts';
import type { OrderEscrow, OrderRow } from './order.types.ts';

/** What two of the escrow's owners sign to empty it. */
export interface Payout {
  readonly escrow: Escrow;
  readonly transfers: readonly TokenTransfer[];
  readonly transaction: SafeTransaction;
  readonly hash: `0x${string}`;
}

export type PayoutPurpose = 'release' | 'refund';

export function planEscrow(chains: Chains, order: OrderRow, seller: string, buyer: string): OrderEscrow {
  const parties = {
    service: chains.service.address,
    seller: seller as `0x${string}`,
    buyer: buyer as `0x${string}`,
  };
  const { address } = describeEscrow(chains.get(order.chain).settings, order.order_id, parties);
  return { address, ...parties };
}

export function payoutOf(chain: ConnectedChain, order: OrderRow, purpose: PayoutPurpose): Payout {
  const { settings } = chain;
  const escrow = escrowOf(settings, order);
  const transfers = transfersOf(settings, order, escrow, purpose);
  const transaction = payoutTransaction(transfers, settings.contracts.multiSendCallOnly);
  return { escrow, transfers, transaction, hash: hashSafeTransaction(escrow, transaction) };
}

export function escrowOf(settings: ChainSettings, order: OrderRow): Escrow {
  if (order.escrow === null) throw new Error(`order ${order.order_id} has no escrow yet`);
  const escrow = describeEscrow(settings, order.order_id, order.escrow);
  if (escrow.address !== order.escrow.address) {
    throw new Error(`the escrow of order ${order.order_id} is not where it was planned`);
  }
  return escrow;
}

function transfersOf(
  settings: ChainSettings,
  order: OrderRow,
  escrow: Escrow,
  purpose: PayoutPurpose,
): TokenTransfer[] {
  const token = tokenByCode(settings, order.crypto_currency).address;
  const cryptoAmount = BigInt(order.crypto_amount);
  if (purpose === 'refund') return refund({ token, deposit: cryptoAmount, seller: escrow.parties.seller });
  return onrampRelease({
    token,
    cryptoAmount,
    platformFee: BigInt(order.platform_fee),
    treasury: settings.treasury,
    partnerWallet: escrow.parties.buyer,
  });
}
