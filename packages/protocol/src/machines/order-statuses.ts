import type { FailureCode } from '../failures/index.ts';
import { knowsTrigger, sourcesOf } from './decide.ts';
import { NEW, type TradeOutcome } from './machine.types.ts';
import { ORDER_MACHINES, type OrderDirection } from './order-actions.ts';
import type { OrderMachine } from './order-facts.ts';
import type { OrderStatus, OrderTrigger } from './order-vocabulary.ts';

/** Questions about statuses that readers and workers ask; the answers are the tables', so no list is kept elsewhere. */

const MACHINES: readonly OrderMachine[] = Object.values(ORDER_MACHINES);

function statusesWhere(holds: (machine: OrderMachine, status: OrderStatus) => boolean): OrderStatus[] {
  return [
    ...new Set(MACHINES.flatMap((machine) => machine.statusNames.filter((status) => holds(machine, status)))),
  ];
}

export function orderStatusesWithOutcome(...outcomes: readonly TradeOutcome[]): OrderStatus[] {
  return statusesWhere((machine, status) => {
    const outcome = machine.statuses[status]?.outcome;
    return outcome !== undefined && outcomes.includes(outcome);
  });
}

/** Where a trigger means something, in either direction. */
export function orderStatusesThatKnow(trigger: OrderTrigger): OrderStatus[] {
  return statusesWhere((machine, status) => knowsTrigger(machine, status, trigger));
}

/** Where the order goes on only when one side says that the fiat has arrived. */
export function orderStatusesAwaitingFiatConfirmation(): OrderStatus[] {
  return statusesWhere((machine, status) =>
    machine.transitions.some(
      (row) => row.follow === 'release_started' && row.to !== status && sourcesOf(row).includes(status),
    ),
  );
}

/** Where the partner may have the next step: while the order is under way, and after its end. */
export function orderStatusesWithPartnerStep(): { underWay: OrderStatus[]; ended: OrderStatus[] } {
  const hasStep = (machine: OrderMachine, status: OrderStatus) =>
    machine.statuses[status]?.next?.some(({ step }) => step !== 'wait' && step !== 'none') === true;
  const isTerminal = (machine: OrderMachine, status: OrderStatus) =>
    machine.statuses[status]?.terminal === true;
  return {
    underWay: statusesWhere((machine, status) => hasStep(machine, status) && !isTerminal(machine, status)),
    ended: statusesWhere((machine, status) => hasStep(machine, status) && isTerminal(machine, status)),
  };
}

/** How every order begins. */
export const ORDER_INITIAL = 'created' satisfies OrderStatus;
/** The payout has been made: the vendor has kept its word, whatever becomes of the order later. */
export const ORDER_COMPLETED = 'completed' satisfies OrderStatus;
/** Somebody else decides whose the money is. */
export const ORDER_DISPUTED = 'dispute_started' satisfies OrderStatus;
/** Ended without a trade. */
export const ORDER_CANCELLED = 'cancelled' satisfies OrderStatus;

/**
 * Whether an order that has passed through these statuses tells its end user where to pay. One whose KYC is lost is not
 * told while it could still pay; one that has paid may know whom.
 */
export function revealsPaymentDetails(
  machine: OrderMachine,
  {
    status,
    passed,
    kycCleared,
  }: { status: OrderStatus; passed: readonly OrderStatus[]; kycCleared: boolean },
): boolean {
  const now = machine.statuses[status];
  const isUnpaid = now?.revealsPaymentDetails === true || now?.outcome === 'stopped';
  if (isUnpaid && !kycCleared) return false;
  return passed.some((status) => machine.statuses[status]?.revealsPaymentDetails === true);
}

/** Statuses that REST shows beyond those that the contract lists for a direction. */
export function additiveStatuses(direction: OrderDirection): OrderStatus[] {
  const { statusNames, statuses } = ORDER_MACHINES[direction];
  return statusNames.filter((status) => statuses[status]?.additive === true);
}

/** Of a cancelled order: the vendor did not keep its word. Where somebody asked for the cancellation it is not to blame. */
export function vendorFailures(): FailureCode[] {
  const codes = MACHINES.flatMap(({ statuses, transitions }) =>
    transitions
      .filter((row) => row.to === ORDER_CANCELLED && row.action === undefined)
      .filter((row) => sourcesOf(row).some((status) => status !== NEW && statuses[status]?.vendorOwes))
      .flatMap(({ failure }) => failure ?? []),
  );
  return [...new Set(codes)];
}
