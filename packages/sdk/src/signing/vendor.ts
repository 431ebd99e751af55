import type { VendorOrderDetail, VendorSigning } from '../generated/types.ts';
import { type Address, type Hex, isAddress, toAtomic } from './bytes.ts';
import { decodeTypedData } from './decode.ts';
import { type EscrowOwners, escrowAddress, type Transfer, transferCall } from './escrow.ts';
import { requireSame, SigningRefusedError } from './refusal.ts';
import { type Owners, type Reviewed, reviewEscrowPayout, reviewOwners, type Trust } from './review.ts';
import { signReviewed } from './sign.ts';
import type { Signer } from './signers.ts';
import type { TypedData } from './typed-data.ts';

/** What a vendor signs and pays: it sells on-ramp and buys off-ramp, so it is the escrow's seller or buyer. */
export type VendorOrderToSign = Pick<
  VendorOrderDetail,
  'order_id' | 'direction' | 'crypto_currency' | 'crypto_amount' | 'platform_fee' | 'funding'
>;

export interface VendorPayoutToSign {
  /** As `vendor.orders.get` answers it. */
  readonly order: VendorOrderToSign;
  /** As `vendor.orders.signingParameters` answers them. */
  readonly parameters: VendorSigning;
  /** What you know without asking: `wallet` is your own, `treasury` is needed for releases. */
  readonly trust: Trust;
}

interface Figures {
  readonly token: Address;
  readonly cryptoAmount: bigint;
  readonly platformFee: bigint;
}

/** The escrow's whole deposit goes back to its seller: on-ramp to your own wallet, off-ramp to who paid it in. */
export function reviewVendorRefund(request: VendorPayoutToSign): Reviewed {
  const { order, parameters, trust } = request;
  const { token, cryptoAmount } = figuresOf(order, trust);
  const escrow = reviewCommon(request, 'refund');
  const { seller } = parameters.owners;
  // Off-ramp it is what the partner pays in: crypto_amount and its own fee.
  const amount = order.direction === 'onramp' ? cryptoAmount : paidTo(payments(parameters, order), seller);
  return reviewEscrowPayout(parameters, escrow, [{ token, to: seller as Address, amount }], trust);
}

/**
 * On-ramp, the buyer is paid your crypto less fees: sign it when the fiat is yours. Off-ramp you are paid crypto_amount less
 * the platform's fee, and the partner gets back what it keeps as its own.
 */
export function reviewVendorRelease(request: VendorPayoutToSign): Reviewed {
  const { order, parameters, trust } = request;
  const { token, cryptoAmount, platformFee } = figuresOf(order, trust);
  const { treasury } = trust;
  if (!isAddress(treasury))
    throw new SigningRefusedError('EXPECTATION_MISSING', 'trust.treasury', 'an address', treasury);
  const escrow = reviewCommon(request, 'release');
  const { seller, buyer } = parameters.owners;
  const partner = parameters.partner_address ?? (order.direction === 'offramp' ? seller : null);
  const paid = payments(parameters, order);
  // What the partner keeps is between it and its customer, and the order does not tell a vendor; nobody else may be paid.
  const toPartner = partner === null ? 0n : paidTo(paid, partner);
  const left = cryptoAmount - platformFee;
  const isOnramp = order.direction === 'onramp';
  // Off-ramp the platform may have taken a deposit that is short, out of its own fee.
  const toPlatform = isOnramp ? platformFee : paidTo(paid, treasury);
  if (toPlatform > platformFee || (isOnramp && toPartner > left))
    throw new SigningRefusedError('FEE_MISMATCH', 'typed_data', platformFee, toPlatform + toPartner);
  const transfers = [
    { token, to: buyer as Address, amount: isOnramp ? left - toPartner : left },
    { token, to: treasury, amount: toPlatform },
    ...(partner === null ? [] : [{ token, to: partner as Address, amount: toPartner }]),
  ];
  return reviewEscrowPayout(parameters, escrow, transfers, trust);
}

/** A transaction as EIP-1193 wallets send it. */
export interface VendorFundingToSend {
  readonly chainId: number;
  readonly transaction: {
    readonly from: Address;
    readonly to: Address;
    readonly data: Hex;
    readonly value: '0x0';
  };
  readonly transfer: Transfer;
}

/** On-ramp: exactly crypto_amount goes from your wallet into the escrow that follows from the order and its owners. */
export function reviewVendorFunding({
  order,
  trust,
}: Pick<VendorPayoutToSign, 'order' | 'trust'>): VendorFundingToSend {
  requireSame('ORDER_MISMATCH', 'order.direction', 'onramp', order.direction);
  const { token, cryptoAmount } = figuresOf(order, trust);
  const { funding } = order;
  if (funding === null)
    throw new SigningRefusedError('EXPECTATION_MISSING', 'order.funding', 'an escrow', funding);
  reviewOwners(trust, funding.owners, 'seller');
  const escrow = escrowAddress(trust.contracts, order.order_id, funding.owners as EscrowOwners);
  requireSame('CHAIN_MISMATCH', 'funding.chain_id', trust.chainId, funding.chain_id);
  requireSame('ESCROW_MISMATCH', 'funding.escrow_address', escrow, funding.escrow_address);
  requireSame('TOKEN_MISMATCH', 'funding.token_address', token, funding.token_address);
  requireSame('SIGNER_MISMATCH', 'funding.from_address', trust.wallet, funding.from_address);
  requireSame('AMOUNT_MISMATCH', 'funding.amount_atomic', cryptoAmount, funding.amount_atomic);
  const transfer = { token, to: escrow, amount: cryptoAmount };
  const transaction = { from: trust.wallet as Address, to: token, data: transferCall(transfer) };
  return { chainId: trust.chainId, transaction: { ...transaction, value: '0x0' }, transfer };
}

/**
 * Signs the refund that an order is accepted with, if everything fits; the answer is the body of `vendor.orders.signRefund`,
 * and a part of that of `vendor.orders.accept`.
 *
 * @example
 * const parameters = await vendor.orders.signingParameters(order.order_id, { purpose: 'refund' });
 * const signed = await signVendorRefund({ order, parameters, trust }, signer);
 * await vendor.orders.accept(order.order_id, { ...signed, payment_details });
 */
export async function signVendorRefund(
  request: VendorPayoutToSign,
  signer: Signer,
): Promise<{ readonly refund_signature: Hex }> {
  return { refund_signature: await signReviewed(reviewVendorRefund(request), signer) };
}

/**
 * Signs the release of an order; the answer is the body of `vendor.orders.confirmFiat` and `vendor.orders.signRelease`, and a
 * part of that of `vendor.orders.submitProof`.
 *
 * @example
 * const parameters = await vendor.orders.signingParameters(order.order_id, { purpose: 'release' });
 * await vendor.orders.confirmFiat(order.order_id, await signVendorRelease({ order, parameters, trust }, signer));
 */
export async function signVendorRelease(
  request: VendorPayoutToSign,
  signer: Signer,
): Promise<{ readonly release_signature: Hex }> {
  return { release_signature: await signReviewed(reviewVendorRelease(request), signer) };
}

function figuresOf(order: VendorOrderToSign, trust: Trust): Figures {
  const code = order.crypto_currency;
  const token = Object.hasOwn(trust.tokens, code) ? trust.tokens[code] : undefined;
  if (token === undefined)
    throw new SigningRefusedError('EXPECTATION_MISSING', `trust.tokens.${code}`, 'a token', token);
  const cryptoAmount = toAtomic(order.crypto_amount, token.decimals);
  const platformFee = toAtomic(order.platform_fee, token.decimals);
  if (cryptoAmount === undefined || cryptoAmount === 0n)
    throw new SigningRefusedError('AMOUNT_MISMATCH', 'order.crypto_amount', 'an amount', order.crypto_amount);
  if (platformFee === undefined || platformFee >= cryptoAmount)
    throw new SigningRefusedError('FEE_MISMATCH', 'order.platform_fee', 'a fee', order.platform_fee);
  return { token: token.address as Address, cryptoAmount, platformFee };
}

/** It is this order's, for this purpose, of an escrow that is yours by a third. */
function reviewCommon(
  { order, parameters, trust }: VendorPayoutToSign,
  purpose: VendorSigning['purpose'],
): Address {
  const { owners } = parameters;
  requireSame('ORDER_MISMATCH', 'order_id', order.order_id, parameters.order_id);
  requireSame('ORDER_MISMATCH', 'purpose', purpose, parameters.purpose);
  reviewOwners(trust, owners as Owners, order.direction === 'onramp' ? 'seller' : 'buyer');
  const escrow = escrowAddress(trust.contracts, order.order_id, owners as EscrowOwners);
  requireSame('ESCROW_MISMATCH', 'escrow_address', escrow, parameters.escrow_address);
  return escrow;
}

/** What the bytes pay; off-ramp, together exactly the deposit, once that is known. */
function payments(parameters: VendorSigning, { direction, funding }: VendorOrderToSign): readonly Transfer[] {
  const { call } = decodeTypedData(parameters.typed_data as TypedData);
  const transfers = call.kind === 'transfers' ? call.transfers : [];
  const total = transfers.reduce((sum, { amount }) => sum + amount, 0n);
  if (direction === 'offramp' && funding !== null)
    requireSame('AMOUNT_MISMATCH', 'typed_data.message.data', funding.amount_atomic, total);
  return transfers;
}

function paidTo(transfers: readonly Transfer[], address: string): bigint {
  return transfers
    .filter(({ to }) => to.toLowerCase() === address.toLowerCase())
    .reduce((sum, { amount }) => sum + amount, 0n);
}
