import type { Actor } from '@causeway/protocol';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { moveOrder } from './act-on-order.ts';
import { lockOrdersAwaitingDeposit } from './deposit.store.ts';
import type { OrderHosts } from './order.host.ts';
import { lockOrder } from './order.store.ts';
import type { OrderRow } from './order.types.ts';

/** How money on a customer's own account pays an order. Whoever calls holds the lock of customer and currency. */

/** Orders of a customer that wait for exactly this amount on its own account, held ones included. */
export async function ordersAwaitingDeposit(
  unit: UnitOfWork,
  userId: string,
  currency: string,
  amount: bigint,
): Promise<readonly OrderRow[]> {
  return unit.tx.query(lockOrdersAwaitingDeposit, [userId, currency, amount.toString()]);
}

/** The order goes on, and the books move the money from the account that is named to its vendor. */
export function payByDeposit(
  unit: UnitOfWork,
  hosts: OrderHosts,
  order: OrderRow,
  depositAccount: string,
  actor: Actor,
): OrderRow {
  return moveOrder(unit, hosts, { ...order, deposit_account: depositAccount }, 'deposit_matched', actor);
}

/** Answers whether it was not held before. */
export function holdForDeposit(unit: UnitOfWork, hosts: OrderHosts, order: OrderRow): boolean {
  return execute(unit, hosts[order.direction], order, 'deposit_held', 'bank').kind === 'moved';
}

/** An operator has decided what kept the order waiting; one that is held for another reason, or not, is left as it is. */
export function releaseDepositHold(unit: UnitOfWork, hosts: OrderHosts, order: OrderRow): OrderRow {
  return execute(unit, hosts[order.direction], order, 'deposit_hold_released', 'operator').row;
}

export async function releaseIfAwaiting(unit: UnitOfWork, hosts: OrderHosts, orderId: string): Promise<void> {
  const [order] = await unit.tx.query(lockOrder, [orderId]);
  if (order !== undefined) releaseDepositHold(unit, hosts, order);
}
