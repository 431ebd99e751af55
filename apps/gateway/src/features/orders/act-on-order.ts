import { type Actor, CausewayError, type OrderTrigger } from '@causeway/protocol';
import { execute } from '../../engine/execute.ts';
import { RecordedRefusal, type UnitOfWork } from '../../engine/unit-of-work.ts';
import type { OrderHosts } from './order.host.ts';
import { refusedTransition } from './order.refusals.ts';
import { lockOrder } from './order.store.ts';
import type { OrderRow } from './order.types.ts';

/** Locks an order of the unit's scope, or says that there is none. */
export async function loadOrderForAction(unit: UnitOfWork, orderId: string): Promise<OrderRow> {
  const [order] = await unit.tx.query(lockOrder, [orderId]);
  if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  return order;
}

/**
 * Reports a fact about a locked order; a refusal is thrown as the answer its reporter gets. Where the refusal sends the
 * order to review, the hold stays although the rest of the unit is not done.
 */
export function moveOrder(
  unit: UnitOfWork,
  hosts: OrderHosts,
  order: OrderRow,
  trigger: OrderTrigger,
  actor: Actor,
): OrderRow {
  const execution = execute(unit, hosts[order.direction], order, trigger, actor);
  if (execution.kind !== 'refused') return execution.row;
  const refusal = refusedTransition(execution);
  throw execution.recorded ? new RecordedRefusal(refusal) : refusal;
}

export async function actOnOrder(
  unit: UnitOfWork,
  hosts: OrderHosts,
  orderId: string,
  trigger: OrderTrigger,
  actor: Actor,
): Promise<OrderRow> {
  return moveOrder(unit, hosts, await loadOrderForAction(unit, orderId), trigger, actor);
}
