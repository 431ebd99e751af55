import {
  type Actor,
  decimalToWireNumber,
  type EffectKind,
  endpointOf,
  formatFixed,
  formatShortest,
  guardsHold,
  interruptsOrder,
  KYC_CLEARED,
  type MachineEventType,
  NEW,
  nextAction,
  ORDER_MACHINES,
  type OrderFacts,
  type OrderGuard,
  type OrderStatus,
  type OrderTransition,
  type OrderTrigger,
  type PartnerAction,
  type PostingKind,
  PUBLISHED_ORDER_STATUSES,
  REFUND_REQUIRED_STATUSES,
  RELEASE_REQUIRED_STATUSES,
  reasonsAfter,
  type TimeoutSetting,
  timeoutOf,
} from '@causeway/protocol';
import type { Change, MachineAdapter } from '../../../engine/execute.ts';
import type { IntentDraft } from '../../../engine/intent.ts';
import { type EventDraft, sentIn } from '../../../engine/outbox.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import { insertOrder, updateOrder } from './order.store.ts';
import { heldSince, type OrderRow, reasonsView, type StoredFacts, type TimelineEntry } from './order.ts';
import { entryForOrder } from './postings.ts';

/** How long an order may stay in a status, in seconds. */
export type OrderTimeouts = Readonly<Record<TimeoutSetting, number>>;

/** The configuration by the tables' names: a setting of the tables that is missing here does not compile. */
export function orderTimeouts(config: {
  readonly orderTimeoutNoVendorSeconds: number;
  readonly orderTimeoutNoEscrowSeconds: number;
  readonly orderTimeoutNoFiatSeconds: number;
  readonly orderTimeoutNoAuthorizationSeconds: number;
}): OrderTimeouts {
  return {
    no_vendor_seconds: config.orderTimeoutNoVendorSeconds,
    no_escrow_funding_seconds: config.orderTimeoutNoEscrowSeconds,
    no_fiat_seconds: config.orderTimeoutNoFiatSeconds,
    no_authorization_seconds: config.orderTimeoutNoAuthorizationSeconds,
  };
}

export interface OrderAdapterOptions {
  readonly timeouts: OrderTimeouts;
  /** A sandbox lets simulated actors know; it may write intents, and nothing else. */
  readonly afterMove?: (unit: UnitOfWork, order: OrderRow) => void;
}

export type OrderAdapter = MachineAdapter<OrderRow, OrderStatus, OrderTrigger, OrderFacts, OrderGuard>;

export type OrderAdapters = Readonly<Record<OrderRow['direction'], OrderAdapter>>;

export function createOrderAdapters(options: OrderAdapterOptions): OrderAdapters {
  return { onramp: orderAdapter('onramp', options), offramp: orderAdapter('offramp', options) };
}

function orderAdapter(direction: OrderRow['direction'], options: OrderAdapterOptions): OrderAdapter {
  const machine = ORDER_MACHINES[direction];
  return {
    machine,
    statusOf: (order) => (order.is_new ? NEW : order.status),
    factsOf: (order) => factsOf(order),

    write(unit, order, change) {
      const reasons = reasonsOf(order, change, unit.at);
      const moved: OrderRow = {
        ...order,
        ...reasons,
        is_new: false,
        status: change.status,
        facts: storedFacts(change.facts),
        timeline: change.statusChanged
          ? [...order.timeline, timelineEntry(change.status, unit.at)]
          : order.timeline,
        deadline_at: change.statusChanged
          ? deadlineOf(direction, change.status, reasons.held_at ?? unit.at, options.timeouts)
          : deadlineAfterHold(order, change, unit.at),
        revision: order.revision + 1,
        updated_at: unit.at,
      };
      writeOrder(unit, order, moved);
      options.afterMove?.(unit, moved);
      return moved;
    },

    eventFor,
    intentFor,
    entryFor: (order, posting: PostingKind) => entryForOrder(order, posting),
  };
}

function writeOrder(unit: UnitOfWork, before: OrderRow, after: OrderRow): void {
  const facts = JSON.stringify(after.facts);
  const timeline = JSON.stringify(after.timeline);
  if (before.is_new) {
    unit.tx.defer(insertOrder, [
      after.order_id,
      after.quote_id,
      after.order_type,
      after.reference_id,
      after.status,
      facts,
      timeline,
      after.deadline_at,
      unit.at,
      after.vendor_kind,
      after.customer_wallet,
    ]);
  } else {
    unit.tx.defer(updateOrder, [
      after.order_id,
      after.status,
      facts,
      timeline,
      after.deadline_at,
      unit.at,
      after.revision,
      after.failure_code,
      after.cancelled_by,
      after.hold_reason,
      after.held_at,
    ]);
  }
}

type OrderChange = Change<OrderStatus, OrderTrigger, OrderFacts, OrderGuard>;

/** Why the order stopped or is held after a change, as the table has it. */
function reasonsOf(order: OrderRow, { transition, actor, facts }: OrderChange, at: Date) {
  const before = { failure: order.failure_code, cancelledBy: order.cancelled_by, hold: order.hold_reason };
  const { failure, cancelledBy, hold } = reasonsAfter(transition, actor, before, order.facts, facts);
  return {
    failure_code: failure,
    cancelled_by: cancelledBy,
    hold_reason: hold,
    held_at: hold === null ? null : (order.held_at ?? at),
  };
}

function intentFor(order: OrderRow, effect: EffectKind): IntentDraft {
  switch (effect) {
    case 'vendor.offer-order':
    case 'vendor.request-fiat-payment':
    case 'escrow.deploy-and-watch':
    case 'escrow.release':
    case 'escrow.refund':
    case 'escrow.auto-refund':
    case 'escrow.return-to-vendor':
    case 'transfer.relay':
    case 'bridge.relay':
    case 'bank.pay-vendor':
      return {
        kind: effect,
        // The same effect can be started twice (a release that failed is started again after review), so the number of
        // the change that starts it is part of the key; a retry of the same decision has the same number.
        dedupeKey: `${order.order_id}:${effect}:${order.revision}`,
        partnerId: order.partner_id,
        payload: { order_id: order.order_id },
      };
    default:
      throw new Error(`an order does not start ${effect}`);
  }
}

export function factsOf(order: OrderRow): OrderFacts {
  const { direction, payee_cleared, seller_cleared, buyer_cleared, fee_wallet_cleared } = order;
  return {
    ...order.facts,
    kycCleared: order.kyc_status === KYC_CLEARED,
    payeeCleared: payee_cleared,
    // Off-ramp a release pays the partner's markup too, and the partner is the seller; of what a customer has paid in,
    // nothing goes on while its wallet is in doubt.
    payoutWalletsCleared: buyer_cleared && fee_wallet_cleared && (direction === 'onramp' || seller_cleared),
    refundWalletCleared: seller_cleared,
  };
}

export function storedFacts(facts: OrderFacts): StoredFacts {
  const { kycCleared, payeeCleared, payoutWalletsCleared, refundWalletCleared, ...stored } = facts;
  return stored;
}

export function timelineEntry(status: OrderStatus, at: Date): TimelineEntry {
  return { status, at: at.toISOString() };
}

/**
 * When a wait that begins ends. One that begins during a hold counts from the hold: while an order is held, what is left of
 * its wait is what lies between the hold and the deadline, whenever the status changed.
 */
function deadlineOf(
  direction: OrderRow['direction'],
  status: OrderStatus,
  from: Date,
  timeouts: OrderTimeouts,
): Date | null {
  const timeout = timeoutOf(ORDER_MACHINES[direction], status);
  if (timeout === undefined) return null;
  const seconds = timeout.setting === undefined ? timeout.defaultSeconds : timeouts[timeout.setting];
  return new Date(from.getTime() + seconds * 1_000);
}

/** A hold stops the clock: once it ends, the wait goes on for as long as was left (docs/decisions/0007). */
function deadlineAfterHold(order: OrderRow, { facts }: OrderChange, at: Date): Date | null {
  const { deadline_at: deadline } = order;
  if (deadline === null || !order.facts.held || facts.held) return deadline;
  // Clocks of two processes may differ a little: a hold never shortens a wait.
  const heldMs = Math.max(0, at.getTime() - heldSince(order).getTime());
  return new Date(deadline.getTime() + heldMs);
}

function eventFor(order: OrderRow, eventType: MachineEventType): EventDraft {
  const about = { partnerId: order.partner_id, subjectId: order.order_id };
  const changed = {
    order_id: order.order_id,
    status: sentIn(PUBLISHED_ORDER_STATUSES, order.status),
    user_id: order.user_id,
    crypto_amount: formatFixed(BigInt(order.crypto_amount), order.crypto_decimals),
    crypto_currency: order.crypto_currency,
    partner_fee: formatShortest(BigInt(order.partner_fee), order.crypto_decimals),
    partner_fee_pct: decimalToWireNumber(order.partner_fee_pct),
    fiat_amount: formatFixed(BigInt(order.fiat_amount), order.fiat_decimals),
    fiat_currency: order.fiat_currency,
    provider: order.vendor_kind,
    // The contract has it on every event, as text: empty where no profile of the customer's own is paid.
    payment_details_id: order.payment_details_id ?? '',
    reference_id: order.reference_id,
    ...reasonsView(order),
  };
  switch (eventType) {
    case 'order.status.changed':
      return { ...about, eventType, data: changed };
    case 'order.refund.required': {
      const status = sentIn(REFUND_REQUIRED_STATUSES, order.status);
      const action_required = signatureAsked(order, 'authorize-refund');
      return { ...about, eventType, data: { ...changed, status, action_required } };
    }
    case 'order.release.required': {
      const status = sentIn(RELEASE_REQUIRED_STATUSES, order.status);
      const action_required = signatureAsked(order, 'authorize-release');
      return { ...about, eventType, data: { ...changed, status, action_required } };
    }
    default:
      throw new Error(`an order does not send ${eventType}`);
  }
}

/** Where the partner signs, and where it reads what to sign. */
function signatureAsked({ order_id }: OrderRow, action: PartnerAction) {
  const { method, endpoint, parameters_endpoint } = endpointOf(order_id, action);
  if (parameters_endpoint === undefined) throw new Error(`${action} has no parameters to sign`);
  return { method, endpoint, parameters_endpoint };
}

export interface OrderStep {
  readonly actor: Actor;
  readonly fact: OrderTrigger;
}

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
  // What may still be done with a completed order, such as a send-out, is not waited for.
  const machine = ORDER_MACHINES[order.direction];
  if (!order.facts.held && nextAction(machine, order.status, factsOf(order)) === 'none') return null;
  const rows = possible(order);
  const next = order.facts.held
    ? rows.find(({ on }) => on === 'hold_released')
    : rows.find(({ on }) => !interruptsOrder(on));
  return next === undefined ? null : stepOf(next, order);
}

/** All who could now set the crypto in the escrow in motion. */
export function whoCanMove(order: OrderRow): OrderStep[] {
  return possible(order)
    .filter((row) =>
      row.effects?.some((effect) => effect.startsWith('escrow.') && !effect.includes('deploy')),
    )
    .map((row) => stepOf(row, order));
}
