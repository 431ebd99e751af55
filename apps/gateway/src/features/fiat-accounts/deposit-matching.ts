import { KYC_CLEARED } from '@causeway/protocol';
import type { IncomingPayment } from '../../ports/banking.ts';

const LONGEST_ID = 200;

/** What a bank reports is looked at before it is believed: one odd report must not keep all later ones waiting. */
export function isSound({
  amount,
  transactionId,
}: Pick<IncomingPayment, 'amount' | 'transactionId'>): boolean {
  return amount > 0n && transactionId.length > 0 && transactionId.length <= LONGEST_ID;
}

/** An order that waits for just this amount of this customer. */
interface WaitingOrder {
  readonly facts: { readonly held: boolean };
  readonly kyc_status: string;
}

export type DepositMatch<Order> =
  /** No order waits for it: the money stays on the account, or goes to the partner. */
  | { readonly kind: 'none' }
  | { readonly kind: 'pays'; readonly order: Order }
  /** A person decides. */
  | { readonly kind: 'ambiguous' };

/**
 * What a payment pays, given the orders that wait for its amount: the one there is, unless it is held, its customer is not
 * cleared any more, or the bank has doubts. What the bank doubts is looked at by a person where it pays nothing, too.
 */
export function matchDeposit<Order extends WaitingOrder>(
  orders: readonly Order[],
  { forReview }: Pick<IncomingPayment, 'forReview'>,
): DepositMatch<Order> {
  const [order, another] = orders;
  if (forReview === true) return { kind: 'ambiguous' };
  if (order === undefined) return { kind: 'none' };
  const isInDoubt = order.facts.held || order.kyc_status !== KYC_CLEARED;
  return another !== undefined || isInDoubt ? { kind: 'ambiguous' } : { kind: 'pays', order };
}
