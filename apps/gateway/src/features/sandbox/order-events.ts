import { setTimeout as sleep } from 'node:timers/promises';
import {
  CausewayError,
  decide,
  isPublished,
  ORDER_MACHINES,
  SANDBOX_EVENT_RULES,
  type SandboxOrderEvent,
} from '@causeway/protocol';
import { type Database, partnerScope } from '../../db/database.ts';
import { type UnitTools, unitOfWork } from '../../engine/unit-of-work.ts';
import { loadOrderForAction, moveOrder } from '../orders/act-on-order.ts';
import { factsOf, type OrderHosts } from '../orders/order.host.ts';
import { refusedTransition } from '../orders/order.refusals.ts';
import type { OrderRow } from '../orders/order.types.ts';
import { readOrder } from '../orders/read-order.ts';
import { askSimulator } from './simulator.effect.ts';

/** Events that a simulated vendor brings about by doing what a vendor does. */
const VENDOR_EVENTS: readonly SandboxOrderEvent[] = [
  'vendor_accepts',
  'escrow_funded',
  'vendor_confirms_fiat',
];

const SETTLE_TIMEOUT_MS = 20_000;
const LOOK_AGAIN_MS = 50;

/** Makes something happen to an order, and answers it once the order shows it. */
export async function applySandboxEvent(
  tools: UnitTools & { readonly orderHosts: OrderHosts },
  partnerId: string,
  orderId: string,
  event: SandboxOrderEvent,
): Promise<OrderRow> {
  const scope = partnerScope(partnerId);
  const rule = SANDBOX_EVENT_RULES[event];
  const before = await unitOfWork(tools, scope, async (unit) => {
    const order = await loadOrderForAction(unit, orderId);
    const decision = decide(
      ORDER_MACHINES[order.direction],
      order.status,
      rule.trigger,
      factsOf(order),
      rule.by,
    );
    if (!rule.directions.includes(order.direction) || decision.kind === 'refused') {
      throw refusedTransition({
        kind: 'refused',
        code: decision.kind === 'refused' ? decision.code : 'INVALID_STATUS',
        row: order,
      });
    }
    if (VENDOR_EVENTS.includes(event)) askSimulator(unit, order);
    else moveOrder(unit, tools.orderHosts, order, rule.trigger, rule.by);
    return order;
  });
  return waitUntilSettled(tools.db, before);
}

/** Until the order has moved and is not in between: what a caller would otherwise have to poll for. */
async function waitUntilSettled(db: Database, before: OrderRow): Promise<OrderRow> {
  const machine = ORDER_MACHINES[before.direction];
  const attempts = SETTLE_TIMEOUT_MS / LOOK_AGAIN_MS;
  for (let attempt = 0; ; attempt++) {
    const order = await readOrder(db, partnerScope(before.partner_id), before.order_id);
    if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
    const changed =
      order.updated_at.getTime() !== before.updated_at.getTime() || order.status !== before.status;
    if ((changed && isPublished(machine, order.status)) || attempt >= attempts) return order;
    await sleep(LOOK_AGAIN_MS);
  }
}
