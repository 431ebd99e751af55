import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  CausewayError,
  costExceedsBound,
  type DetailsOf,
  decideSandboxEvent,
  isPublished,
  ORDER_MACHINES,
  type OrderStatus,
  type OrderTransition,
  type OrderTrigger,
  SANDBOX_EVENT_RULES,
  type SandboxOrderEvent,
  sandboxEventsOf,
  sourcesOf,
} from '@causeway/protocol';
import { findSigned } from '../../chain/authorization/authorization.store.ts';
import { setSolverConduct } from '../../chain/bridge/simulated-bridge.store.ts';
import { type Database, partnerScope, type Scope, SYSTEM } from '../../db/database.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import type { OutsideWork } from '../../http/idempotency.ts';
import type { Sealer } from '../../lib/crypto.ts';
import { returnUnspentDeposit } from '../fiat-accounts/payments.ts';
import {
  decideProof,
  loadOrderForAction,
  moveOrder,
  orderState,
  readOrder,
  refusedTransition,
} from '../orders/lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../orders/lifecycle/order.adapter.ts';
import type { OrderRow } from '../orders/lifecycle/order.ts';
import { findSimulatedVendor } from '../vendors/simulated-vendor.ts';
import { effectState } from './sandbox.store.ts';
import { askSimulator, REFUSED } from './simulator.effect.ts';

export interface SandboxEvent {
  readonly event: SandboxOrderEvent;
  readonly cost_multiplier?: string | number | undefined;
}

type EventDeps = UnitDeps & { readonly orderAdapters: OrderAdapters; readonly sealer: Sealer };

/** Events that a simulated vendor brings about, and what a vendor with a wallet of its own does instead. */
const VENDOR_EVENTS: Partial<Record<SandboxOrderEvent, string>> = {
  vendor_accepts:
    'sign GET /api/v1/vendor/orders/{order_id}/signing-parameters?purpose=refund and POST …/accept with its key',
  escrow_funded:
    'send what GET /api/v1/vendor/orders/{order_id} shows as funding from this wallet; POST /api/v1/sandbox/faucet gives it tokens and gas',
  vendor_confirms_fiat:
    'sign GET /api/v1/vendor/orders/{order_id}/signing-parameters?purpose=release and POST …/fiat-confirmed with its key',
  buyer_submits_proof:
    'sign GET /api/v1/vendor/orders/{order_id}/signing-parameters?purpose=release and POST …/payment-proof with its key',
};
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
  outside: OutsideWork,
): Promise<OrderRow> {
  const trigger = triggerOf(given);
  const known = await readOrder(deps.db, partnerScope(partnerId), orderId);
  if (known === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  if (outside.isWritten && isBroughtAbout(known, given.event, trigger)) {
    return waitUntilSettled(deps.db, known, { hasHappened: () => true });
  }
  if (isNews(requirePossible(known, given.event, trigger))) await requireActor(deps, known, given.event);
  const begun = await unitOfWork(deps, partnerScope(partnerId), async (unit) => {
    const order = await loadOrderForAction(unit, orderId);
    const transition = requirePossible(order, given.event, trigger);
    outside.written(unit);
    const asked = isNews(transition) ? await begin(deps, unit, order, given.event, trigger) : undefined;
    return { order, transition, asked };
  });
  const { order: before, transition, asked } = begun;
  if (!isNews(transition)) return before;
  await instructSolver(deps, before, given.event);
  return waitUntilSettled(deps.db, before, {
    hasHappened: (order) => !isOfOthers(given.event) || shows(order, before, transition),
    requirePossible: (order) => requirePossible(order, given.event, trigger),
    asked,
  });
}

const isNews = ({ noop }: OrderTransition) => noop !== true;

/** A vendor or the solver is asked for it and does it later, or not at all; the others are done once they are written. */
function isOfOthers(event: SandboxOrderEvent): boolean {
  return event in VENDOR_EVENTS || event in SOLVER_CONDUCT;
}

/** Whether a request whose answer was lost has brought it about. Where it is still awaited, it is asked for again and done once. */
function isBroughtAbout(order: OrderRow, event: SandboxOrderEvent, trigger: OrderTrigger): boolean {
  if (!isOfOthers(event)) return true;
  if (sandboxEventsOf(orderState(order)).includes(event)) return false;
  const { transitions } = ORDER_MACHINES[order.direction];
  return transitions.some(
    (row) => row.on === trigger && !sourcesOf(row).includes(row.to) && hasEntered(order, row.to),
  );
}

/** What the event leads to by the table: another status, which the order may have left since, or a fact. */
function shows(order: OrderRow, before: OrderRow, { to, sets }: OrderTransition): boolean {
  if (to !== before.status) return hasEntered(order, to, before.timeline.length);
  return isDeepStrictEqual({ ...order.facts, ...sets }, order.facts);
}

function hasEntered({ timeline }: OrderRow, status: OrderStatus, since = 0): boolean {
  return timeline.slice(since).some((entry) => entry.status === status);
}

/** A vendor signs and pays with its wallet: the sandbox can do so only where it has the wallet's key. */
async function requireActor(deps: EventDeps, order: OrderRow, event: SandboxOrderEvent): Promise<void> {
  const wayOn = VENDOR_EVENTS[event];
  if (wayOn === undefined) return;
  if (order.vendor_id === null) throw notAllowed('No vendor has the order at present.');
  if ((await findSimulatedVendor(deps.db, deps.sealer, order.vendor_id)) !== undefined) return;
  throw notAllowed(
    `The vendor of this order signs with a wallet of its own, whose key the sandbox does not have: ${wayOn.replace('{order_id}', order.order_id)}.`,
  );
}

function notAllowed(message: string): CausewayError {
  return new CausewayError('OPERATION_NOT_ALLOWED', { message });
}

/** What the event does to the order as it stands. */
function requirePossible(order: OrderRow, event: SandboxOrderEvent, trigger: OrderTrigger): OrderTransition {
  const decision = decideSandboxEvent(orderState(order), event, trigger);
  if (decision.kind === 'refused') {
    const { code } = decision;
    throw eventRefused(refusedTransition({ kind: 'refused', code, row: order }, 'partner'), event, order);
  }
  return decision.transition;
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

/** Answers the key of the act where a simulated vendor was asked. */
async function begin(
  deps: EventDeps,
  unit: UnitOfWork,
  order: OrderRow,
  event: SandboxOrderEvent,
  trigger: OrderTrigger,
): Promise<string | undefined> {
  const { by } = SANDBOX_EVENT_RULES[event];
  if (event in SOLVER_CONDUCT) return undefined;
  if (event in VENDOR_EVENTS) return askSimulator(unit, order);
  if (event === 'proof_accepted') decideProof(unit, deps.orderAdapters, order, 'accepted', by);
  else if (event === 'proof_rejected') decideProof(unit, deps.orderAdapters, order, 'rejected', by);
  else await returnUnspentDeposit(unit, moveOrder(unit, deps.orderAdapters, order, trigger, by));
  return undefined;
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

interface AwaitedEvent {
  readonly hasHappened: (order: OrderRow) => boolean;
  /** Throws where something else came first. */
  readonly requirePossible?: (order: OrderRow) => unknown;
  /** Of the act that a simulated vendor was asked for. */
  readonly asked?: string | undefined;
}

/**
 * Until the event has happened and the order is not in between: what a caller would otherwise have to poll for. Where the
 * event could not be brought about it says so; that something else has happened is never answered as if it were the event.
 */
async function waitUntilSettled(db: Database, before: OrderRow, awaited: AwaitedEvent): Promise<OrderRow> {
  const scope = partnerScope(before.partner_id);
  const attempts = SETTLE_TIMEOUT_MS / LOOK_AGAIN_MS;
  for (let attempt = 0; ; attempt++) {
    // Read before the order: an act that was refused because the order has moved meanwhile is no refusal.
    const refusal = awaited.asked === undefined ? undefined : await refusalOf(db, scope, awaited.asked);
    const order = await readOrder(db, scope, before.order_id);
    if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
    const hasHappened = awaited.hasHappened(order);
    if (hasHappened && (isSettled(order) || attempt >= attempts)) return order;
    if (!hasHappened) {
      awaited.requirePossible?.(order);
      if (refusal !== undefined) throw notAllowed(`The vendor could not do it: ${refusal}.`);
    }
    if (attempt >= attempts) {
      throw new CausewayError('SERVICE_UNAVAILABLE', { cause: new Error('the event has not happened') });
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

async function refusalOf(db: Database, scope: Scope, asked: string): Promise<string | undefined> {
  const [act] = await db.query(scope, effectState, ['sandbox.act', asked]);
  if (act?.settled !== true) return undefined;
  if (act.last_error !== null) return act.last_error;
  return typeof act.result === 'string' && act.result.startsWith(REFUSED)
    ? act.result.slice(REFUSED.length)
    : undefined;
}

function isSettled({ direction, status, facts }: OrderRow): boolean {
  const isMoving = facts.escrow === 'releasing' || facts.escrow === 'refunding';
  return !isMoving && (isPublished(ORDER_MACHINES[direction], status) || facts.held);
}
