import {
  type Canceller,
  type FailureCode,
  type HoldReason,
  holdReasonForVendor,
  type KycStatus,
  ORDER_FAILURES,
  type OrderFacts,
  type OrderReasonsSchema,
  type OrderStatus,
  orderStatusesThatKnow,
  orderStatusesWithOutcome,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Sealer } from '../../../lib/crypto.ts';
import type { Vaults } from '../../../vault/vault.ts';
import { openSnapshot, type RecipientContext } from '../../recipients/destinations.ts';

export interface TimelineEntry {
  readonly status: OrderStatus;
  readonly at: string;
}

/** The owners of the order's escrow and its address, which follows from them. */
export interface OrderEscrow {
  readonly address: `0x${string}`;
  readonly service: `0x${string}`;
  readonly seller: `0x${string}`;
  readonly buyer: `0x${string}`;
  /** Of an order that a customer opened: the wallet that gets the partner’s fee. Elsewhere the partner is an owner. */
  readonly partner?: `0x${string}`;
  /** Where its release pays the platform’s fee; not in escrows from before it was kept. */
  readonly treasury?: `0x${string}`;
}

/** The facts that the order keeps itself; who is cleared is read from those whom it is about. */
export type StoredFacts = Omit<
  OrderFacts,
  'kycCleared' | 'payeeCleared' | 'payoutWalletsCleared' | 'refundWalletCleared'
>;

export interface OrderRow {
  order_id: string;
  partner_id: string;
  user_id: string;
  quote_id: string;
  direction: 'onramp' | 'offramp';
  order_type: 'onramp' | 'offramp' | 'payment_request';
  reference_id: string | null;
  status: OrderStatus;
  facts: StoredFacts;
  timeline: readonly TimelineEntry[];
  /** Counts every change of the row by the executor. */
  revision: number;
  deadline_at: Date | null;
  failure_code: FailureCode | null;
  cancelled_by: Canceller | null;
  /** Both null unless the order is held, and of a hold from before they were kept. */
  hold_reason: HoldReason | null;
  held_at: Date | null;
  vendor_id: string | null;
  chain: string;
  /** Of an order that a customer opened: its wallet is the escrow’s owner in the place of the partner’s. */
  customer_wallet: `0x${string}` | null;
  escrow: OrderEscrow | null;
  crypto_currency: string;
  crypto_decimals: number;
  fiat_currency: string;
  fiat_decimals: number;
  rate: string;
  crypto_amount: string;
  fiat_amount: string;
  platform_fee: string;
  platform_fee_pct: string;
  /** Off-ramp: what was accepted to be missing of the deposit; the platform's fee bears it. */
  deposit_shortfall: string;
  partner_fee: string;
  partner_fee_pct: string;
  payment_method_slug: string;
  payment_network_slug: string;
  tx_hash: string | null;
  send_out_tx_hash: string | null;
  payment_details_id: string | null;
  recipient_id: string | null;
  recipient_context_sealed: string | null;
  recipient_key_sealed: string | null;
  vendor_payment_details_sealed: string | null;
  payer_details_sealed: string | null;
  vendor_kind: 'p2p' | 'direct';
  created_at: Date;
  updated_at: Date;
  kyc_status: KycStatus;
  payee_cleared: boolean;
  /** Of the escrow's two sides; true until the escrow is fixed. */
  seller_cleared: boolean;
  buyer_cleared: boolean;
  /** Of the wallet that gets the partner’s fee where that is none of the two; true elsewhere. */
  fee_wallet_cleared: boolean;
  /** Only while a deposit is applied to it: the account, as the books name it, that the money is on. */
  deposit_account?: string;
  /** Only on an order that is being created: it has no row and no status yet. */
  is_new?: boolean;
}

const AWAITING_VENDOR: ReadonlySet<OrderStatus> = new Set(orderStatusesThatKnow('vendor_declined'));

/** Whether the order still goes from one vendor to the next: until one has accepted, none is its vendor for good. */
export function awaitsVendor({ status }: Pick<OrderRow, 'status'>): boolean {
  return AWAITING_VENDOR.has(status);
}

const STOPPED: ReadonlySet<OrderStatus> = new Set(orderStatusesWithOutcome('stopped'));

/** Whether the order has ended without a trade. */
export function hasStopped({ status }: Pick<OrderRow, 'status'>): boolean {
  return STOPPED.has(status);
}

/** Of a hold from before it was kept, nothing later than the order's last change is known. */
export function heldSince(order: Pick<OrderRow, 'held_at' | 'updated_at'>): Date {
  return order.held_at ?? order.updated_at;
}

type Reasons = Static<typeof OrderReasonsSchema>;

/** Why the order is as it is, for its partner and for operators. */
export function reasonsView(order: OrderRow): Reasons {
  const { failure_code: code, hold_reason: reason } = order;
  return {
    failure: code === null ? null : failureView(code),
    cancelled_by: order.cancelled_by,
    // A hold from before reasons were kept is a review like any other.
    hold: order.facts.held
      ? { reason: reason ?? 'COMPLIANCE_REVIEW', since: heldSince(order).toISOString() }
      : null,
    expires_at: expiresAt(order)?.toISOString() ?? null,
  };
}

/** The same for its vendor, without what is between partner, customer and operator. */
export function vendorReasonsView(order: OrderRow): Reasons {
  const { hold, ...reasons } = reasonsView(order);
  return { ...reasons, hold: hold && { ...hold, reason: holdReasonForVendor(hold.reason) } };
}

function failureView(code: FailureCode): NonNullable<Reasons['failure']> {
  const { message, retryable } = ORDER_FAILURES[code];
  return { code, message, retryable };
}

type Deadline = Pick<OrderRow, 'facts' | 'deadline_at'>;

/** When the present wait ends. What stops the clock is what `overdueOrders` leaves out. */
export function expiresAt({ facts, deadline_at }: Deadline): Date | null {
  return facts.held || facts.proofPending ? null : deadline_at;
}

/** The bare time-out, also while a proof waits. A hold moves it, nobody knows yet how far. */
export function shownDeadline({ facts, deadline_at }: Deadline): string | null {
  return facts.held ? null : (deadline_at?.toISOString() ?? null);
}

/** What opens the sealed parts of an order. */
export interface OrderSecrets {
  readonly sealer: Sealer;
  readonly vaults: Vaults;
}

export type PlainDetails = Readonly<Record<string, string>>;

export const vendorDetailsContext = (orderId: string) => `orders.vendor_payment_details:${orderId}`;
export const payerDetailsContext = (orderId: string) => `orders.payer_details:${orderId}`;

export function sealVendorDetails(sealer: Sealer, orderId: string, details: PlainDetails): string {
  return sealer.seal(JSON.stringify(details), vendorDetailsContext(orderId));
}

export function vendorDetailsOf(
  { sealer }: Pick<OrderSecrets, 'sealer'>,
  order: OrderRow,
): PlainDetails | null {
  if (order.vendor_payment_details_sealed === null) return null;
  const text = sealer.open(order.vendor_payment_details_sealed, vendorDetailsContext(order.order_id));
  return JSON.parse(text) as PlainDetails;
}

export function sealPayerDetails(sealer: Sealer, orderId: string, details: PlainDetails): string {
  return sealer.seal(JSON.stringify(details), payerDetailsContext(orderId));
}

export function payerDetailsOf(
  { sealer }: Pick<OrderSecrets, 'sealer'>,
  order: OrderRow,
): PlainDetails | null {
  if (order.payer_details_sealed === null) return null;
  const text = sealer.open(order.payer_details_sealed, payerDetailsContext(order.order_id));
  return JSON.parse(text) as PlainDetails;
}

/** Who is paid, as it was when the quote was made; null where the customer itself is, or the person is erased. */
export function recipientContextOf(
  { vaults }: Pick<OrderSecrets, 'vaults'>,
  order: OrderRow,
): RecipientContext | null {
  const { recipient_id: recipientId, recipient_key_sealed: key, recipient_context_sealed: sealed } = order;
  return recipientId === null || key === null || sealed === null
    ? null
    : openSnapshot(vaults, key, recipientId, sealed);
}
