import type { OrderTransition } from './order-facts.ts';
import type { OrderStatus, OrderTrigger } from './order-vocabulary.ts';

/**
 * A hold is a flag beside the status: it lets facts be recorded and keeps money where it is.
 * One row a status, because a hold never changes it.
 */
export function holdPlacements<S extends OrderStatus>(statuses: readonly S[]): OrderTransition<S>[] {
  return statuses.map((status) => ({
    from: status,
    on: 'hold_placed',
    by: ['operator', 'system', 'chain', 'bank'],
    guard: ['hold_absent'],
    to: status,
    emits: [],
    sets: { held: true },
    spec: 'D12 holds',
  }));
}

export function plainHoldReleases<S extends OrderStatus>(statuses: readonly S[]): OrderTransition<S>[] {
  return statuses.map((status) => holdRelease(status, 'D12 holds'));
}

/** Where a hold kept a step back, releasing it takes that step. */
export function holdReleasesThatResume<S extends OrderStatus>(
  status: S,
  follow: OrderTrigger,
): OrderTransition<S>[] {
  return [{ ...holdRelease(status, `D12 holds; what the hold kept back goes on: ${follow}`), follow }];
}

function holdRelease<S extends OrderStatus>(status: S, spec: string): OrderTransition<S> {
  return {
    from: status,
    on: 'hold_released',
    by: ['operator'],
    guard: ['hold_present'],
    to: status,
    emits: [],
    sets: { held: false },
    spec,
  };
}
