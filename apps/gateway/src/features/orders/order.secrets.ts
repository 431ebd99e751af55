import type { Sealer } from '../../lib/crypto.ts';
import type { Vaults } from '../privacy/vault.ts';
import { openSnapshot, type RecipientContext } from '../recipients/recipient-snapshot.ts';
import type { OrderRow } from './order.types.ts';

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

/** Who is paid, as it was when the quote was made; null where nobody else is, or the person is forgotten. */
export function recipientContextOf(
  { vaults }: Pick<OrderSecrets, 'vaults'>,
  order: OrderRow,
): RecipientContext | null {
  const { recipient_id: recipientId, recipient_key_sealed: key, recipient_context_sealed: sealed } = order;
  return recipientId === null || key === null || sealed === null
    ? null
    : openSnapshot(vaults, key, recipientId, sealed);
}
