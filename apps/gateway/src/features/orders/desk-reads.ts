import { type Database, SYSTEM } from '../../db/database.ts';
import {
  countPendingProofs,
  ordersOfVendor,
  type PendingProofRow,
  pendingProofs,
  vendorStatement,
} from './order.store.ts';
import type { OrderRow } from './order.types.ts';

/** What vendors and operators read of orders. */

export function readVendorOrders(
  db: Database,
  vendorId: string,
  filter: { readonly statuses: readonly string[] | null; readonly limit: number; readonly offset: number },
): Promise<OrderRow[]> {
  return db.query(SYSTEM, ordersOfVendor, [vendorId, filter.statuses, filter.limit, filter.offset]);
}

export function readVendorStatement(db: Database, vendorId: string) {
  return db.query(SYSTEM, vendorStatement, [vendorId]);
}

export async function readPendingProofs(
  db: Database,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ proofs: PendingProofRow[]; total: number }> {
  const [proofs, [count]] = await db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(pendingProofs, [page.limit, page.offset], countPendingProofs, []),
  );
  return { proofs, total: Number(count?.total ?? 0) };
}
