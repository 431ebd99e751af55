import type { HoldRule, OrderRule } from './order-facts.ts';
import type { OrderStatus, OrderTrigger } from './order-vocabulary.ts';

/**
 * A hold is a flag beside the status: it lets facts be recorded and keeps money where it is.
 * One row a status, because a hold never changes it. Who places it, and what is then true, is its reason.
 */
export function holdPlacements<S extends OrderStatus>(statuses: readonly S[]): HoldRule<S>[] {
  const placed = {
    on: 'hold_placed',
    emits: [],
    sets: { held: true, heldForDeposit: false },
    spec: 'D12 holds; takes the place of one for a deposit, which matching it would end',
  } as const;
  return statuses.flatMap((status): HoldRule<S>[] => {
    const row = { ...placed, from: status, to: status };
    return [
      { ...row, by: ['operator'], guard: ['no_other_hold'], hold: 'COMPLIANCE_REVIEW' },
      { ...row, by: ['bank'], guard: ['no_other_hold'], hold: 'FIAT_TRANSFER_REVIEW' },
      {
        ...row,
        by: ['system', 'chain'],
        guard: ['no_other_hold', 'screening_not_clear'],
        hold: 'COMPLIANCE_REVIEW',
      },
      {
        ...row,
        by: ['system', 'chain'],
        guard: ['no_other_hold', 'screening_clear', 'kyc_lost'],
        hold: 'KYC_REVIEW',
      },
      {
        ...row,
        by: ['system', 'chain'],
        guard: ['no_other_hold', 'screening_clear', 'kyc_cleared'],
        hold: 'SETTLEMENT_REVIEW',
      },
    ];
  });
}

/** A name or a wallet of a funded order is no longer clear: nothing moves until a review. */
export function screeningHolds<S extends OrderStatus>(statuses: readonly S[]): HoldRule<S>[] {
  return statuses.map((status) => ({
    from: status,
    on: 'screening_lost',
    by: ['system'],
    guard: ['hold_absent', 'escrow_funded', 'screening_not_clear'],
    to: status,
    emits: [],
    hold: 'COMPLIANCE_REVIEW',
    sets: { held: true },
    spec: 'D13: a funded order of a recipient that is no longer clear is held; likewise of a wallet',
  }));
}

/** While an order waits for its customer's deposit: one that could pay several orders holds them all. */
export function depositHolds(): OrderRule<'awaiting_fiat_transfer'>[] {
  return [
    {
      from: 'awaiting_fiat_transfer',
      on: 'deposit_held',
      by: ['bank'],
      guard: ['pays_own_iban', 'hold_absent'],
      to: 'awaiting_fiat_transfer',
      emits: [],
      hold: 'DEPOSIT_REVIEW',
      sets: { held: true, heldForDeposit: true },
      spec: 'C3.1 row 5: two open orders with the same amount are held for review',
    },
    {
      from: 'awaiting_fiat_transfer',
      on: 'deposit_hold_released',
      by: ['operator'],
      guard: ['deposit_hold_present'],
      to: 'awaiting_fiat_transfer',
      emits: [],
      sets: { held: false, heldForDeposit: false },
      spec: 'D12: the operator has decided what the deposit pays; a hold for another reason stays',
    },
  ];
}

export function plainHoldReleases<S extends OrderStatus>(statuses: readonly S[]): HoldRule<S>[] {
  return statuses.map((status) => holdRelease(status, 'D12 holds'));
}

/** Where a hold kept a step back, releasing it takes that step. */
export function holdReleasesThatResume<S extends OrderStatus>(
  status: S,
  follow: OrderTrigger,
): HoldRule<S>[] {
  return [{ ...holdRelease(status, `D12 holds; what the hold kept back goes on: ${follow}`), follow }];
}

/**
 * The customer is refused for good, and another party has done its part: fiat is paid, or a dispute is to be decided.
 * The operator answers for paying all the same. Nowhere else: before that, an order can be stopped.
 */
export function kycWaivers(): OrderRule<'fiat_received_confirmed' | 'dispute_started'>[] {
  const waiver = {
    on: 'kyc_waived',
    by: ['operator'],
    guard: ['hold_present', 'kyc_lost'],
    emits: [],
    sets: { held: false, kycWaived: true },
  } as const;
  return [
    {
      ...waiver,
      from: 'fiat_received_confirmed',
      to: 'fiat_received_confirmed',
      follow: 'release_started',
      spec: 'Silent: fiat is paid and the customer is refused for good; the operator lets this payout go on',
    },
    {
      ...waiver,
      from: 'dispute_started',
      to: 'dispute_started',
      spec: 'Silent: lets a dispute be decided for the buyer although the customer is refused for good',
    },
  ];
}

function holdRelease<S extends OrderStatus>(status: S, spec: string): HoldRule<S> {
  return {
    from: status,
    on: 'hold_released',
    by: ['operator'],
    guard: ['hold_present'],
    to: status,
    emits: [],
    sets: { held: false, heldForDeposit: false },
    spec,
  };
}
