import { type Actor, CausewayError, guardsHold, ORDER_MACHINES, type OrderTrigger } from '@causeway/protocol';
import type { FastifyRequest } from 'fastify';
import { type Database, partnerScope } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import { RecordedRefusal, type UnitOfWork } from '../../engine/unit-of-work.ts';
import type { PartnerPrincipal } from '../../http/principals.ts';
import { factsOf, type OrderHosts } from './order.host.ts';
import { refusedTransition } from './order.refusals.ts';
import { lockOrder } from './order.store.ts';
import type { OrderRow } from './order.types.ts';
import { readOrder } from './read-order.ts';

/** For action endpoints: the order is the partner's own and one it may act on at all, which a widget's is not. */
export function requireOrder(tools: { readonly db: Database }) {
  return async ({ principal, params }: FastifyRequest): Promise<void> => {
    const { partnerId } = principal as PartnerPrincipal;
    const order = await readOrder(tools.db, partnerScope(partnerId), (params as OrderPath).order_id);
    const machine = order && ORDER_MACHINES[order.direction];
    if (!machine || !guardsHold(machine, machine.before.actor?.partner, factsOf(order))) {
      throw new CausewayError('ORDER_NOT_FOUND');
    }
  };
}

interface OrderPath {
  readonly order_id: string;
}

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
