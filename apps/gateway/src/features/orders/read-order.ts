import type { Database, Scope } from '../../db/database.ts';
import { findOrder } from './order.store.ts';
import type { OrderRow } from './order.types.ts';

export async function readOrder(db: Database, scope: Scope, orderId: string): Promise<OrderRow | undefined> {
  const [order] = await db.query(scope, findOrder, [orderId]);
  return order;
}
