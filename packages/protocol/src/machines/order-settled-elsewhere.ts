import type { OrderRule } from './order-facts.ts';

type Status = 'fiat_received_confirmed' | 'cancelled' | 'failed';

/**
 * Two owners of an escrow can empty it without the service, in a transaction of their own. Its payout can then never happen:
 * an operator who has found out what they agreed on ends the order, once the chain shows that nothing is left.
 */
export function settledElsewhere(): OrderRule<Status>[] {
  const row = {
    on: 'escrow_settled_elsewhere',
    by: ['operator'],
    guard: ['hold_present', 'escrow_funded'],
    posts: 'escrow_settled_elsewhere',
    sets: { held: false, heldForDeposit: false, escrow: 'emptied' },
  } as const;
  return [
    {
      ...row,
      from: 'fiat_received_confirmed',
      to: 'failed',
      emits: ['order.status.changed'],
      failure: 'ESCROW_SETTLED_ELSEWHERE',
      spec: 'Silent: the owners of the escrow have moved the crypto themselves; the release can never happen',
    },
    ...(['cancelled', 'failed'] as const).map(
      (status): OrderRule<Status> => ({
        ...row,
        from: status,
        to: status,
        emits: [],
        spec: 'Silent: likewise of a stopped order; its refund can never happen',
      }),
    ),
  ];
}
