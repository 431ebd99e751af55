import type { OrderFacts, QuoteFacts } from '../index.ts';

type Domains<F> = { readonly [K in keyof F]: readonly F[K][] };

const EITHER = [false, true] as const;

/** Every value that can make a difference to a guard. */
export const ORDER_DOMAINS: Domains<OrderFacts> = {
  origin: ['api', 'widget'],
  held: EITHER,
  heldForDeposit: EITHER,
  kycCleared: EITHER,
  kycWaived: EITHER,
  payeeCleared: EITHER,
  payoutWalletsCleared: EITHER,
  refundWalletCleared: EITHER,
  vendorAvailable: EITHER,
  fundingSource: ['own_iban', 'vendor_details'],
  vendorPayment: ['none', 'sending', 'sent', 'refused'],
  paymentRequest: EITHER,
  payerDetailsSubmitted: EITHER,
  anchor: ['fiat', 'crypto'],
  costBoundExceeded: EITHER,
  settlementNotification: EITHER,
  escrow: ['none', 'funded', 'releasing', 'refunding', 'emptied'],
  releaseSigned: EITHER,
  awardedToBuyer: EITHER,
  refundAsked: EITHER,
  transferAuthorization: ['none', 'live', 'spent'],
  sendOut: ['none', 'in_progress', 'failed_unspent', 'failed_spent', 'completed'],
  payeeShown: EITHER,
  proofPending: EITHER,
  proofRejections: [0, 1, 2, 3],
};

export const QUOTE_DOMAINS: Domains<QuoteFacts> = { kycCleared: EITHER, pastExpiry: EITHER };
export const INITIAL_QUOTE_FACTS: QuoteFacts = { kycCleared: true, pastExpiry: false };

/** The product of the given domains, laid over a base. */
export function allFacts<F extends object>(
  base: F,
  domains: { readonly [K in keyof F]?: readonly F[K][] },
): F[] {
  let space: F[] = [base];
  for (const key of Object.keys(domains) as (keyof F)[]) {
    const values = domains[key] ?? [];
    space = space.flatMap((facts) => values.map((value) => ({ ...facts, [key]: value })));
  }
  return space;
}
