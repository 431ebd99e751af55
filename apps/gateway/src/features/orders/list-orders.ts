import type { OrderQuery } from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, partnerScope } from '../../db/database.ts';
import type { OrderRow } from './order.types.ts';
import { allOrders, type OrderFilters, ordersByReference, ordersOfUser } from './order-list.store.ts';

/** A page of a partner's orders, newest first, and how many there are in all. */
export async function listOrders(
  db: Database,
  partnerId: string,
  query: Static<typeof OrderQuery>,
): Promise<{ readonly orders: readonly OrderRow[]; readonly total: number }> {
  const { page, limit } = query;
  const userId = query.user_uuid ?? null;
  const referenceId = query.reference_id ?? null;
  const list = referenceId !== null ? ordersByReference : userId !== null ? ordersOfUser : allOrders;
  const filters: OrderFilters = [
    query.status ?? null,
    query.order_type ?? null,
    query.created_from === undefined ? '-infinity' : new Date(query.created_from),
    query.created_to === undefined ? 'infinity' : new Date(query.created_to),
    userId,
    referenceId,
  ];
  const scope = partnerScope(partnerId);
  const [orders, [count]] = await Promise.all([
    db.query(scope, list.page, [...filters, limit, (page - 1) * limit]),
    db.query(scope, list.count, filters),
  ]);
  return { orders, total: Number(count?.total ?? 0) };
}
