import { decide, guardsHold, isTerminal, statusSteps } from './decide.ts';
import type { NextAction, PartnerAction } from './machine.types.ts';
import { PARTNER_ACTIONS } from './machine.types.ts';
import { offrampMachine } from './offramp.machine.ts';
import { onrampMachine } from './onramp.machine.ts';
import type { OrderFacts, OrderMachine } from './order-facts.ts';
import type { OrderStatus, OrderTrigger } from './order-vocabulary.ts';

export type OrderDirection = 'onramp' | 'offramp';

export const ORDER_MACHINES: { readonly [D in OrderDirection]: OrderMachine } = {
  onramp: onrampMachine,
  offramp: offrampMachine,
};

/** Which fact each action endpoint reports, and the read that gives a partner what it must sign. */
export const ACTION_ENDPOINTS: {
  readonly [A in PartnerAction]: { readonly trigger: OrderTrigger; readonly parameters?: string };
} = {
  'submit-payer-details': { trigger: 'payer_details_submitted' },
  'confirm-payment-sent': { trigger: 'payment_sent_confirmed' },
  'authorize-crypto-transfer': {
    trigger: 'transfer_authorized',
    parameters: 'transfer-authorization-parameters',
  },
  'confirm-fiat-received': { trigger: 'fiat_received_confirmed_by_partner' },
  'authorize-bridge': { trigger: 'bridge_authorized', parameters: 'bridge-authorization-parameters' },
  'authorize-refund': { trigger: 'refund_authorized', parameters: 'refund-authorization-parameters' },
  'authorize-release': { trigger: 'release_authorized', parameters: 'release-authorization-parameters' },
  cancel: { trigger: 'cancelled_by_partner' },
};

/** `action_required` as it reads on the wire. */
export interface ActionRequired {
  readonly method: 'POST';
  readonly endpoint: string;
  readonly parameters_endpoint?: string;
}

/** Exactly the actions that `decide` would let this caller take now; a repetition that changes nothing is none. */
export function allowedActions<S extends OrderStatus>(
  machine: OrderMachine<S>,
  status: S,
  facts: OrderFacts,
  caller: 'partner' | 'customer' = 'partner',
): PartnerAction[] {
  return PARTNER_ACTIONS.filter((action) => isAllowed(machine, status, facts, action, caller));
}

function isAllowed<S extends OrderStatus>(
  machine: OrderMachine<S>,
  status: S,
  facts: OrderFacts,
  action: PartnerAction,
  caller: 'partner' | 'customer' = 'partner',
): boolean {
  const decision = decide(machine, status, ACTION_ENDPOINTS[action].trigger, facts, caller);
  return decision.kind === 'moved' && decision.transition.action === action;
}

function nextStep<S extends OrderStatus>(machine: OrderMachine<S>, status: S, facts: OrderFacts) {
  return statusSteps(machine, status).find(
    ({ action, when }) =>
      guardsHold(machine, when, facts) && (action === undefined || isAllowed(machine, status, facts, action)),
  );
}

export function nextAction<S extends OrderStatus>(
  machine: OrderMachine<S>,
  status: S,
  facts: OrderFacts,
): NextAction {
  return nextStep(machine, status, facts)?.step ?? (isTerminal(machine, status) ? 'none' : 'wait');
}

export function actionRequired<S extends OrderStatus>(
  orderId: string,
  machine: OrderMachine<S>,
  status: S,
  facts: OrderFacts,
): ActionRequired | null {
  const action = nextStep(machine, status, facts)?.action;
  return action === undefined ? null : endpointOf(orderId, action);
}

export function endpointOf(orderId: string, action: PartnerAction): ActionRequired {
  const order = `/api/v1/partner/orders/${orderId}`;
  const { parameters } = ACTION_ENDPOINTS[action];
  return parameters === undefined
    ? { method: 'POST', endpoint: `${order}/${action}` }
    : { method: 'POST', endpoint: `${order}/${action}`, parameters_endpoint: `${order}/${parameters}` };
}
