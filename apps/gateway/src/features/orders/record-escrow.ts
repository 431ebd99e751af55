import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Sealer } from '../../lib/crypto.ts';
import type { PayoutPurpose } from './order.escrow.ts';
import { type PlainDetails, sealVendorDetails } from './order.secrets.ts';
import { insertEscrowSignature, setEscrow, setVendorDetails } from './order.store.ts';
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

export function recordVendorDetails(
  unit: UnitOfWork,
  sealer: Sealer,
  orderId: string,
  details: PlainDetails,
): void {
  unit.tx.defer(setVendorDetails, [orderId, sealVendorDetails(sealer, orderId, details)]);
}
