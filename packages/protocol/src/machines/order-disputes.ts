import type { Actor, MachineEventType, PartnerAction } from './machine.types.ts';
import type { OrderRule } from './order-facts.ts';

interface BuyersDispute {
  readonly decided: string;
  /** How the partner learns that it is to sign, where it is the buyer. */
  readonly asks: readonly MachineEventType[];
  /** Who may bring the missing signature. */
  readonly signers: readonly Actor[];
  readonly action?: PartnerAction;
}

type DisputeStatus = 'dispute_started' | 'crypto_release_pending';

/**
 * The escrow pays on two signatures of three: the service's and the winner's always suffice. Where no one but the service
 * has signed the release yet, the decision stands and the order waits for that signature; until it is there the
 * operator can still decide the other way.
 */
export function disputesDecidedForBuyer(dispute: BuyersDispute): OrderRule<DisputeStatus>[] {
  const pays = {
    to: 'crypto_release_pending',
    emits: [],
    effects: ['escrow.release'],
  } as const;
  return [
    {
      from: 'dispute_started',
      on: 'dispute_resolved_to_buyer',
      by: ['operator'],
      guard: [
        'not_held',
        'kyc_still_cleared',
        'payout_wallets_still_cleared',
        'escrow_funded',
        'release_signed',
      ],
      ...pays,
      sets: { escrow: 'releasing' },
      spec: dispute.decided,
    },
    {
      from: 'dispute_started',
      on: 'dispute_resolved_to_buyer',
      by: ['operator'],
      guard: [
        'not_held',
        'kyc_still_cleared',
        'payout_wallets_still_cleared',
        'escrow_funded',
        'release_unsigned',
      ],
      to: 'dispute_started',
      emits: dispute.asks,
      sets: { awardedToBuyer: true },
      spec: `${dispute.decided}; the release waits for a signature`,
    },
    {
      from: 'dispute_started',
      on: 'release_authorized',
      by: dispute.signers,
      guard: [
        'not_held',
        'awarded_to_buyer',
        'kyc_still_cleared',
        'payout_wallets_still_cleared',
        'escrow_funded',
      ],
      ...pays,
      ...(dispute.action === undefined ? {} : { action: dispute.action }),
      sets: { escrow: 'releasing', releaseSigned: true, awardedToBuyer: false },
      spec: 'D7: two of three; the winner signs, the loser may give in, an operator may hand a signature in',
    },
  ];
}

/**
 * A release that failed may have failed for its signature: what would be sent is not what was signed then. A new one is
 * taken during the review and moves nothing; releasing the hold tries again.
 */
export function releaseSignedAgain(): OrderRule<'fiat_received_confirmed'>[] {
  return [
    {
      from: 'fiat_received_confirmed',
      on: 'release_authorized',
      by: ['vendor', 'operator'],
      guard: ['held', 'release_unsigned', 'escrow_funded'],
      to: 'fiat_received_confirmed',
      emits: [],
      sets: { releaseSigned: true },
      spec: 'Silent: a failed release is signed again; D7: an operator may hand a signature in',
    },
  ];
}
