import { setTimeout as sleep } from 'node:timers/promises';
import {
  CausewayError,
  costExceedsBound,
  type DetailsOf,
  decide,
  isPublished,
  ORDER_MACHINES,
  type OrderTrigger,
  SANDBOX_EVENT_RULES,
  type SandboxOrderEvent,
  sandboxEventsOf,
} from '@causeway/protocol';
import { findSigned } from '../../chain/authorization/authorization.store.ts';
import { setSolverConduct } from '../../chain/bridge/simulated-bridge.store.ts';
import { type Database, partnerScope, SYSTEM } from '../../db/database.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import {
  decideProof,
  loadOrderForAction,
  moveOrder,
  orderState,
  readOrder,
  refusedTransition,
} from '../orders/lifecycle/act-on-order.ts';
import { factsOf, type OrderAdapters } from '../orders/lifecycle/order.adapter.ts';
import type { OrderRow } from '../orders/lifecycle/order.ts';
import { askSimulator } from './simulator.effect.ts';

export interface SandboxEvent {
  readonly event: SandboxOrderEvent;
  readonly cost_multiplier?: string | number | undefined;
}

type EventDeps = UnitDeps & { readonly orderAdapters: OrderAdapters };

/** Events that a simulated vendor brings about by doing what a vendor does. */
const VENDOR_EVENTS: readonly SandboxOrderEvent[] = [
  'vendor_accepts',
  'escrow_funded',
  'vendor_confirms_fiat',
  'buyer_submits_proof',
];
/** Events that the bridge's solver brings about. */
const SOLVER_CONDUCT = { bridge_settles: 'pays', bridge_fails: 'refuses' } as const;

const SETTLE_TIMEOUT_MS = 20_000;
const LOOK_AGAIN_MS = 50;

/** Makes something happen to an order, and answers it once the order shows it. */
export async function applySandboxEvent(
  deps: EventDeps,
  partnerId: string,
  orderId: string,
  given: SandboxEvent,
): Promise<OrderRow> {
  const trigger = triggerOf(given);
  const before = await unitOfWork(deps, partnerScope(partnerId), async (unit) => {
    const order = await loadOrderForAction(unit, orderId);
    const isNews = requirePossible(order, given.event, trigger);
    if (isNews) begin(deps, unit, order, given.event, trigger);
    return { order, isNews };
  });
  if (!before.isNews) return before.order;
  await instructSolver(deps, before.order, given.event);
  return waitUntilSettled(deps.db, before.order);
}

/** False where the event repeats what is known. */
function requirePossible(order: OrderRow, event: SandboxOrderEvent, trigger: OrderTrigger): boolean {
  const { by, directions } = SANDBOX_EVENT_RULES[event];
  const decision = decide(ORDER_MACHINES[order.direction], order.status, trigger, factsOf(order), by);
  if (!directions.includes(order.direction) || decision.kind === 'refused') {
    const code = decision.kind === 'refused' ? decision.code : 'INVALID_STATUS';
    throw eventRefused(refusedTransition({ kind: 'refused', code, row: order }, 'partner'), event, order);
  }
  return decision.transition.noop !== true;
}

/** The same answer, and which events would have done. */
function eventRefused(refusal: CausewayError, event: SandboxOrderEvent, order: OrderRow): CausewayError {
  const applicable = sandboxEventsOf(orderState(order));
  const which = applicable.length === 0 ? 'No event does' : `These do: ${applicable.join(', ')}`;
  const message = `${event} does not apply to an order in ${order.status} as it stands. ${which}.`;
  const { status, allowed_actions } = refusal.details as DetailsOf<'INVALID_STATUS'>;
  switch (refusal.code) {
    case 'INVALID_STATUS':
      return new CausewayError('INVALID_STATUS', {
        message,
        details: { status, allowed_actions, applicable_events: applicable },
      });
    case 'OPERATION_NOT_ALLOWED':
      return new CausewayError('OPERATION_NOT_ALLOWED', {
        message,
        details: { applicable_events: applicable },
      });
    default:
      return refusal;
  }
}

function begin(
  deps: EventDeps,
  unit: UnitOfWork,
  order: OrderRow,
  event: SandboxOrderEvent,
  trigger: OrderTrigger,
): void {
  const { by } = SANDBOX_EVENT_RULES[event];
  if (event in SOLVER_CONDUCT) return;
  if (VENDOR_EVENTS.includes(event)) askSimulator(unit, order);
  else if (event === 'proof_accepted') decideProof(unit, deps.orderAdapters, order, 'accepted', by);
  else if (event === 'proof_rejected') decideProof(unit, deps.orderAdapters, order, 'rejected', by);
  else moveOrder(unit, deps.orderAdapters, order, trigger, by);
}

/** The multiplier is compared as whole numbers: exactly 1.20 is still within the bound. */
function triggerOf({ event, cost_multiplier: multiplier }: SandboxEvent): OrderTrigger {
  const { trigger, withinBound } = SANDBOX_EVENT_RULES[event];
  if (withinBound === undefined) return trigger;
  const match = /^([0-9]{1,9})(?:\.([0-9]{1,18}))?$/.exec(String(multiplier ?? ''));
  if (match === null) throw invalidRequest('cost_multiplier', 'is required: a decimal such as 1.25');
  const [, whole = '', fraction = ''] = match;
  return costExceedsBound(BigInt(whole + fraction), 10n ** BigInt(fraction.length)) ? trigger : withinBound;
}

async function instructSolver(deps: UnitDeps, order: OrderRow, event: SandboxOrderEvent): Promise<void> {
  if (event !== 'bridge_settles' && event !== 'bridge_fails') return;
  const signed = await findSigned(deps.db, order.order_id, 'bridge');
  const quoteId = signed?.bridge?.quoteId;
  if (quoteId === undefined) return;
  await unitOfWork(deps, SYSTEM, async (unit) => setSolverConduct(unit, quoteId, SOLVER_CONDUCT[event]));
}

/** Until the order has moved and is not in between: what a caller would otherwise have to poll for. */
async function waitUntilSettled(db: Database, before: OrderRow): Promise<OrderRow> {
  const attempts = SETTLE_TIMEOUT_MS / LOOK_AGAIN_MS;
  for (let attempt = 0; ; attempt++) {
    const order = await readOrder(db, partnerScope(before.partner_id), before.order_id);
    if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
    if ((order.revision !== before.revision && isSettled(order)) || attempt >= attempts) return order;
    await sleep(LOOK_AGAIN_MS);
  }
}

function isSettled({ direction, status, facts }: OrderRow): boolean {
  const isMoving = facts.escrow === 'releasing' || facts.escrow === 'refunding';
  return !isMoving && (isPublished(ORDER_MACHINES[direction], status) || facts.held);
}
