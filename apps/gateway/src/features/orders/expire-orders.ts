import { SYSTEM } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import { type UnitTools, unitOfWork } from '../../engine/unit-of-work.ts';
import type { OrderHosts } from './order.host.ts';
import { lockOrder, overdueOrders } from './order.store.ts';

const BATCH = 100;

// The query leaves out what a review or a waiting proof keeps from expiring: it would only be refused, every time.

/** Reports to each overdue order that its time is up; the table decides what that means. */
export async function expireOrders(tools: UnitTools & { readonly orderHosts: OrderHosts }): Promise<number> {
  const overdue = await tools.db.query(SYSTEM, overdueOrders, [tools.clock.date(), BATCH]);
  for (const { order_id: orderId } of overdue) {
    await unitOfWork(tools, SYSTEM, async (unit) => {
      const [order] = await unit.tx.query(lockOrder, [orderId]);
      if (order?.deadline_at == null || order.deadline_at > unit.at) return;
      execute(unit, tools.orderHosts[order.direction], order, 'order_expired', 'clock');
    });
  }
  return overdue.length;
}
