import { CausewayError, type OrderTrigger, type VendorDeclineReason } from '@causeway/protocol';
import type { Chains } from '../../chain/chains.ts';
import { sameAddress } from '../../chain/watcher/chain-facts.ts';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { invalidFields } from '../../http/errors.ts';
import type { VendorPrincipal } from '../../http/principals.ts';
import type { Sealer } from '../../lib/crypto.ts';
import { recordDecline } from '../orders/disputes/vendor-answers.ts';
import { acceptPayoutSignature } from '../orders/escrow/authorize.ts';
import {
  type PayoutPurpose,
  planEscrow,
  recordEscrow,
  recordVendorDetails,
  walletsOf,
} from '../orders/escrow/escrow.ts';
import {
  loadOrderForAction,
  moveOrder,
  type PaymentProof,
  recordProof,
  refusedTransition,
} from '../orders/lifecycle/act-on-order.ts';
import { passOver } from '../orders/lifecycle/offer-order.effect.ts';
import type { OrderAdapters } from '../orders/lifecycle/order.adapter.ts';
import {
  awaitsVendor,
  type OrderEscrow,
  type OrderRow,
  type PlainDetails,
} from '../orders/lifecycle/order.ts';
import type { DetailsCheck } from '../payment-details/details-check.ts';
import { lostWallets } from '../screening/screen-wallet.ts';
import { findVendor, partnerWallet, type VendorRow } from './vendor.store.ts';

/**
 * What a vendor does with an order it was offered, in a unit of the vendor's own scope, which knows no other orders.
 * Simulated vendors call the same functions as real ones.
 */
export interface VendorDeps {
  readonly chains: Chains;
  readonly orderAdapters: OrderAdapters;
  readonly sealer: Sealer;
  readonly detailsCheck: DetailsCheck;
}

/** Signs the hash of an escrow transaction with the vendor's key. */
export type VendorSignature = (hash: `0x${string}`) => Promise<`0x${string}`>;

/**
 * Accepting fixes the escrow. The vendor signs its refund at once, so that the crypto can go back to its seller even
 * if the vendor is never heard of again.
 */
export async function acceptOrder(
  deps: VendorDeps,
  unit: UnitOfWork,
  vendor: VendorRow,
  orderId: string,
  sign: VendorSignature,
  paymentDetails?: PlainDetails,
): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  const escrow = await plannedEscrow(deps, unit, vendor, order);
  const lost = await lostWallets(unit, walletsOf(escrow));
  const isClear = (wallet: string) => !lost.has(wallet.toLowerCase());
  const planned = {
    ...order,
    escrow,
    seller_cleared: isClear(escrow.seller),
    buyer_cleared: isClear(escrow.buyer),
    fee_wallet_cleared: escrow.partner === undefined || isClear(escrow.partner),
  };
  const accepted = moveOrder(unit, deps.orderAdapters, planned, 'vendor_accepted', 'vendor');
  recordEscrow(unit, orderId, escrow);
  if (paymentDetails !== undefined) {
    recordVendorDetails(unit, deps.sealer, orderId, payableDetails(deps, order, paymentDetails));
  }
  await giveSignature(deps, unit, vendor, accepted, 'refund', sign);
  return accepted;
}

/** The end user pays by them: they fit the rail. What a vendor says besides, a reference say, is passed on as it is. */
function payableDetails(deps: VendorDeps, order: OrderRow, given: PlainDetails): PlainDetails {
  const location = { rail: order.payment_network_slug, institutionId: order.payment_method_slug };
  const fit = deps.detailsCheck.fit(location, given);
  if (fit.ok) return { ...given, ...fit.details };
  throw invalidFields(fit.problems.map(({ path, message }) => ({ path: `payment_${path}`, message })));
}

/** Where the crypto will be locked if this vendor takes the order; what was planned for one before it does not count. */
export async function plannedEscrow(
  { chains }: Pick<VendorDeps, 'chains'>,
  unit: UnitOfWork,
  vendor: VendorRow,
  order: OrderRow,
): Promise<OrderEscrow> {
  if (order.escrow !== null && !awaitsVendor(order)) return order.escrow;
  const [partner] = await unit.tx.query(partnerWallet, [order.partner_id]);
  if (partner === undefined) throw new Error(`partner ${order.partner_id} is gone`);
  return planEscrow(chains, order, { vendor: vendor.wallet_address, partner: partner.wallet_address });
}

/**
 * An off-ramp order that its quoted vendor serves was never offered: the vendor signs the refund when it learns of it. One
 * that is offered is signed for by accepting it; before that its escrow could still be another vendor's.
 */
export async function signRefund(
  deps: VendorDeps,
  unit: UnitOfWork,
  vendor: VendorRow,
  orderId: string,
  sign: VendorSignature,
): Promise<OrderRow> {
  const served = await loadOrderForAction(unit, orderId);
  if (awaitsVendor(served)) {
    throw refusedTransition({ kind: 'refused', code: 'INVALID_STATUS', row: served }, 'vendor');
  }
  const escrow = await plannedEscrow(deps, unit, vendor, served);
  const order = { ...served, escrow };
  if (served.escrow === null) recordEscrow(unit, orderId, escrow);
  await giveSignature(deps, unit, vendor, order, 'refund', sign);
  // An automatic refund may have waited for it; the table says whether.
  return execute(unit, deps.orderAdapters[order.direction], order, 'refund_signed_by_vendor', 'vendor').row;
}

/** After a dispute decided for the buyer: the vendor that won signs to be paid, the one that lost gives in. */
export function signRelease(...given: ReleaseGiven): Promise<OrderRow> {
  return moveAndSignRelease('release_authorized', ...given);
}

export function confirmFiatReceived(...given: ReleaseGiven): Promise<OrderRow> {
  return moveAndSignRelease('fiat_confirmed_by_vendor', ...given);
}

/** The buyer says that it has paid, shows it, and signs the release that it will be paid by. */
export async function submitProof(
  deps: VendorDeps,
  unit: UnitOfWork,
  vendor: VendorRow,
  orderId: string,
  proof: PaymentProof,
  sign: VendorSignature,
): Promise<OrderRow> {
  const started = await moveAndSignRelease('proof_submitted', deps, unit, vendor, orderId, sign);
  recordProof(unit, deps.sealer, started, vendor.vendor_id, proof);
  return started;
}

type ReleaseGiven = [
  deps: VendorDeps,
  unit: UnitOfWork,
  vendor: VendorRow,
  orderId: string,
  sign: VendorSignature,
];

/** What the vendor reports and its signature of the release come together: the one is refused with the other. */
async function moveAndSignRelease(
  trigger: OrderTrigger,
  ...[deps, unit, vendor, orderId, sign]: ReleaseGiven
): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  const moved = moveOrder(unit, deps.orderAdapters, order, trigger, 'vendor');
  await giveSignature(deps, unit, vendor, order, 'release', sign);
  return moved;
}

/** To a vendor they are one: its own wallet has not signed. */
const SIGNER_ERRORS: ReadonlySet<string> = new Set(['ESCROW_SIGNER_MISMATCH', 'INVALID_SIGNATURE']);

async function giveSignature(
  { chains }: VendorDeps,
  unit: UnitOfWork,
  vendor: VendorRow,
  order: OrderRow,
  purpose: PayoutPurpose,
  sign: VendorSignature,
): Promise<void> {
  const owners = (['seller', 'buyer'] as const).filter((owner) =>
    sameAddress(order.escrow?.[owner] ?? '', vendor.wallet_address),
  );
  try {
    await acceptPayoutSignature(chains, unit, order, purpose, owners, sign);
  } catch (error) {
    if (!(error instanceof CausewayError) || !SIGNER_ERRORS.has(error.code)) throw error;
    const recovered = (error.details as { recovered_signer?: string | null }).recovered_signer ?? null;
    throw new CausewayError('INVALID_SIGNATURE', {
      details: { expected_signer: vendor.wallet_address, recovered_signer: recovered },
      cause: error,
    });
  }
}

/** The vendor cannot or will not: the order is offered to the next. */
export async function declineOrder(
  deps: Pick<VendorDeps, 'orderAdapters'>,
  unit: UnitOfWork,
  orderId: string,
  told?: { readonly vendorId: string; readonly reason: VendorDeclineReason },
): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  if (told !== undefined) recordDecline(unit, order, told.vendorId, told.reason);
  return passOver(deps, unit, order, 'vendor');
}

/** The vendor that calls. */
export async function callingVendor(unit: UnitOfWork, { vendorId }: VendorPrincipal): Promise<VendorRow> {
  const [vendor] = await unit.tx.query(findVendor, [vendorId]);
  // A key outlives its vendor for as long as another process has not heard of it.
  if (vendor === undefined) throw new CausewayError('UNAUTHORIZED');
  return vendor;
}
