import type { Actor } from './machine.types.ts';
import type { OrderDirection } from './order-actions.ts';
import type { OrderTrigger } from './order-vocabulary.ts';

export const SANDBOX_ORDER_EVENTS = [
  'vendor_accepts',
  'escrow_funded',
  'vendor_confirms_fiat',
  'bridge_settles',
  'bridge_fails',
  'buyer_submits_proof',
  'admin_reviews_proof',
  'proof_accepted',
  'proof_rejected',
  'provider_confirms_fiat',
  'dispute_opened',
  'escrow_error',
  'order_expires',
  'hold_for_review',
  'release_hold',
  'reprice',
] as const;
export type SandboxOrderEvent = (typeof SANDBOX_ORDER_EVENTS)[number];

export interface SandboxEventRule {
  readonly trigger: OrderTrigger;
  /** In whose name the sandbox reports it. */
  readonly by: Actor;
  /** Only these directions know the event; the other answers INVALID_STATUS. */
  readonly directions: readonly OrderDirection[];
  /**
   * The trigger is true only once crypto has moved on the local chain: the sandbox makes it move and
   * the watcher reports the trigger. Asking `decide` first tells whether the event applies at all.
   */
  readonly movesCrypto?: true;
  /** `reprice` with a cost inside the 1.20 bound reports this trigger instead. */
  readonly withinBound?: OrderTrigger;
}

const BOTH: readonly OrderDirection[] = ['onramp', 'offramp'];
const ONRAMP: readonly OrderDirection[] = ['onramp'];
const OFFRAMP: readonly OrderDirection[] = ['offramp'];

/** D11: what each sandbox event says has happened. */
export const SANDBOX_EVENT_RULES: { readonly [E in SandboxOrderEvent]: SandboxEventRule } = {
  vendor_accepts: { trigger: 'vendor_accepted', by: 'vendor', directions: BOTH },
  escrow_funded: { trigger: 'escrow_funded', by: 'chain', directions: ONRAMP, movesCrypto: true },
  vendor_confirms_fiat: { trigger: 'fiat_confirmed_by_vendor', by: 'vendor', directions: ONRAMP },
  bridge_settles: { trigger: 'bridge_settled', by: 'provider', directions: ONRAMP, movesCrypto: true },
  bridge_fails: { trigger: 'bridge_failed', by: 'provider', directions: ONRAMP },
  buyer_submits_proof: { trigger: 'proof_submitted', by: 'vendor', directions: OFFRAMP },
  admin_reviews_proof: { trigger: 'proof_review_started', by: 'operator', directions: OFFRAMP },
  proof_accepted: { trigger: 'proof_accepted', by: 'operator', directions: OFFRAMP },
  proof_rejected: { trigger: 'proof_rejected', by: 'operator', directions: OFFRAMP },
  provider_confirms_fiat: {
    trigger: 'fiat_received_confirmed_by_provider',
    by: 'provider',
    directions: OFFRAMP,
  },
  dispute_opened: { trigger: 'dispute_opened', by: 'operator', directions: BOTH },
  escrow_error: { trigger: 'escrow_failed', by: 'system', directions: BOTH },
  order_expires: { trigger: 'order_expired', by: 'clock', directions: BOTH },
  hold_for_review: { trigger: 'hold_placed', by: 'operator', directions: BOTH },
  release_hold: { trigger: 'hold_released', by: 'operator', directions: BOTH },
  reprice: {
    trigger: 'cost_bound_exceeded',
    by: 'system',
    directions: OFFRAMP,
    withinBound: 'cost_bound_met',
  },
};
