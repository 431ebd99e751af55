/** One reason for which an order ends without a trade. */
export interface FailureEntry {
  /** For the engineer who reads the order: no vendor, no person, nothing of the inside. */
  readonly message: string;
  /** Whether a new order with the same request may succeed. */
  readonly retryable: boolean;
  /** When it happens, and what to do about it. */
  readonly when: string;
}

/**
 * Why an order was cancelled or failed. Each row of the order machines that stops an order names one of these: nothing
 * else decides, and a row without one does not compile. The SDK types them and the docs print them.
 */
export const ORDER_FAILURES = {
  CANCELLED_ON_REQUEST: {
    message: 'The order was cancelled on request.',
    retryable: true,
    when: 'You called cancel, or the end user did in the widget; cancelled_by says which.',
  },
  NO_VENDOR_ACCEPTED: {
    message: 'No vendor accepted the order in time.',
    retryable: true,
    when: 'Every vendor that was asked declined or was silent; create a new quote, which takes the market as it then is.',
  },
  VENDOR_DID_NOT_FUND: {
    message: 'The vendor did not lock its crypto in escrow in time.',
    retryable: true,
    when: 'On-ramp, before the customer was told where to pay: nothing was paid; create a new quote.',
  },
  FIAT_NOT_SENT: {
    message: 'The fiat payment was not confirmed in time.',
    retryable: true,
    when: 'On-ramp: neither confirm-payment-sent nor a matching deposit came before expires_at; a customer who has paid all the same needs support before anything is repeated.',
  },
  TRANSFER_NOT_AUTHORIZED: {
    message: 'The crypto transfer into escrow was not authorized in time.',
    retryable: true,
    when: 'Off-ramp: authorize-crypto-transfer did not come before expires_at; create a new quote and sign in time.',
  },
  VENDOR_DID_NOT_PAY: {
    message: 'The vendor did not pay the recipient in time.',
    retryable: true,
    when: 'Off-ramp, with the deposit in escrow: no payment was proved; sign the refund, then create a new quote.',
  },
  PAYMENT_PROOF_NOT_RENEWED: {
    message: 'The vendor did not replace a refused payment proof in time.',
    retryable: true,
    when: 'Off-ramp, with the deposit in escrow: a proof was refused and no other came; sign the refund, then create a new quote.',
  },
  PAYMENT_PROOFS_REFUSED: {
    message: 'The vendor’s payment proofs were refused too often.',
    retryable: true,
    when: 'Off-ramp, with the deposit in escrow: the last proof allowed was refused in review; sign the refund, then create a new quote.',
  },
  COST_BOUND_EXCEEDED: {
    message: 'The crypto cost of the payout rose above 1.20 times the expected amount.',
    retryable: true,
    when: 'Fiat-anchored off-ramp: the market moved before the payout, and the deposit is refunded to your wallet; create a new quote.',
  },
  ESCROW_ERROR: {
    message: 'The escrow or a transaction of the order failed on chain.',
    retryable: true,
    when: 'Repeating the transaction could not cure it. Crypto in escrow goes back to its owner; off-ramp, sign the refund while allowed_actions contains authorize-refund.',
  },
  ESCROW_SETTLED_ELSEWHERE: {
    message: 'The owners of the escrow moved its crypto themselves.',
    retryable: false,
    when: 'Two of the three owners executed another transaction than the order’s payout, and nothing is left in the escrow; what they agreed on is between them. Nothing more is paid out for the order.',
  },
  DISPUTE_DECIDED_FOR_VENDOR: {
    message: 'The dispute was decided for the vendor.',
    retryable: false,
    when: 'On-ramp: the operator found that the fiat did not reach the vendor, whose crypto goes back; find out what became of the payment before you repeat it.',
  },
  DISPUTE_DECIDED_FOR_PARTNER: {
    message: 'The dispute was decided for the partner.',
    retryable: true,
    when: 'Off-ramp: the operator found that the recipient was not paid; sign the refund, then create a new quote.',
  },
} as const satisfies Record<string, FailureEntry>;

export type FailureCode = keyof typeof ORDER_FAILURES;
export const FAILURE_CODES = Object.freeze(Object.keys(ORDER_FAILURES)) as readonly FailureCode[];

/** Who ended a cancelled order. `system`: its time was up. */
export const CANCELLERS = ['partner', 'customer', 'vendor', 'operator', 'system'] as const;
export type Canceller = (typeof CANCELLERS)[number];

export interface HoldEntry {
  readonly when: string;
  /** What the order's vendor reads instead, where the reason is none of its business. */
  readonly toVendor?: 'COMPLIANCE_REVIEW';
}

/**
 * Why an order is held. A screening and an operator's own decision have one name, and it says nothing about the parties: a
 * reason that only a screening had would warn those whom it is about.
 */
export const HOLD_REASONS = {
  COMPLIANCE_REVIEW: {
    when: 'A person reviews the order. What led to the review is not told; wait, or ask the operator.',
  },
  KYC_REVIEW: {
    when: 'The customer is no longer VERIFIED, as its KYC status says; complete the verification, then an operator releases the order.',
    toVendor: 'COMPLIANCE_REVIEW',
  },
  DEPOSIT_REVIEW: {
    when: 'A deposit on the customer’s account could pay several orders; an operator decides which.',
  },
  FIAT_TRANSFER_REVIEW: {
    when: 'The customer’s deposit could not be paid on to the vendor; an operator settles it with the bank.',
  },
  SETTLEMENT_REVIEW: {
    when: 'A movement of crypto failed, is overdue, or would contradict a payment that the vendor says it made; an operator looks where the money is.',
  },
  CANCELLATION_REVIEW: {
    when: 'The order was cancelled when its vendor knew already where to pay. An operator asks: a vendor that has paid disputes the order; where it has not, the refund is asked for.',
  },
} as const satisfies Record<string, HoldEntry>;

export type HoldReason = keyof typeof HOLD_REASONS;
export const HOLD_REASON_CODES = Object.freeze(Object.keys(HOLD_REASONS)) as readonly HoldReason[];

/** The reason as the order's vendor reads it. */
export function holdReasonForVendor(reason: HoldReason): HoldReason {
  const entry: HoldEntry = HOLD_REASONS[reason];
  return entry.toVendor ?? reason;
}
