import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM, vendorScope } from '../../db/database.ts';
import {
  countOrdersOfVendor,
  type DeskOrderRow,
  earningSums,
  earnings,
  orderForOperator,
  ordersForOperator,
  ordersOfVendor,
  signedPayouts,
  someOrdersOfVendor,
} from './desk.store.ts';
import { depositsOfOrder } from './odd-deposit.store.ts';
import { countPendingProofs, type PendingProofRow, pendingProofs } from './order.store.ts';

export type { DeskOrderRow } from './desk.store.ts';
export type { DepositRow } from './odd-deposit.store.ts';

/** What vendors and operators read of orders. */

interface Page {
  readonly limit: number;
  readonly offset: number;
}

export async function readVendorOrders(
  db: Database,
  vendorId: string,
  filter: { readonly statuses: readonly string[] | null; readonly direction: string | null } & Page,
): Promise<{ orders: DeskOrderRow[]; total: number }> {
  const { statuses, direction, limit, offset } = filter;
  const [orders, [count]] = await db.transaction(vendorScope(vendorId), (tx) =>
    tx.queryBoth(ordersOfVendor, [vendorId, statuses, direction, limit, offset], countOrdersOfVendor, [
      vendorId,
      statuses,
      direction,
    ]),
  );
  return { orders, total: Number(count?.total ?? 0) };
}

/** Those of the orders that are this vendor's now, by their ids. */
export async function readOrdersOfVendor(
  db: Database,
  vendorId: string,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, DeskOrderRow>> {
  const rows = await db.query(vendorScope(vendorId), someOrdersOfVendor, [vendorId, orderIds]);
  return new Map(rows.map((row) => [row.order_id, row]));
}

export async function readVendorOrder(db: Database, vendorId: string, orderId: string) {
  const order = (await readOrdersOfVendor(db, vendorId, [orderId])).get(orderId.toLowerCase());
  // Another vendor's order and none at all are the same to whoever asks.
  if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  const [signatures, deposits] = await db.transaction(vendorScope(vendorId), (tx) =>
    tx.queryBoth(signedPayouts, [orderId], depositsOfOrder, [orderId]),
  );
  return { order, signatures, deposits };
}

export async function readEarnings(
  db: Database,
  vendorId: string,
  period: { readonly from: Date | null; readonly to: Date | null },
  page: Page,
) {
  const [entries, sums] = await db.transaction(vendorScope(vendorId), (tx) =>
    tx.queryBoth(earnings, [vendorId, period.from, period.to, page.limit, page.offset], earningSums, [
      vendorId,
      period.from,
      period.to,
    ]),
  );
  return { entries, sums, total: sums.reduce((count, { orders }) => count + Number(orders), 0) };
}

export interface OperatorOrderFilter {
  readonly statuses: readonly string[] | null;
  readonly partnerId: string | null;
  readonly vendorId: string | null;
  readonly userId: string | null;
  readonly referenceId: string | null;
  readonly direction: string | null;
  readonly held: boolean | null;
  readonly stuck: boolean | null;
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
  /** An effect that was due before this, and has not been carried out, is stuck. */
  readonly lateBefore: Date;
  readonly before: string | null;
  readonly limit: number;
}

/** Orders of all partners, newest first. */
export function readOrdersForOperator(db: Database, filter: OperatorOrderFilter): Promise<DeskOrderRow[]> {
  return db.query(SYSTEM, ordersForOperator, [
    filter.statuses,
    filter.partnerId,
    filter.vendorId,
    filter.userId,
    filter.referenceId,
    filter.direction,
    filter.held,
    filter.stuck,
    filter.createdFrom,
    filter.createdTo,
    filter.lateBefore,
    filter.limit,
    filter.before,
  ]);
}

export async function readOrderForOperator(db: Database, orderId: string) {
  const [order] = await db.query(SYSTEM, orderForOperator, [orderId]);
  if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  const [signatures, deposits] = await db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(signedPayouts, [orderId], depositsOfOrder, [orderId]),
  );
  return { order, signatures, deposits };
}

export async function readPendingProofs(
  db: Database,
  page: Page,
): Promise<{ proofs: PendingProofRow[]; total: number }> {
  const [proofs, [count]] = await db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(pendingProofs, [page.limit, page.offset], countPendingProofs, []),
  );
  return { proofs, total: Number(count?.total ?? 0) };
}
