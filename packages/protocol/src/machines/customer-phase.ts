import { type OrderState, orderActionsOf } from './caller-actions.ts';
import { guardsHold, isTerminal, knowsTrigger, statusSteps } from './decide.ts';
import type { PartnerAction, TradeOutcome } from './machine.types.ts';
import { ORDER_MACHINES } from './order-actions.ts';
import type { OrderTrigger } from './order-vocabulary.ts';

/**
 * What an order asks of the customer that opened it, read off the tables: the widget shows phases and knows no status.
 * In `pay`, `sign`, `confirm`, `refund` and `release` it is the customer's turn, and its action is allowed.
 */
export const ORDER_PHASES = [
  'match',
  'pay',
  'sign',
  'settle',
  'confirm',
  'refund',
  'release',
  'completed',
  'stopped',
  'disputed',
] as const;
export type OrderPhase = (typeof ORDER_PHASES)[number];

/** Whose turn it is once an action is what the status asks for. */
const PHASE_OF_ACTION: Partial<Record<PartnerAction, OrderPhase>> = {
  'submit-payer-details': 'pay',
  'confirm-payment-sent': 'pay',
  'authorize-crypto-transfer': 'sign',
  'confirm-fiat-received': 'confirm',
  'authorize-refund': 'refund',
  'authorize-release': 'release',
};

const PHASE_OF_OUTCOME: Readonly<Record<TradeOutcome, OrderPhase>> = {
  settled: 'completed',
  stopped: 'stopped',
  disputed: 'disputed',
};

/** A status that knows one of these waits for a vendor to take the order or to lock its crypto. */
const WAITS_FOR_VENDOR: readonly OrderTrigger[] = ['liquidity_checked', 'vendor_accepted', 'escrow_funded'];

export function customerPhase(order: OrderState): OrderPhase {
  const machine = ORDER_MACHINES[order.direction];
  const { status, facts } = order;
  const asked = askedOf(order);
  const phase = asked && PHASE_OF_ACTION[asked];
  if (phase !== undefined) return phase;
  const { outcome, revealsPaymentDetails } = machine.statuses[status] ?? {};
  if (outcome !== undefined) return PHASE_OF_OUTCOME[outcome];
  // Paid into an account of the customer's own, which is seen without being told.
  if (revealsPaymentDetails && guardsHold(machine, ['pays_own_iban', 'not_held'], facts)) return 'pay';
  return WAITS_FOR_VENDOR.some((trigger) => knowsTrigger(machine, status, trigger)) ? 'match' : 'settle';
}

/** The first step of the status that is an action which the customer may take now. */
function askedOf(order: OrderState): PartnerAction | undefined {
  const machine = ORDER_MACHINES[order.direction];
  const allowed = orderActionsOf('customer', order);
  return statusSteps(machine, order.status).find(
    ({ action, when }) =>
      action !== undefined && allowed.includes(action) && guardsHold(machine, when, order.facts),
  )?.action;
}

/** Something is still to come of it: a payout, a refund, a decision. */
export function isOpenForCustomer(order: OrderState): boolean {
  const machine = ORDER_MACHINES[order.direction];
  if (!isTerminal(machine, order.status)) return true;
  const { outcome } = machine.statuses[order.status] ?? {};
  if (outcome !== 'stopped') return outcome === 'disputed';
  // Off-ramp the crypto in the escrow is the customer's own; on-ramp the vendor's goes back by itself.
  return order.direction === 'offramp' && guardsHold(machine, ['escrow_unsettled'], order.facts);
}

const ON_CHAIN_SECONDS = 60;
const MATCH_SECONDS = 120;
const FIAT_SECONDS = 1_800;
const DISPUTE_SECONDS = 172_800;

/** How long the phase takes as a rule; null where it is the customer's turn or the end. */
export function expectedSeconds(order: OrderState): number | null {
  const { escrow, transferAuthorization } = order.facts;
  switch (customerPhase(order)) {
    case 'match':
      return MATCH_SECONDS;
    case 'settle':
      return escrow === 'releasing' || transferAuthorization === 'live' ? ON_CHAIN_SECONDS : FIAT_SECONDS;
    case 'disputed':
      return DISPUTE_SECONDS;
    case 'stopped':
      return order.direction === 'offramp' && escrow === 'refunding' ? ON_CHAIN_SECONDS : null;
    default:
      return null;
  }
}
