import {
  type Actor,
  guardsHold,
  ORDER_MACHINES,
  type OrderTransition,
  type OrderTrigger,
} from '@causeway/protocol';
import { factsOf } from './order.host.ts';
import type { OrderRow } from './order.types.ts';

export interface OrderStep {
  readonly actor: Actor;
  readonly fact: OrderTrigger;
}

/** What interrupts an order rather than taking it further. */
const DETOURS: ReadonlySet<OrderTrigger> = new Set<OrderTrigger>([
  'vendor_declined',
  'cancelled_by_partner',
  'order_expired',
  'escrow_failed',
  'cost_bound_exceeded',
  'cost_bound_met',
  'dispute_opened',
  'hold_placed',
  'deposit_held',
  'transfer_failed',
  'transfer_authorization_lapsed',
  'release_failed',
  'refund_failed',
  'refund_signed_by_vendor',
  'bridge_failed',
]);

/** Every transition that could happen to the order now, in the table's order. */
function possible(order: OrderRow): OrderTransition[] {
  const machine = ORDER_MACHINES[order.direction];
  const facts = factsOf(order);
  const rows = [...(machine.index.get(order.status)?.values() ?? [])].flat();
  return rows.filter((row) => row.noop !== true && guardsHold(machine, row.guard, facts));
}

function stepOf(row: OrderTransition, order: OrderRow): OrderStep {
  const opener: Actor = order.facts.origin === 'widget' ? 'customer' : 'partner';
  const actor = row.by.includes(opener) ? opener : (row.by[0] ?? 'system');
  return { actor, fact: row.on };
}

/** Who has to do what for the order to go on; null where it has ended. A held order waits for the operator. */
export function waitingFor(order: OrderRow): OrderStep | null {
  const rows = possible(order);
  const next = order.facts.held
    ? rows.find(({ on }) => on === 'hold_released')
    : rows.find(({ on }) => !DETOURS.has(on));
  return next === undefined ? null : stepOf(next, order);
}

/** Everybody who could now set the crypto in the escrow in motion. */
export function whoCanMove(order: OrderRow): OrderStep[] {
  return possible(order)
    .filter((row) =>
      row.effects?.some((effect) => effect.startsWith('escrow.') && !effect.includes('deploy')),
    )
    .map((row) => stepOf(row, order));
}
