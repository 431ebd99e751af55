import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { PayoutPurpose } from './order.escrow.ts';
import { insertEscrowSignature, setEscrow } from './order.store.ts';
import type { OrderEscrow, OrderRow } from './order.types.ts';

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
