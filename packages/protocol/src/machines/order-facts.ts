import type { FailureCode, HoldReason } from '../failures/index.ts';
import type { GuardSpec, Machine, New, Transition } from './machine.types.ts';
import type { OrderStatus, OrderTrigger } from './order-vocabulary.ts';

/** Everything besides its status that decides what may happen to an order. Flat, so that it can be enumerated. */
export interface OrderFacts {
  readonly origin: 'api' | 'widget';
  readonly held: boolean;
  /** The hold is about a deposit that could pay several orders: deciding what it pays ends it, and no other hold. */
  readonly heldForDeposit: boolean;
  readonly kycCleared: boolean;
  /** An operator lets this order's payout go on although its customer is not cleared any more. */
  readonly kycWaived: boolean;
  /** Off-ramp: recipient and account holder are screened clear, and the recipient is not archived. */
  readonly payeeCleared: boolean;
  /** Every wallet that a release pays is screened clear. */
  readonly payoutWalletsCleared: boolean;
  /** The wallet that a refund or a return pays is screened clear. */
  readonly refundWalletCleared: boolean;
  readonly vendorAvailable: boolean;
  readonly fundingSource: 'own_iban' | 'vendor_details';
  /** What the bank makes of sending the customer's fiat on to the vendor; while `sending`, it may have done it or not. */
  readonly vendorPayment: 'none' | 'sending' | 'sent' | 'refused';
  readonly paymentRequest: boolean;
  readonly payerDetailsSubmitted: boolean;
  readonly anchor: 'fiat' | 'crypto';
  /** The crypto cost last reported stands above 1.20 times the expected amount. */
  readonly costBoundExceeded: boolean;
  readonly settlementNotification: boolean;
  /** `funded` is final on chain with nothing moved out; `releasing` and `refunding` have an effect under way. */
  readonly escrow: 'none' | 'funded' | 'releasing' | 'refunding' | 'emptied';
  /** An owner of the escrow besides the service has signed the release. */
  readonly releaseSigned: boolean;
  /** A dispute was decided for the buyer, and the release still lacks a signature. */
  readonly awardedToBuyer: boolean;
  /** order.refund.required has been sent: it is sent once an order. */
  readonly refundAsked: boolean;
  /** `live`: a signed funding request can still execute, whichever account submits it. */
  readonly transferAuthorization: 'none' | 'live' | 'spent';
  /** `failed_unspent`: the send-out failed, yet its signed request can still execute. */
  readonly sendOut: 'none' | 'in_progress' | 'failed_unspent' | 'failed_spent' | 'completed';
  /** The buyer of an off-ramp order has been told where to pay: its fiat may be on the way. */
  readonly payeeShown: boolean;
  /** A payment proof waits for review or is under review. */
  readonly proofPending: boolean;
  readonly proofRejections: number;
}

/** An order as it is born, before anything has happened to it. */
export const INITIAL_ORDER_FACTS: OrderFacts = {
  origin: 'api',
  held: false,
  heldForDeposit: false,
  kycCleared: true,
  kycWaived: false,
  payeeCleared: true,
  payoutWalletsCleared: true,
  refundWalletCleared: true,
  vendorAvailable: true,
  fundingSource: 'vendor_details',
  vendorPayment: 'none',
  paymentRequest: false,
  payerDetailsSubmitted: false,
  anchor: 'fiat',
  costBoundExceeded: false,
  settlementNotification: false,
  escrow: 'none',
  releaseSigned: false,
  awardedToBuyer: false,
  refundAsked: false,
  transferAuthorization: 'none',
  sendOut: 'none',
  payeeShown: false,
  proofPending: false,
  proofRejections: 0,
};

/** D6: the third refused proof cancels the order. */
export const MAX_PROOF_REJECTIONS = 3;

type OrderGuardSpec = GuardSpec<OrderFacts, OrderTrigger>;

const HELD_REASON = 'the order is not held for review';

export const ORDER_GUARDS = {
  created_by_api: {
    code: 'ORDER_NOT_FOUND',
    says: 'the order came from the partner’s own initiate call',
    reads: ['origin'],
    holds: (facts) => facts.origin === 'api',
  },
  created_by_widget: {
    code: 'ORDER_NOT_FOUND',
    says: 'the order came from the embedded widget',
    reads: ['origin'],
    holds: (facts) => facts.origin === 'widget',
  },
  kyc_cleared: {
    code: 'KYC_NOT_CLEARED',
    says: 'the customer’s KYC is VERIFIED',
    reads: ['kycCleared'],
    holds: (facts) => facts.kycCleared,
  },
  kyc_still_cleared: {
    code: 'KYC_NOT_CLEARED',
    says: 'the customer’s KYC is still VERIFIED, or an operator has waived it for this order; if not, the order goes to review',
    reads: ['kycCleared', 'kycWaived'],
    // Orders from before there were waivers lack the fact.
    holds: (facts) => facts.kycCleared || facts.kycWaived === true,
    onRefusal: 'hold_placed',
  },
  kyc_lost: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the customer’s KYC is not VERIFIED',
    reads: ['kycCleared'],
    holds: (facts) => !facts.kycCleared,
  },
  payee_cleared: {
    code: 'RECIPIENT_NOT_CLEARED',
    says: 'recipient and account holder are screened clear and the recipient is not archived',
    reads: ['payeeCleared'],
    holds: (facts) => facts.payeeCleared,
  },
  payee_still_cleared: {
    code: 'RECIPIENT_NOT_CLEARED',
    says: 'recipient and account holder are still screened clear and the recipient is not archived; if not, the order goes to review',
    reads: ['payeeCleared'],
    holds: (facts) => facts.payeeCleared,
    onRefusal: 'hold_placed',
  },
  wallets_cleared: {
    code: 'WALLET_NOT_CLEARED',
    says: 'the wallets of both sides are screened clear',
    reads: ['payoutWalletsCleared', 'refundWalletCleared'],
    // Both are read, so that what a guard looks at does not depend on what it sees.
    holds: ({ payoutWalletsCleared, refundWalletCleared }) => payoutWalletsCleared && refundWalletCleared,
  },
  payout_wallets_still_cleared: {
    code: 'WALLET_NOT_CLEARED',
    says: 'the wallets that a release pays are still screened clear; if not, the order goes to review',
    reads: ['payoutWalletsCleared'],
    holds: (facts) => facts.payoutWalletsCleared,
    onRefusal: 'hold_placed',
  },
  refund_wallet_cleared: {
    code: 'WALLET_NOT_CLEARED',
    says: 'the wallet that a refund pays is screened clear',
    reads: ['refundWalletCleared'],
    holds: (facts) => facts.refundWalletCleared,
  },
  refund_wallet_still_cleared: {
    code: 'WALLET_NOT_CLEARED',
    says: 'the wallet that a refund pays is still screened clear; if not, the order goes to review',
    reads: ['refundWalletCleared'],
    holds: (facts) => facts.refundWalletCleared,
    onRefusal: 'hold_placed',
  },
  screening_not_clear: {
    code: 'INVALID_STATUS',
    says: 'the payee or a wallet of the order is not screened clear',
    reads: ['payeeCleared', 'payoutWalletsCleared', 'refundWalletCleared'],
    holds: ({ payeeCleared, payoutWalletsCleared, refundWalletCleared }) =>
      ![payeeCleared, payoutWalletsCleared, refundWalletCleared].every((cleared) => cleared),
  },
  screening_clear: {
    code: 'INVALID_STATUS',
    says: 'the payee and the wallets of the order are screened clear',
    reads: ['payeeCleared', 'payoutWalletsCleared', 'refundWalletCleared'],
    holds: ({ payeeCleared, payoutWalletsCleared, refundWalletCleared }) =>
      [payeeCleared, payoutWalletsCleared, refundWalletCleared].every((cleared) => cleared),
  },
  return_free: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the order is not held for review, the wallet that a refund pays is screened clear, and the vendor neither has the fiat nor is being paid it',
    reads: ['held', 'refundWalletCleared', 'vendorPayment'],
    holds: ({ held, refundWalletCleared, vendorPayment }) =>
      [!held, refundWalletCleared, vendorPayment !== 'sending', vendorPayment !== 'sent'].every((is) => is),
  },
  return_kept: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the order is held for review, or the wallet that a refund pays is not screened clear, or the vendor has the fiat or is being paid it',
    reads: ['held', 'refundWalletCleared', 'vendorPayment'],
    holds: ({ held, refundWalletCleared, vendorPayment }) =>
      [held, !refundWalletCleared, vendorPayment === 'sending', vendorPayment === 'sent'].some((is) => is),
  },
  vendor_available: {
    code: 'INVALID_STATUS',
    says: 'the quoted vendor can still serve the order',
    reads: ['vendorAvailable'],
    holds: (facts) => facts.vendorAvailable,
  },
  vendor_unavailable: {
    code: 'INVALID_STATUS',
    says: 'the quoted vendor can no longer serve the order',
    reads: ['vendorAvailable'],
    holds: (facts) => !facts.vendorAvailable,
  },
  not_held: {
    code: 'OPERATION_NOT_ALLOWED',
    says: HELD_REASON,
    reads: ['held'],
    holds: (facts) => !facts.held,
  },
  held: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the order is held for review',
    reads: ['held'],
    holds: (facts) => facts.held,
  },
  hold_absent: {
    code: 'INVALID_STATUS',
    says: HELD_REASON,
    reads: ['held'],
    holds: (facts) => !facts.held,
  },
  no_other_hold: {
    code: 'INVALID_STATUS',
    says: 'the order is not held for review, unless for a deposit that is to be matched',
    reads: ['held', 'heldForDeposit'],
    holds: (facts) => !facts.held || facts.heldForDeposit === true,
  },
  deposit_hold_present: {
    code: 'INVALID_STATUS',
    says: 'the order is held for a deposit that is to be matched, and for nothing else',
    reads: ['held', 'heldForDeposit'],
    // Orders that were held before the fact was kept lack it: their hold is released by hand.
    holds: (facts) => facts.held && facts.heldForDeposit === true,
  },
  hold_present: {
    code: 'INVALID_STATUS',
    says: 'the order is held for review',
    reads: ['held'],
    holds: (facts) => facts.held,
  },
  pays_vendor: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'fiat_funding_source is vendor_details',
    reads: ['fundingSource'],
    holds: (facts) => facts.fundingSource === 'vendor_details',
  },
  pays_own_iban: {
    code: 'INVALID_STATUS',
    says: 'fiat_funding_source is own_iban',
    reads: ['fundingSource'],
    holds: (facts) => facts.fundingSource === 'own_iban',
  },
  vendor_not_being_paid: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the bank is not about to send the customer’s fiat to the vendor',
    reads: ['vendorPayment'],
    holds: (facts) => facts.vendorPayment !== 'sending',
  },
  vendor_being_paid: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the bank may be about to send the customer’s fiat to the vendor',
    reads: ['vendorPayment'],
    holds: (facts) => facts.vendorPayment === 'sending',
  },
  payment_request: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'the order is a payment_request order',
    reads: ['paymentRequest'],
    holds: (facts) => facts.paymentRequest,
  },
  payer_known: {
    code: 'INVALID_STATUS',
    says: 'payer details are submitted, where the order is a payment_request order',
    reads: ['paymentRequest', 'payerDetailsSubmitted'],
    holds: (facts) => !facts.paymentRequest || facts.payerDetailsSubmitted,
  },
  payer_unknown: {
    code: 'INVALID_STATUS',
    says: 'a payment_request order still lacks its payer details',
    reads: ['paymentRequest', 'payerDetailsSubmitted'],
    holds: (facts) => facts.paymentRequest && !facts.payerDetailsSubmitted,
  },
  partner_confirms: {
    code: 'INVALID_STATUS',
    says: 'no provider confirms fiat receipt automatically',
    reads: ['settlementNotification'],
    holds: (facts) => !facts.settlementNotification,
  },
  provider_confirms: {
    code: 'INVALID_STATUS',
    says: 'a provider confirms fiat receipt automatically',
    reads: ['settlementNotification'],
    holds: (facts) => facts.settlementNotification,
  },
  no_live_transfer: {
    code: 'OPERATION_NOT_ALLOWED',
    says: 'no earlier signed transfer can still execute',
    reads: ['transferAuthorization'],
    holds: (facts) => facts.transferAuthorization !== 'live',
  },
  no_send_out_under_way: {
    code: 'SEND_OUT_IN_PROGRESS',
    says: 'no send-out is in progress and no failed one can still execute',
    reads: ['sendOut'],
    holds: (facts) => facts.sendOut !== 'in_progress' && facts.sendOut !== 'failed_unspent',
  },
  send_out_can_execute: {
    code: 'INVALID_STATUS',
    says: 'the failed send-out’s signed request can still execute',
    reads: ['sendOut'],
    holds: (facts) => facts.sendOut === 'failed_unspent',
  },
  escrow_untouched: {
    code: 'INVALID_STATUS',
    says: 'the escrow has never been funded',
    reads: ['escrow'],
    holds: (facts) => facts.escrow === 'none',
  },
  escrow_funded: {
    code: 'INVALID_STATUS',
    says: 'the escrow is funded and nothing has moved out',
    reads: ['escrow'],
    holds: (facts) => facts.escrow === 'funded',
  },
  escrow_not_funded: {
    code: 'INVALID_STATUS',
    says: 'the escrow holds nothing that is free to move',
    reads: ['escrow'],
    holds: (facts) => facts.escrow !== 'funded',
  },
  escrow_unsettled: {
    code: 'INVALID_STATUS',
    says: 'crypto is in the escrow or on its way out of it',
    reads: ['escrow'],
    holds: (facts) => facts.escrow === 'funded' || facts.escrow === 'refunding',
  },
  escrow_refunding: {
    code: 'INVALID_STATUS',
    says: 'crypto is on its way from the escrow to the seller',
    reads: ['escrow'],
    holds: (facts) => facts.escrow === 'refunding',
  },
  release_signed: {
    code: 'INVALID_STATUS',
    says: 'an owner of the escrow besides the service has signed the release',
    reads: ['releaseSigned'],
    holds: (facts) => facts.releaseSigned,
  },
  release_unsigned: {
    code: 'INVALID_STATUS',
    says: 'no owner of the escrow besides the service has signed the release, and none was asked to',
    reads: ['releaseSigned', 'awardedToBuyer'],
    holds: (facts) => !facts.releaseSigned && !facts.awardedToBuyer,
  },
  awarded_to_buyer: {
    code: 'INVALID_STATUS',
    says: 'a dispute was decided for the buyer, and the release waits for a signature',
    reads: ['awardedToBuyer'],
    holds: (facts) => facts.awardedToBuyer,
  },
  refund_asked: {
    code: 'INVALID_STATUS',
    says: 'the partner has been asked to sign the refund',
    reads: ['refundAsked'],
    // Orders from before the fact was kept lack it.
    holds: (facts) => facts.refundAsked === true,
  },
  refund_unasked: {
    code: 'INVALID_STATUS',
    says: 'the partner has not been asked to sign the refund yet',
    reads: ['refundAsked'],
    holds: (facts) => facts.refundAsked !== true,
  },
  payee_shown: {
    code: 'INVALID_STATUS',
    says: 'the buyer has been told where to pay',
    reads: ['payeeShown'],
    // Orders from before the fact was kept lack it.
    holds: (facts) => facts.payeeShown === true,
  },
  payee_unshown: {
    code: 'INVALID_STATUS',
    says: 'the buyer has not been told where to pay',
    reads: ['payeeShown'],
    holds: (facts) => facts.payeeShown !== true,
  },
  fiat_anchored: {
    code: 'INVALID_STATUS',
    says: 'the order is fiat-anchored',
    reads: ['anchor'],
    holds: (facts) => facts.anchor === 'fiat',
  },
  cost_within_bound: {
    code: 'INVALID_STATUS',
    says: 'the crypto cost is at most 1.20 times the expected amount',
    reads: ['costBoundExceeded'],
    holds: (facts) => !facts.costBoundExceeded,
  },
  cost_beyond_bound: {
    code: 'INVALID_STATUS',
    says: 'the crypto cost exceeds 1.20 times the expected amount',
    reads: ['costBoundExceeded'],
    holds: (facts) => facts.costBoundExceeded,
  },
  auto_refund_due: {
    code: 'INVALID_STATUS',
    says: 'the cost bound stopped the order, its deposit is still in escrow and its wallet is screened clear',
    reads: ['costBoundExceeded', 'escrow', 'refundWalletCleared'],
    holds: ({ costBoundExceeded, escrow, refundWalletCleared }) =>
      costBoundExceeded && escrow === 'funded' && refundWalletCleared,
  },
  no_auto_refund_due: {
    code: 'INVALID_STATUS',
    says: 'no automatic refund is outstanding, or its wallet is not screened clear',
    reads: ['costBoundExceeded', 'escrow', 'refundWalletCleared'],
    holds: ({ costBoundExceeded, escrow, refundWalletCleared }) =>
      !costBoundExceeded || escrow !== 'funded' || !refundWalletCleared,
  },
  proof_pending: {
    code: 'INVALID_STATUS',
    says: 'a payment proof waits for review',
    reads: ['proofPending'],
    holds: (facts) => facts.proofPending,
  },
  proof_wanted: {
    code: 'INVALID_STATUS',
    says: 'the last proof was refused and no new one is here',
    reads: ['proofPending'],
    holds: (facts) => !facts.proofPending,
  },
  proof_attempts_left: {
    code: 'INVALID_STATUS',
    says: `fewer than ${MAX_PROOF_REJECTIONS} proofs are refused, this one included`,
    reads: ['proofRejections'],
    holds: (facts) => facts.proofRejections + 1 < MAX_PROOF_REJECTIONS,
  },
  proof_attempts_used_up: {
    code: 'INVALID_STATUS',
    says: `this is refusal number ${MAX_PROOF_REJECTIONS}`,
    reads: ['proofRejections'],
    holds: (facts) => facts.proofRejections + 1 >= MAX_PROOF_REJECTIONS,
  },
} as const satisfies Record<string, OrderGuardSpec>;

export type OrderGuard = keyof typeof ORDER_GUARDS;
/** A row of either machine, as it is read. */
export type OrderTransition<S extends OrderStatus = OrderStatus> = Transition<
  S,
  OrderTrigger,
  OrderFacts,
  OrderGuard
>;

/** Ended without a trade. */
type Stopped = 'cancelled' | 'failed';

type RuleOf<S extends OrderStatus> = Omit<OrderTransition<S>, 'from' | 'to' | 'failure' | 'hold' | 'sets'>;

/** A row that sets a hold says why. */
type Holding =
  | { readonly sets: Partial<OrderFacts> & { readonly held: true }; readonly hold: HoldReason }
  | { readonly sets?: Partial<OrderFacts> & { readonly held?: false }; readonly hold?: never };

/** A row that stops an order says why; one that leaves it stopped, or lets it go on, has nothing to say. */
type Stopping<S extends OrderStatus> =
  | {
      readonly from: Exclude<S, Stopped> | readonly Exclude<S, Stopped>[];
      readonly to: Extract<S, Stopped>;
      readonly failure: FailureCode;
    }
  | { readonly from: Extract<S, Stopped>; readonly to: Extract<S, Stopped>; readonly failure?: never }
  | { readonly from: S | New | readonly S[]; readonly to: Exclude<S, Stopped>; readonly failure?: never };

/** A row of either machine, as it is written. */
export type OrderRule<S extends OrderStatus> = RuleOf<S> & Holding & Stopping<S>;

/** A row that keeps an order where it is, wherever that is. */
export type HoldRule<S extends OrderStatus> = RuleOf<S> &
  Holding & { readonly from: S; readonly to: S; readonly failure?: never };

/** Either direction's machine: the narrower ones are assignable to it. */
export type OrderMachine<S extends OrderStatus = OrderStatus> = Machine<
  S,
  OrderTrigger,
  OrderFacts,
  OrderGuard
>;
