import { ORDER_MACHINES, orderStatusesThatKnow } from '@causeway/protocol';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import type { Sealer } from '../../../lib/crypto.ts';
import { type EncryptedColumn, encryptedColumn } from '../../../vault/encrypted-column.ts';
import { disputeStatementContext } from '../disputes/vendor-answers.ts';
import { proofContext } from '../lifecycle/act-on-order.ts';
import {
  countOpenOrders,
  countOpenPayouts,
  eraseParties,
  erasePayee,
  saveStopReason,
} from '../lifecycle/list-orders.store.ts';
import { type OrderRow, payerDetailsContext, vendorDetailsContext } from '../lifecycle/order.ts';

const stopReasonContext = (orderId: string) => `order_stop_reasons:${orderId}`;

/** What orders keep sealed by the master key, for its rotation. */
export const ORDER_ENCRYPTED_COLUMNS: readonly EncryptedColumn[] = [
  encryptedColumn('orders', 'order_id', 'vendor_payment_details_sealed', vendorDetailsContext),
  encryptedColumn('orders', 'order_id', 'payer_details_sealed', payerDetailsContext),
  encryptedColumn('order_stop_reasons', 'order_id', 'reason_sealed', stopReasonContext),
  encryptedColumn('payment_proofs', 'proof_id', 'proof_sealed', proofContext),
  encryptedColumn('dispute_statements', 'statement_id', 'text_sealed', disputeStatementContext),
];

/** A partner's own words on why it cancelled; they may name a person. */
export function keepStopReason(unit: UnitOfWork, sealer: Sealer, order: OrderRow, reason: string): void {
  const sealed = sealer.seal(reason, stopReasonContext(order.order_id));
  unit.tx.defer(saveStopReason, [order.order_id, order.partner_id, sealed]);
}

/** A dispute ends an order for its partner, but the operator who decides it still needs the proofs. */
const DISPUTED: readonly string[] = orderStatusesThatKnow('dispute_resolved_to_buyer');

const ENDED_STATUSES = [
  ...new Set(
    Object.values(ORDER_MACHINES).flatMap(({ statuses }) =>
      Object.entries(statuses)
        .filter(([status, { terminal }]) => terminal && !DISPUTED.includes(status))
        .map(([status]) => status),
    ),
  ),
];

/** Orders of a customer that still need to know who pays or is paid. */
export async function openOrdersOf(unit: UnitOfWork, userId: string): Promise<number> {
  const [row] = await unit.tx.query(countOpenOrders, [userId, ENDED_STATUSES]);
  return Number(row?.open ?? 0);
}

/** The same for the payee. */
export async function openPayoutsTo(unit: UnitOfWork, recipientId: string): Promise<number> {
  const [row] = await unit.tx.query(countOpenPayouts, [recipientId, ENDED_STATUSES]);
  return Number(row?.open ?? 0);
}

/**
 * Takes a customer out of its orders: what the master key seals there does not go with the person's own key. Amounts,
 * times, hashes and verdicts stay (docs/decisions/0012).
 */
export function eraseOrdersOf(unit: UnitOfWork, userId: string): void {
  unit.tx.defer(eraseParties, [userId]);
}

/** Takes a recipient out of the orders that paid it. */
export function erasePayoutsTo(unit: UnitOfWork, recipientId: string): void {
  unit.tx.defer(erasePayee, [recipientId]);
}
