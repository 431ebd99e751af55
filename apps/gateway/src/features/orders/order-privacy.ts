import { ORDER_MACHINES } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { type SealedPlace, sealedColumn } from '../privacy/sealed-place.ts';
import { payerDetailsContext, vendorDetailsContext } from './order.secrets.ts';
import { countOpenOrders, forgetPayerDetails } from './order-privacy.store.ts';
import { proofContext } from './review-proof.ts';

/** What orders keep sealed by the master key, for its rotation. */
export const ORDER_SEALED_PLACES: readonly SealedPlace[] = [
  sealedColumn('orders', 'order_id', 'vendor_payment_details_sealed', vendorDetailsContext),
  sealedColumn('orders', 'order_id', 'payer_details_sealed', payerDetailsContext),
  sealedColumn('payment_proofs', 'proof_id', 'proof_sealed', proofContext),
];

const ENDED_STATUSES = [
  ...new Set(
    Object.values(ORDER_MACHINES).flatMap(({ statuses }) =>
      Object.entries(statuses)
        .filter(([, { terminal }]) => terminal)
        .map(([status]) => status),
    ),
  ),
];

/** Orders that still need to know who pays or is paid. */
export async function openOrdersOf(unit: UnitOfWork, userId: string): Promise<number> {
  const [row] = await unit.tx.query(countOpenOrders, [userId, ENDED_STATUSES]);
  return Number(row?.open ?? 0);
}

/** The account a customer paid from is kept with the order, under the master key: forgetting the data key misses it. */
export function forgetOrdersOf(unit: UnitOfWork, userId: string): void {
  unit.tx.defer(forgetPayerDetails, [userId]);
}
