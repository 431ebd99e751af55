import type {
  BridgeAuthorizationInput,
  SignatureInput,
  TransferAuthorizationInput,
} from '../generated/types.ts';
import type { Hex } from './bytes.ts';
import { SigningRefusedError } from './refusal.ts';
import {
  type BridgeToSign,
  type PayoutToSign,
  type Reviewed,
  reviewBridge,
  reviewRefund,
  reviewRelease,
  reviewTransfer,
  type TransferToSign,
} from './review.ts';
import { canonicalSignature, type Signer } from './signers.ts';

/**
 * Signs the transfer into escrow, if everything fits; throws `SigningRefusedError` otherwise. The answer is the body of
 * `orders.authorizeTransfer`.
 *
 * @example
 * const parameters = await causeway.orders.transferParameters(order.order_id);
 * const { escrow } = await causeway.orders.funds(order.order_id);
 * const body = await signTransfer({ order, parameters, owners: escrow.owners, trust }, signer);
 * await causeway.orders.authorizeTransfer(order.order_id, body);
 */
export async function signTransfer(
  request: TransferToSign,
  signer: Signer,
): Promise<TransferAuthorizationInput> {
  const signature = await signReviewed(reviewTransfer(request), signer);
  return { forward_request: { ...request.parameters.forward_request }, signature };
}

/**
 * Signs a send-out to another network; the answer is the body of `orders.authorizeBridge`.
 *
 * @example
 * const destination = { destination_chain: 'arbitrum-one', destination_address: '0x…' };
 * const parameters = await causeway.orders.bridgeParameters(order.order_id, destination);
 * const body = await signBridge({ order, parameters, destination, trust }, signer);
 * await causeway.orders.authorizeBridge(order.order_id, body);
 */
export async function signBridge(request: BridgeToSign, signer: Signer): Promise<BridgeAuthorizationInput> {
  const signature = await signReviewed(reviewBridge(request), signer);
  return { ...request.destination, forward_request: { ...request.parameters.forward_request }, signature };
}

/**
 * Signs the refund of an off-ramp order that stopped; the answer is the body of `orders.authorizeRefund`.
 *
 * @example
 * const parameters = await causeway.orders.refundParameters(order.order_id);
 * const { escrow } = await causeway.orders.funds(order.order_id);
 * const body = await signRefund({ order, parameters, owners: escrow.owners, trust }, signer);
 * await causeway.orders.authorizeRefund(order.order_id, body);
 */
export async function signRefund(request: PayoutToSign, signer: Signer): Promise<SignatureInput> {
  return { signature: await signReviewed(reviewRefund(request), signer) };
}

/**
 * Signs the release of an on-ramp order after a dispute that was decided for you; the answer is the body of
 * `orders.authorizeRelease`.
 *
 * @example
 * const parameters = await causeway.orders.releaseParameters(order.order_id);
 * const { escrow } = await causeway.orders.funds(order.order_id);
 * const body = await signRelease({ order, parameters, owners: escrow.owners, trust }, signer);
 * await causeway.orders.authorizeRelease(order.order_id, body);
 */
export async function signRelease(request: PayoutToSign, signer: Signer): Promise<SignatureInput> {
  return { signature: await signReviewed(reviewRelease(request), signer) };
}

/**
 * Signs what a review has found to fit: for screens that show it in between (`decodeTypedData`).
 *
 * @example const signature = await signReviewed(reviewRefund(request), signer);
 */
export async function signReviewed(
  { typedData, digest, signer: wallet }: Reviewed,
  signer: Signer,
): Promise<Hex> {
  if (signer.address.toLowerCase() !== wallet.toLowerCase()) {
    throw new SigningRefusedError('SIGNER_MISMATCH', 'signer.address', wallet, signer.address);
  }
  const given = await signer.signTypedData(typedData);
  const signature = canonicalSignature(given, digest, wallet);
  if (signature !== undefined) return signature;
  throw new SigningRefusedError('SIGNATURE_MISMATCH', 'signature', `one of ${wallet}`, 'another');
}
