import { decide } from './decide.ts';
import { type KycStatus, type KycTrigger, kycMachine } from './kyc.machine.ts';
import type { Actor, Decision, Machine } from './machine.types.ts';
import { allowedActions, ORDER_MACHINES, type OrderDirection } from './order-actions.ts';
import type { OrderFacts, OrderGuard } from './order-facts.ts';
import type { OrderStatus, OrderTrigger } from './order-vocabulary.ts';
import { SANDBOX_EVENT_RULES, SANDBOX_ORDER_EVENTS, type SandboxOrderEvent } from './sandbox-events.ts';
import type { ScreeningTrigger } from './screening.machine.ts';

/** What each kind of caller can do, by the names of its own endpoints: what a refused action is told instead. */

/** Which fact each endpoint of a vendor reports, and as whom: only a provider's word counts as a notification. */
export const VENDOR_TRIGGERS = {
  accept: { trigger: 'vendor_accepted', actor: 'vendor' },
  decline: { trigger: 'vendor_declined', actor: 'vendor' },
  'fiat-confirmed': { trigger: 'fiat_confirmed_by_vendor', actor: 'vendor' },
  'payment-proof': { trigger: 'proof_submitted', actor: 'vendor' },
  'fiat-settled': { trigger: 'fiat_received_confirmed_by_provider', actor: 'provider' },
  dispute: { trigger: 'dispute_opened', actor: 'vendor' },
  'sign-release': { trigger: 'release_authorized', actor: 'vendor' },
} as const satisfies Readonly<
  Record<string, { readonly trigger: OrderTrigger; readonly actor: 'vendor' | 'provider' }>
>;

/** Endpoint and decision: an operator's endpoints take several. */
const OPERATOR_TRIGGERS = {
  'hold:place': 'hold_placed',
  'hold:release': 'hold_released',
  'hold:override_kyc': 'kyc_waived',
  'dispute:open': 'dispute_opened',
  'dispute:for_buyer': 'dispute_resolved_to_buyer',
  'dispute:for_seller': 'dispute_resolved_to_seller',
  'proof-review:start': 'proof_review_started',
  'proof-review:accepted': 'proof_accepted',
  'proof-review:rejected': 'proof_rejected',
  'escrow-signature:release': 'release_authorized',
  'escrow-signature:refund': 'refund_authorized',
  'escrow:settled_elsewhere': 'escrow_settled_elsewhere',
  'send-out:settled': 'bridge_settled',
  'send-out:failed': 'bridge_failed',
} as const satisfies Readonly<Record<string, OrderTrigger>>;

/** An operator's decisions about names and wallets that a screening found. */
export const SCREENING_DECISION_TRIGGERS = {
  clear: 'screening_cleared',
  block: 'screening_blocked',
  review: 'screening_matched',
  rescreen: 'screening_requested',
} as const satisfies Readonly<Record<string, ScreeningTrigger>>;

export const KYC_DECISION_TRIGGERS = {
  approve: 'verification_passed',
  reject: 'verification_refused',
  request_resubmission: 'resubmission_requested',
} as const satisfies Readonly<Record<string, KycTrigger>>;

/** What a partner does for its customer's KYC. */
const KYC_SUBMISSION_TRIGGERS = {
  kyc: 'data_submitted',
  'kyc/documents': 'documents_completed',
} as const satisfies Readonly<Record<string, KycTrigger>>;

export interface OrderState {
  readonly direction: OrderDirection;
  readonly status: OrderStatus;
  readonly facts: OrderFacts;
}

type OrderDecision = Decision<OrderStatus, OrderTrigger, OrderFacts, OrderGuard>;

/** Whether the table would take the report and something would come of it: a repetition is no action. */
function isNews({ direction, status, facts }: OrderState, trigger: OrderTrigger, actor: Actor): boolean {
  return brings(decide(ORDER_MACHINES[direction], status, trigger, facts, actor));
}

function brings(decision: OrderDecision): boolean {
  return decision.kind === 'moved' && decision.transition.noop !== true;
}

/** Whether an operator can still decide whose the money is: until then both sides may say what happened. */
export function isDisputeUndecided(order: OrderState): boolean {
  return orderActionsOf('operator', order).some((action) => action.startsWith('dispute:for_'));
}

/** What this caller can do with an order now. A worker, a bank or a chain calls no endpoint. */
export function orderActionsOf(caller: Actor, order: OrderState): string[] {
  switch (caller) {
    case 'partner':
    case 'customer':
      return allowedActions(ORDER_MACHINES[order.direction], order.status, order.facts, caller);
    case 'vendor':
    case 'provider':
      return Object.entries(VENDOR_TRIGGERS)
        .filter(([, { trigger, actor }]) => isNews(order, trigger, actor))
        .map(([action]) => action);
    case 'operator':
      return Object.entries(OPERATOR_TRIGGERS)
        .filter(([, trigger]) => isNews(order, trigger, 'operator'))
        .map(([action]) => action);
    default:
      return [];
  }
}

/**
 * What the table says about a sandbox event. It also takes crypto that reaches a stopped order late; no simulated actor sends
 * any there, so an event that has to move crypto first does not apply.
 */
export function decideSandboxEvent(
  { direction, status, facts }: OrderState,
  event: SandboxOrderEvent,
  trigger: OrderTrigger,
): OrderDecision {
  const { by, directions, movesCrypto } = SANDBOX_EVENT_RULES[event];
  const machine = ORDER_MACHINES[direction];
  const isTooLate = movesCrypto === true && machine.statuses[status]?.outcome === 'stopped';
  return isTooLate || !directions.includes(direction)
    ? { kind: 'refused', reason: 'no_transition', code: 'INVALID_STATUS' }
    : decide(machine, status, trigger, facts, by);
}

/** The sandbox events that apply to an order now. */
export function sandboxEventsOf(order: OrderState): SandboxOrderEvent[] {
  return SANDBOX_ORDER_EVENTS.filter((event) => {
    const { trigger, withinBound } = SANDBOX_EVENT_RULES[event];
    const triggers = withinBound === undefined ? [trigger] : [trigger, withinBound];
    return triggers.some((one) => brings(decideSandboxEvent(order, event, one)));
  });
}

/** Of these actions, those that a status knows for this caller; conditions beside the status may still refuse one. */
export function actionsInStatus<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  status: S,
  caller: Actor,
  actions: Readonly<Record<string, T>>,
): string[] {
  const rows = machine.index.get(status);
  return Object.entries(actions)
    .filter(([, trigger]) => rows?.get(trigger)?.some(({ by, noop }) => noop !== true && by.includes(caller)))
    .map(([action]) => action);
}

/** What this caller can do about a customer's KYC now. */
export function kycActionsOf(caller: Actor, status: KycStatus): string[] {
  const actions = caller === 'operator' ? KYC_DECISION_TRIGGERS : KYC_SUBMISSION_TRIGGERS;
  return actionsInStatus(kycMachine, status, caller, actions);
}
