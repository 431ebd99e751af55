import type { Actor, OrderTrigger } from '@causeway/protocol';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { OrderHosts } from './order.host.ts';
import { lockOrder } from './order.store.ts';

/** Reports facts in turn. One that the order has no use for any more is refused by the table and changes nothing. */
export async function reportFacts(
  tools: { readonly orderHosts: OrderHosts },
  unit: UnitOfWork,
  orderId: string,
  triggers: readonly OrderTrigger[],
  actor: Actor,
): Promise<void> {
  let [order] = await unit.tx.query(lockOrder, [orderId]);
  for (const trigger of triggers) {
    if (order === undefined) return;
    order = execute(unit, tools.orderHosts[order.direction], order, trigger, actor).row;
  }
}
