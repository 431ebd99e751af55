import type { Session } from './api.ts';

/** The screens of the journey. Which one is shown follows from what is known, so that a reload leads to the same place. */
export type Step =
  | 'loading'
  | 'unavailable'
  | 'orders'
  | 'amount'
  | 'identify'
  | 'verify'
  | 'destination'
  | 'review'
  | 'order';

/** What the customer has chosen so far; kept over a reload, and nothing of it personal but the wallet’s address. */
export interface Draft {
  readonly side: 'onramp' | 'offramp';
  readonly fiatCurrency: string;
  readonly cryptoCurrency: string;
  /** Of the two amounts the one that the customer typed. */
  readonly anchor: 'fiat' | 'crypto';
  readonly amount: string;
  readonly country: string;
  readonly rail: string;
  /** On-ramp: how the customer pays; empty where any institution of the rail will do. */
  readonly institution: string;
  readonly walletAddress: string;
  readonly paymentDetailsId: number | null;
  /** The amount was confirmed: the customer goes on to who it is. */
  readonly isAmountDone: boolean;
  readonly isDestinationDone: boolean;
  /** The order on screen; empty before there is one. */
  readonly orderId: string;
  /** The customer asked for the list of its orders. */
  readonly showsOrders: boolean;
  /** The orders that there were when the customer confirmed one; null once the confirmed one is on screen. */
  readonly ordersBefore: readonly string[] | null;
}

export const EMPTY_DRAFT: Draft = {
  side: 'onramp',
  fiatCurrency: '',
  cryptoCurrency: '',
  anchor: 'fiat',
  amount: '',
  country: '',
  rail: '',
  institution: '',
  walletAddress: '',
  paymentDetailsId: null,
  isAmountDone: false,
  isDestinationDone: false,
  orderId: '',
  showsOrders: false,
  ordersBefore: null,
};

export function stepOf(session: Session | null, draft: Draft): Step {
  if (session === null) return 'loading';
  // An order is its customer’s: on another device, or after the session has ended, the customer says first who it is.
  const wantsOrders = draft.orderId !== '' || draft.showsOrders;
  if (wantsOrders && session.customer === null) return 'identify';
  if (draft.orderId !== '') return 'order';
  if (draft.showsOrders) return 'orders';
  if (!draft.isAmountDone) return 'amount';
  if (session.customer === null) return 'identify';
  if (!session.customer.is_verified) return 'verify';
  return draft.isDestinationDone ? 'review' : 'destination';
}
