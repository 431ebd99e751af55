import type { Canceller, FailureCode, HoldReason } from '../failures/index.ts';
import type { Actor } from './machine.types.ts';
import type { OrderFacts, OrderTransition } from './order-facts.ts';
import { ORDER_CANCELLED, orderStatusesWithOutcome } from './order-statuses.ts';

/** Why an order stopped, who cancelled it, and why it is held. Kept beside the facts: no guard reads them. */
export interface OrderReasons {
  readonly failure: FailureCode | null;
  readonly cancelledBy: Canceller | null;
  readonly hold: HoldReason | null;
}

export const NO_REASONS: OrderReasons = { failure: null, cancelledBy: null, hold: null };

const STOPPED: readonly string[] = orderStatusesWithOutcome('stopped');

/** Parties by their names; what the chain, the bank or the clock reports, the service has cancelled. */
const CANCELLED_BY: Readonly<Record<Actor, Canceller>> = {
  partner: 'partner',
  customer: 'customer',
  vendor: 'vendor',
  provider: 'vendor',
  operator: 'operator',
  bank: 'system',
  chain: 'system',
  clock: 'system',
  system: 'system',
  simulator: 'system',
};

/** The reasons once a transition has happened; the table says them, this only keeps those that still hold. */
export function reasonsAfter(
  transition: OrderTransition,
  actor: Actor,
  before: OrderReasons,
  was: Pick<OrderFacts, 'held' | 'heldForDeposit'>,
  is: Pick<OrderFacts, 'held' | 'heldForDeposit'>,
): OrderReasons {
  const { failure, hold, to } = transition;
  const canceller = failure === undefined ? before.cancelledBy : CANCELLED_BY[actor];
  // A hold for a deposit gives way to one for another reason, which also outlives it; any other hold keeps its own.
  const isStanding = was.held && was.heldForDeposit === is.heldForDeposit;
  return {
    // A buyer who had paid is heard even after the cancellation; the order has then not stopped.
    failure: STOPPED.includes(to) ? (failure ?? before.failure) : null,
    cancelledBy: to === ORDER_CANCELLED ? canceller : null,
    hold: !is.held ? null : isStanding ? before.hold : (hold ?? before.hold),
  };
}
