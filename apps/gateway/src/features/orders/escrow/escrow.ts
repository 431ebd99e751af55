import { CausewayError, type OrderTrigger } from '@causeway/protocol';
import {
  type Address,
  type ChainSettings,
  type TokenTransfer,
  tokenByCode,
} from '../../../chain/chain-settings.ts';
import type { Chains, ConnectedChain } from '../../../chain/chains.ts';
import {
  customerRelease,
  describeEscrow,
  type Escrow,
  offrampRelease,
  onrampRelease,
  refund,
} from '../../../chain/escrow/escrow.ts';
import {
  hashSafeTransaction,
  payoutTransaction,
  type SafeTransaction,
} from '../../../chain/escrow/safe-transaction.ts';
import { recoverSigner } from '../../../chain/signers/signature.ts';
import { sameAddress } from '../../../chain/watcher/chain-facts.ts';
import { SYSTEM } from '../../../db/database.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../../engine/unit-of-work.ts';
import type { Sealer } from '../../../lib/crypto.ts';
import {
  findWallets,
  insertEscrowSignature,
  lockOrder,
  setEscrow,
  setVendorDetails,
} from '../lifecycle/order.store.ts';
import {
  awaitsVendor,
  type OrderEscrow,
  type OrderRow,
  type PlainDetails,
  sealVendorDetails,
} from '../lifecycle/order.ts';

/** What two of the escrow's owners sign to empty it. */
export interface Payout {
  readonly escrow: Escrow;
  readonly transfers: readonly TokenTransfer[];
  readonly transaction: SafeTransaction;
  readonly hash: `0x${string}`;
}

export type PayoutPurpose = 'release' | 'refund';

/** The wallets of the two that an order is between, as they are when its escrow is fixed. */
export interface SideWallets {
  readonly vendor: Address;
  readonly partner: Address;
}

/** A customer that opened the order owns its third itself; the partner is then paid its fee and signs nothing. */
export function planEscrow(chains: Chains, order: OrderRow, { vendor, partner }: SideWallets): OrderEscrow {
  const opener = order.customer_wallet ?? partner;
  const [seller, buyer] = order.direction === 'onramp' ? [vendor, opener] : [opener, vendor];
  const parties = { service: chains.service.address, seller, buyer };
  const { settings } = chains.get(order.chain);
  const { address } = describeEscrow(settings, order.order_id, parties);
  const { treasury } = settings;
  return { address, ...parties, treasury, ...(order.customer_wallet === null ? {} : { partner }) };
}

/** Signatures of a release name it, so it stays as it was when the escrow was fixed; older escrows do not say. */
export function treasuryOf({ treasury }: ChainSettings, escrow: OrderEscrow | null): Address {
  return escrow?.treasury ?? treasury;
}

/** Every wallet that a payout of the escrow can pay. */
export function walletsOf({ seller, buyer, partner }: OrderEscrow): readonly Address[] {
  return partner === undefined ? [seller, buyer] : [seller, buyer, partner];
}

export function payoutOf(chain: ConnectedChain, order: OrderRow, purpose: PayoutPurpose): Payout {
  const { settings } = chain;
  const escrow = escrowOf(settings, order);
  const transfers = transfersOf(settings, order, escrow, purpose);
  const transaction = payoutTransaction(transfers, settings.contracts.multiSendCallOnly);
  return { escrow, transfers, transaction, hash: hashSafeTransaction(escrow, transaction) };
}

/**
 * Whether this owner signed what would be sent now. The chains file may name another contract or treasury than at the
 * signature, which then counts as none.
 */
export function fitsPayout(
  { hash }: Payout,
  given: { readonly signer: string; readonly signature: string },
): boolean {
  return sameAddress(recoverSigner(hash, given.signature as `0x${string}`), given.signer);
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
  const { seller, buyer } = escrow.parties;
  if (purpose === 'refund') return refund({ token, deposit: depositOf(order), seller });
  const figures = {
    token,
    cryptoAmount: BigInt(order.crypto_amount),
    platformFee: BigInt(order.platform_fee),
    treasury: treasuryOf(settings, order.escrow),
  };
  const partnerFee = BigInt(order.partner_fee);
  const feeWallet = order.escrow?.partner;
  if (order.direction === 'onramp') {
    return feeWallet === undefined
      ? onrampRelease({ ...figures, partnerWallet: buyer })
      : customerRelease({ ...figures, partnerFee, partnerWallet: feeWallet, buyer });
  }
  return offrampRelease({
    ...figures,
    partnerFee,
    shortfall: BigInt(order.deposit_shortfall),
    partnerWallet: feeWallet ?? seller,
    buyer,
  });
}

/** What a funded escrow means to its order. */
export const FUNDED: Readonly<Record<OrderRow['direction'], OrderTrigger>> = {
  onramp: 'escrow_funded',
  offramp: 'deposit_finalized',
};

/**
 * What the seller pays into the escrow; off-ramp, what the partner keeps as its fee comes on top, and what an operator
 * has accepted to be missing does not.
 */
export function depositOf(
  order: Pick<OrderRow, 'direction' | 'crypto_amount' | 'partner_fee' | 'deposit_shortfall'>,
): bigint {
  const cryptoAmount = BigInt(order.crypto_amount);
  if (order.direction === 'onramp') return cryptoAmount;
  return cryptoAmount + BigInt(order.partner_fee) - BigInt(order.deposit_shortfall);
}

/** On-ramp: what is the end user's of the crypto, in the partner's wallet or paid to its own. */
export function receiptOf(order: Pick<OrderRow, 'crypto_amount' | 'platform_fee' | 'partner_fee'>): bigint {
  return BigInt(order.crypto_amount) - BigInt(order.platform_fee) - BigInt(order.partner_fee);
}

/** What a release pays its buyer. */
export function releasedOf(
  order: Pick<OrderRow, 'direction' | 'customer_wallet' | 'crypto_amount' | 'platform_fee' | 'partner_fee'>,
): bigint {
  return order.direction === 'onramp' && order.customer_wallet !== null
    ? receiptOf(order)
    : BigInt(order.crypto_amount) - BigInt(order.platform_fee);
}

export function recordEscrow(unit: UnitOfWork, orderId: string, escrow: OrderEscrow): void {
  unit.tx.defer(setEscrow, [orderId, JSON.stringify(escrow)]);
}

export function recordSignature(
  unit: UnitOfWork,
  order: OrderRow,
  purpose: PayoutPurpose,
  signer: string,
  signature: string,
): void {
  unit.tx.defer(insertEscrowSignature, [
    order.order_id,
    order.partner_id,
    purpose,
    signer,
    signature,
    unit.at,
  ]);
}

export function recordVendorDetails(
  unit: UnitOfWork,
  sealer: Sealer,
  orderId: string,
  details: PlainDetails,
): void {
  unit.tx.defer(setVendorDetails, [orderId, sealVendorDetails(sealer, orderId, details)]);
}

/**
 * An off-ramp order's escrow follows from its two sides and is fixed by what needs it first: initiating an order
 * does not wait for it. Under the order's lock, so there is only ever one; never for a vendor that was only asked.
 */
export async function ensureEscrow(
  deps: UnitDeps & { readonly chains: Chains },
  known: OrderRow,
): Promise<OrderRow> {
  if (known.escrow !== null || known.vendor_id === null || awaitsVendor(known)) return known;
  const [wallets] = await deps.db.query(SYSTEM, findWallets, [known.vendor_id, known.partner_id]);
  if (wallets === undefined) throw new Error('an order has two sides');
  return unitOfWork(deps, SYSTEM, async (unit) => {
    const [order] = await unit.tx.query(lockOrder, [known.order_id]);
    if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
    if (order.escrow !== null || order.vendor_id !== known.vendor_id || awaitsVendor(order)) return order;
    const escrow = planEscrow(deps.chains, order, wallets);
    recordEscrow(unit, order.order_id, escrow);
    return { ...order, escrow };
  });
}
